// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/named_bound.hpp"

#include <stdexcept>

#include "covered.hpp"
#include "native_bound.hpp"
#include "ozbound/bounds/jeannerod_rump_bound.hpp"
#include "ozbound/bounds/published/abdelfattah_bound.hpp"
#include "ozbound/bounds/published/higham_mary_bound.hpp"
#include "ozbound/bounds/published/uchino_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

using In = const BoundInputs&;

bool every_plan(const SplitPlan&) { return true; }

/// One number for every entry, relative to rho_i sigma_j, plus a multiple of |A||B|, for sums of two bounds.
BoundValue uniform(In in, double bound, double multiple = 0) {
  const OuterProduct same{std::vector<double>(in.rows.size(), bound), std::vector<double>(in.columns.size(), 1.0)};
  return {{{{"scales", {same}}}}, multiple};
}

BoundValue multiple(double factor) { return {{}, factor}; }

/// A multiple of |A||B|, plus N eta for the loss of terms of adaptive scales below the normal range, which the sources leave
/// out (G5a).
BoundValue with_underflow(In in, double factor) {
  if (in.plan.common_ratio()) return multiple(factor);
  const FloatEnvironment environment;  // the bound is subnormal
  return uniform(in, static_cast<double>(in.plan.products()) * 0x1p-1074, factor);
}

/// Uchino's (18), or its form for ozIMMU's digits as released.
double uchino_any_truncation(In in) {
  return uchino_released_truncation_covers(in.plan) ? uchino_released_truncation_upper(in.plan, in.k())
                                                    : uchino_truncation_upper(in.plan, in.k());
}

double uchino_printed_groups(In in) { return uchino_groups_upper(in.plan, uchino_group_size(in.plan.a.encoding.beta, in.k())); }

double uchino_exact_groups(In in) { return uchino_groups_upper(in.plan, in.plan.error_free_pairs(in.k())); }

BoundValue higham_mary(In in) {
  constexpr double probability = 0.99;
  const Index m = in.a.rows(), n = in.b.cols();
  auto value = multiple(estimate_higham_mary(in.k(), higham_mary_lambda(m, n, in.k(), probability)));
  value.probability = probability;
  return value;
}

constexpr const char* general = "docs/derivations/general_bound.md";
constexpr const char* uchino = "Uchino, Ozaki, Imamura, ";
constexpr const char* abdelfattah = "Abdelfattah, Dongarra, Fasi, Mikaitis, Tisseur, last display";
constexpr const char* any = "any plan";
constexpr const char* triangle = "s x s slices of one encoding, cut s + 1: ";
constexpr const char* digits = "truncated, released or nearest digits, ";
constexpr const char* all_pairs = "every pair of slices, truncated or nearest digits";

std::vector<NamedBound> ours() {
  return {
      {"a-priori", std::string(general) + " (G2)", any, Bounded::truncation, true, every_plan,
       [](In in) { return uniform(in, truncation_a_priori_upper(in.plan, in.k())); }},
      {"a-posteriori", std::string(general) + " (G3)", any, Bounded::truncation, true, every_plan,
       [](In in) { return BoundValue{truncation_a_posteriori_upper(in.rows, in.columns, in.plan)}; }},
      {"accumulation", std::string(general) + " (G5)", any, Bounded::accumulation, true, every_plan,
       [](In in) { return BoundValue{accumulation_upper(in.rows, in.columns, in.plan, in.k())}; }},
      {"plan-error", general, any, Bounded::total, true, every_plan,
       [](In in) { return BoundValue{plan_error_upper(in.rows, in.columns, in.plan, in.k())}; }},
  };
}

std::vector<NamedBound> uchinos() {
  return {
      {"uchino-truncation", std::string(uchino) + "(18)", std::string(triangle) + "truncated or nearest digits",
       Bounded::truncation, true, uchino_truncation_covers,
       [](In in) { return uniform(in, uchino_truncation_upper(in.plan, in.k())); }},
      {"uchino-released-truncation", std::string(uchino) + "(18), corrected for released digits",
       std::string(triangle) + "released digits", Bounded::truncation, true, uchino_released_truncation_covers,
       [](In in) { return uniform(in, uchino_released_truncation_upper(in.plan, in.k())); }},
      {"uchino-accumulation", std::string(uchino) + "(22)", std::string(triangle) + digits + "per_product",
       Bounded::accumulation, true, uchino_accumulation_covers,
       [](In in) { return with_underflow(in, uchino_accumulation_upper(in.plan)); }},
      {"uchino-refined-accumulation", std::string(uchino) + "(30), corrected",
       std::string(triangle) + digits + "per_product or per_diagonal, one scale a vector", Bounded::accumulation, true,
       uchino_refined_accumulation_covers, [](In in) { return multiple(uchino_refined_accumulation_upper(in.plan, in.k())); }},
      {"uchino-groups", std::string(uchino) + "section 5.2, r of (12)",
       std::string(triangle) + digits + "per_diagonal, one scale a vector", Bounded::accumulation, true, uchino_groups_covers,
       [](In in) { return multiple(uchino_printed_groups(in)); }},
      {"uchino-groups-exact", std::string(uchino) + "section 5.2, r of the INT32 limit",
       std::string(triangle) + digits + "per_diagonal, one scale a vector", Bounded::accumulation, true, uchino_groups_covers,
       [](In in) { return multiple(uchino_exact_groups(in)); }},
      {"uchino-total", std::string(uchino) + "(18) and (30), corrected",
       std::string(triangle) + digits + "per_product or per_diagonal, one scale a vector", Bounded::total, true,
       uchino_refined_accumulation_covers,
       [](In in) { return uniform(in, uchino_any_truncation(in), uchino_refined_accumulation_upper(in.plan, in.k())); }},
      {"uchino-groups-total", std::string(uchino) + "section 5.2, last display",
       std::string(triangle) + digits + "per_diagonal, one scale a vector", Bounded::total, true, uchino_groups_covers,
       [](In in) { return uniform(in, uchino_any_truncation(in), uchino_printed_groups(in)); }},
  };
}

WideRangeDouble kappa_a(In in) { return kappa_upper(in.a, Side::rows_of_a); }
WideRangeDouble kappa_b(In in) { return kappa_upper(in.b, Side::columns_of_b); }

std::vector<NamedBound> others() {
  return {
      {"abdelfattah-truncation", std::string(abdelfattah) + ", without gamma", all_pairs, Bounded::truncation, true,
       abdelfattah_covers, [](In in) { return multiple(abdelfattah_truncation_upper(in.plan, kappa_a(in), kappa_b(in))); }},
      {"abdelfattah", std::string(abdelfattah) + ", its parenthesis restored", all_pairs, Bounded::total, true,
       abdelfattah_covers, [](In in) { return with_underflow(in, abdelfattah_upper(in.plan, kappa_a(in), kappa_b(in))); }},
      {"jeannerod-rump", "Jeannerod, Rump 2013", "native DGEMM in any order, no underflow or overflow; whatever the plan",
       Bounded::native, true, every_plan, [](In in) { return multiple(jeannerod_rump_upper(in.k())); }},
      {"higham-mary", "Higham, Mary 2019, theorem 3.1", "native DGEMM with random rounding errors, probability 0.99",
       Bounded::native, false, every_plan, higham_mary},
  };
}

std::vector<NamedBound> joined() {
  auto all = ours();
  for (const auto& more : {uchinos(), others()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<VectorFacts> measured(InputView operand, Side side, const Slicing& slicing, const Engine& engine) {
  return engine.measure(operand, side, slicing).vectors;
}

const SplitPlan& checked(const SplitPlan& plan, InputView a, InputView b) {
  plan.validate();
  check_factors(a, b);
  return plan;
}

/// @throws std::invalid_argument if a product may underflow, a sum may overflow, or an operand is not binary64.
void check_native(const std::string& name, const BoundInputs& inputs) {
  const RealProduct product{inputs.a, inputs.b, unwritten(inputs.a.rows(), inputs.b.cols(), binary64)};
  const auto guarantee = native_guarantee(product, HostMatrices());
  if (!guarantee.obstacle.empty()) throw std::invalid_argument(name + ": " + guarantee.obstacle);
  if (guarantee.underflow > 0) throw std::invalid_argument(name + ": a product of native DGEMM may underflow");
}

}  // namespace

std::string to_string(Bounded bounded) {
  switch (bounded) {
    case Bounded::truncation: return "truncation |AB - S|";
    case Bounded::accumulation: return "accumulation |S^ - S|";
    case Bounded::total: return "total |S^ - AB|";
    case Bounded::native: return "native |fl(AB) - AB|";
  }
  return "none";
}

BoundInputs::BoundInputs(InputView operand_a, InputView operand_b, const SplitPlan& split, const Engine& engine)
    : a(operand_a),
      b(operand_b),
      plan(checked(split, operand_a, operand_b)),
      rows(measured(a, Side::rows_of_a, plan.a, engine)),
      columns(measured(b, Side::columns_of_b, plan.b, engine)) {}

BoundValue NamedBound::value(const BoundInputs& inputs) const {
  const FloatEnvironment environment;
  if (!covers(inputs.plan))
    throw std::invalid_argument(name + " does not cover " + to_string(inputs.plan) + ": it needs " + conditions);
  if (bounded == Bounded::native) check_native(name, inputs);
  return evaluate(inputs);
}

BoundValue NamedBound::upper(const BoundInputs& inputs) const {
  if (!rigorous) throw std::invalid_argument(name + " is an estimate, and proves nothing");
  return value(inputs);
}

std::span<const NamedBound> all_bounds() {
  static const auto all = joined();
  return all;
}

const NamedBound& find_bound(std::string_view name) {
  std::string names;
  for (const auto& bound : all_bounds()) {
    if (bound.name == name) return bound;
    names += (names.empty() ? "" : ", ") + bound.name;
  }
  throw std::invalid_argument("bound '" + std::string(name) + "' is none of " + names);
}

}  // namespace ozbound
