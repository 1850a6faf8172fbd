// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <exception>
#include <optional>
#include <stdexcept>
#include <vector>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "ozbound/verify/property.hpp"
#include "properties/properties.hpp"
#include "properties/sampling.hpp"

namespace ozbound {
namespace {

using namespace properties;

/// The data of a case, for the end of an explanation.
std::string describe(const GemmCase& gemm_case) {
  return fmt::format("; m {}, n {}, k {}, plan {}, alpha {}, beta {}{}", gemm_case.m(), gemm_case.n(), gemm_case.k(),
                     to_string(gemm_case.plan), hex_text(gemm_case.alpha), hex_text(gemm_case.beta),
                     gemm_case.target ? ", target " + to_string(*gemm_case.target) : "");
}

/// True if norms show that a plan holds the operands of a case.
bool is_held(const GemmCase& gemm_case, const ResiduePlan& plan) {
  const auto a = gemm_case.full_a(), b = gemm_case.full_b();
  return !find_not_held(plan, norms_of(vector_norms(a, Side::rows_of_a, 1)), norms_of(vector_norms(b, Side::columns_of_b, 1)),
                        gemm_case.k());
}

/// The case with a plan of these kinds that holds its operands: its own plan, or a replacement.
GemmCase with_plan_of(GemmCase gemm_case, PlanKinds kinds) {
  const auto own = gemm_case.plan.visit([](const SplitPlan&) { return std::optional<ResiduePlan>(); },
                                        [](const ResiduePlan& plan) { return std::optional(plan); });
  if (kinds == PlanKinds::slices && own) gemm_case.plan = SplitPlan::balanced(7, 7, 8);
  if (kinds == PlanKinds::residues || (kinds == PlanKinds::any && own)) {
    const auto plan = own.value_or(ResiduePlan{13, 46, 47});
    gemm_case.plan = is_held(gemm_case, plan) ? plan : case_sampling::held(plan, gemm_case.k());
  }
  return gemm_case;
}

/// True if an engine multiplies by residues.
bool takes_residues(const Engine& engine) {
  try {
    (void)engine.prepare(Matrix<double>(1, 1), Side::rows_of_a, ResidueForm{});
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace

std::span<const Property> all_properties() {
  static const std::array all = {
      exact_splitting(),  error_free_products(),  rounded_once(),     bounds_hold(),        residue_products(),
      no_wrap(),          reconstruction_exact(), residue_bound(),    targets_met(),        certificates(),
      correct_rounding(), exact_zero(),           any_engine(),       any_workspace(),      any_storage(),
      any_environment(),  inner_permutation(),    transposition(),    row_column_scaling(), inner_scaling(),
      blocks_of_c(),      properties::sign(),     inner_zeros(),      special_values(),     special_neighbours(),
      unread_operands(),  complex_products(),     complex_rounding(), complex_targets(),    complex_certificates()};
  return all;
}

const Property& find_property(std::string_view name) {
  std::string names;
  for (const auto& property : all_properties()) {
    if (property.name == name) return property;
    names += (names.empty() ? "" : ", ") + property.name;
  }
  throw std::invalid_argument(fmt::format("property '{}' is none of {}", name, names));
}

std::optional<std::string> judge(const Property& property, const GemmCase& gemm_case, const Engine& engine) {
  const FloatEnvironment environment;
  gemm_case.validate();
  auto kinds = property.domain.plans;
  if (kinds != PlanKinds::slices && !takes_residues(engine)) {
    if (kinds == PlanKinds::residues) return {};  // the engine makes no such product
    kinds = PlanKinds::slices;
  }
  const auto fitting = with_plan_of(gemm_case, kinds);
  std::optional<std::string> wrong;
  try {
    wrong = property.falsify(fitting, engine);
  } catch (const std::exception& error) {
    wrong = std::string("threw: ") + error.what();
  }
  if (wrong) *wrong += describe(fitting);
  return wrong;
}

}  // namespace ozbound
