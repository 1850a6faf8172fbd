// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <exception>
#include <stdexcept>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "ozbound/verify/property.hpp"
#include "properties/properties.hpp"

namespace ozbound {
namespace {

using namespace properties;

/// The data of a case, for the end of an explanation.
std::string describe(const GemmCase& gemm_case) {
  return fmt::format("; m {}, n {}, k {}, plan {}, alpha {}, beta {}{}", gemm_case.m(), gemm_case.n(), gemm_case.k(),
                     to_string(gemm_case.plan), hex_text(gemm_case.alpha), hex_text(gemm_case.beta),
                     gemm_case.target ? ", target " + to_string(*gemm_case.target) : "");
}

}  // namespace

std::span<const Property> all_properties() {
  static const std::array all = {exact_splitting(),    error_free_products(), rounded_once(),       bounds_hold(),
                                 targets_met(),        certificates(),        correct_rounding(),   exact_zero(),
                                 any_engine(),         any_workspace(),       any_storage(),        any_environment(),
                                 inner_permutation(),  transposition(),       row_column_scaling(), inner_scaling(),
                                 blocks_of_c(),        properties::sign(),    inner_zeros(),        special_values(),
                                 special_neighbours(), unread_operands(),     complex_products(),   complex_rounding(),
                                 complex_targets(),    complex_certificates()};
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
  std::optional<std::string> wrong;
  try {
    wrong = property.falsify(gemm_case, engine);
  } catch (const std::exception& error) {
    wrong = std::string("threw: ") + error.what();
  }
  if (wrong) *wrong += describe(gemm_case);
  return wrong;
}

}  // namespace ozbound
