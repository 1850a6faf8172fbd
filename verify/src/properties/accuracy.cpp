// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"
#include "ozbound/verify/verdict.hpp"
#include "properties/case_product.hpp"
#include "properties/entry_errors.hpp"
#include "properties/exact_number.hpp"
#include "properties/judge.hpp"
#include "properties/properties.hpp"
#include "properties/reference.hpp"
#include "properties/sampling.hpp"
#include "properties/sliced_pair.hpp"

// Bounds, targets and correct rounding, judged in exact arithmetic: docs/derivations/general_bound.md and targets.md.

namespace ozbound::properties {
namespace {

// Bounds.

/// The bounds for a plan: all registered bounds that are proven and cover it.
struct PlanBounds {
  std::vector<std::pair<const NamedBound*, BoundValue>> named;
  double a_priori;
  EntryBound a_posteriori, total;

  explicit PlanBounds(const BoundInputs& inputs)
      : a_priori(truncation_a_priori_upper(inputs.plan, inputs.k())),
        a_posteriori(truncation_a_posteriori_upper(inputs.rows, inputs.columns, inputs.plan)),
        total(plan_error_upper(inputs.rows, inputs.columns, inputs.plan, inputs.k())) {
    for (const auto& bound : all_bounds())
      if (bound.rigorous && bound.bounded != Bounded::native && bound.covers(inputs.plan))
        named.emplace_back(&bound, bound.upper(inputs));
  }
};

bool exceeds(const Exact& error, double bound) { return std::isfinite(bound) && Exact(bound) < error; }

/// (A B)_ij, from one copy of the repeated operands.
Exact exact_product(const GemmCase& gemm_case, Index i, Index j) {
  const auto once = exact_arithmetic::exact_product(gemm_case.a.values, gemm_case.b.values, i, j);
  return once * Exact{gemm_case.inner_repeat, 0};
}

/// |A||B|.
Exact product_of_magnitudes(const GemmCase& gemm_case, Index i, Index j) {
  Exact sum;
  for (Index l = 0; l < gemm_case.a.values.cols(); ++l)
    sum = sum + (Exact(gemm_case.a.values(i, l)) * Exact(gemm_case.b.values(l, j))).magnitude();
  return sum * Exact{gemm_case.inner_repeat, 0};
}

/// True if the slices of a vector hold all of it.
bool held(const VectorFacts& facts) { return facts.tails.back().zero(); }

Finding judge_entry(const GemmCase& gemm_case, const SlicedPair& pair, const PlanBounds& bounds, bool is_held, Index i,
                    Index j) {
  const EntryErrors errors(exact_product(gemm_case, i, j), product_of_magnitudes(gemm_case, i, j), pair, i, j);
  for (const auto& [bound, value] : bounds.named)
    if (errors.exceed(*bound, value, i, j)) return "the bound " + bound->name;
  const double a_posteriori = bounds.a_posteriori.upper(i, j);
  const bool exact = gemm_case.plan.split().accumulation == Accumulation::exact;
  if (is_held && a_posteriori != 0) return "the a-posteriori bound where nothing is cut off, which is not 0,";
  if (exact && bounds.total.upper(i, j) != std::min(bounds.a_priori, a_posteriori))
    return "the bound that should be the lesser of two";
  return {};
}

/// Checks L <= |A||B| <= U, entry by entry, and U = 0 only where |A||B| = 0.
Finding judge_enclosure(const GemmCase& gemm_case, const Engine& engine) {
  const CaseMemory memory(gemm_case);
  const auto enclosure = enclose_product(memory.a.input(), memory.b.input(), engine);
  for (Index i = 0; i < gemm_case.m(); ++i)
    for (Index j = 0; j < gemm_case.n(); ++j) {
      const int scale =
          enclosure.row_exponents[static_cast<std::size_t>(i)] + enclosure.column_exponents[static_cast<std::size_t>(j)];
      const auto product = product_of_magnitudes(gemm_case, i, j).times_power_of_two(-scale);
      const double lower = enclosure.lower(i, j), upper = enclosure.upper(i, j);
      if (Exact(lower) > product || exceeds(product, upper) || (upper == 0) != product.is_zero())
        return fmt::format("|A||B| at ({}, {}) is outside of [{}, {}] 2^{}", i, j, hex_text(lower), hex_text(upper), scale);
    }
  return {};
}

Finding judge_plan_bounds(const GemmCase& gemm_case, const Engine& engine) {
  const CaseMemory memory(gemm_case);
  const auto& plan = gemm_case.plan.split();
  const SlicedPair pair(memory, plan, engine);
  const BoundInputs inputs(memory.a.input(), memory.b.input(), plan, engine);
  const PlanBounds bounds(inputs);
  const FloatEnvironment environment;
  const bool full = plan.cut == plan.a.slices + plan.b.slices;
  for (Index i = 0; i < gemm_case.m(); ++i)
    for (Index j = 0; j < gemm_case.n(); ++j) {
      const auto& row = inputs.rows.at(static_cast<std::size_t>(i));
      const auto& column = inputs.columns.at(static_cast<std::size_t>(j));
      const double alone = entry_error_upper(row, column, plan, gemm_case.k());
      if (bits_of(alone) != bits_of(bounds.total.upper(i, j)))
        return fmt::format("the bound of entry ({}, {}) alone is {}, not {}", i, j, hex_text(alone),
                           hex_text(bounds.total.upper(i, j)));
      if (const auto wrong = judge_entry(gemm_case, pair, bounds, full && held(row) && held(column), i, j))
        return fmt::format("{} fails at entry ({}, {})", *wrong, i, j);
    }
  return {};
}

/// Checks a certificate's bound, and its target if the certificate says that it holds.
Finding judge_certificate(const GemmCase& gemm_case, const CertifiedCase& result) {
  const Judge<ExactOracle> judge(gemm_case);
  const auto& certificate = result.certificate;
  const auto bound = certificate.bound.over(result.c.input());
  const auto within = with_view(result.c, [&](const ResultView& c) { return verify(c, judge.oracle(), bound); });
  if (!within.holds()) return "the certificate's bound does not hold: " + explain(within);
  if (certificate.holds != (certificate.ratio <= 1))
    return fmt::format("the certificate {} hold, and its ratio is {}", certificate.holds ? "does" : "does not",
                       hex_text(certificate.ratio));
  if (!certificate.holds) return {};
  const auto met = with_view(result.c, [&](const ResultView& c) { return verify(c, judge.oracle(), certificate.target); });
  if (!met.holds()) return "the target that the certificate proves is missed: " + explain(met);
  return {};
}

Finding judge_bounds(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  if (const auto wrong = judge_plan_bounds(gemm_case, engine)) return wrong;
  if (const auto wrong = judge_enclosure(gemm_case, engine)) return wrong;
  Decision decision;
  decision.target = Target::dgemm();
  decision.plan = gemm_case.plan;
  return judge_certificate(gemm_case, multiplied(gemm_case, std::move(decision), engine));
}

// Targets.

Decision decision_for(const GemmCase& gemm_case, const Engine& engine) {
  CaseMemory memory(gemm_case);
  const auto call = memory.product();
  return decide_by(encoding_of(gemm_case), call, target_of(gemm_case), engine);
}

double unit_roundoff_of(const GemmCase& gemm_case) { return gemm_case.c.single ? 0x1p-24 : 0x1p-53; }

/// True if even a correctly rounded result misses the target.
bool cannot_be_met(const GemmCase& gemm_case) {
  const auto target = target_of(gemm_case);
  return target.has_tau() && target.tau < unit_roundoff_of(gemm_case);
}

/// The case with the largest tau below u.
GemmCase below_unit_roundoff(GemmCase gemm_case) {
  if (!target_of(gemm_case).has_tau()) gemm_case.target = Target::componentwise(1);
  gemm_case.target->tau = std::nextafter(unit_roundoff_of(gemm_case), 0);
  return gemm_case;
}

Finding judge_decision(const GemmCase& gemm_case, const Engine& engine) {
  try {
    const auto result = multiplied(gemm_case, decision_for(gemm_case, engine), engine);
    if (cannot_be_met(gemm_case)) return "a target below u was taken";
    if (!result.certificate.holds)
      return fmt::format("the certificate does not hold: its ratio is {} at entry ({}, {})", hex_text(result.certificate.ratio),
                         result.certificate.worst_i, result.certificate.worst_j);
    return judge_certificate(gemm_case, result);
  } catch (const CannotCertify& error) {
    if (cannot_be_met(gemm_case)) return {};
    return std::string("a target that can be met was refused: ") + error.what();
  }
}

Finding judge_target(const GemmCase& gemm_case, const Engine& engine) {
  if (auto wrong = judge_decision(gemm_case, engine)) return wrong;
  return judge_decision(below_unit_roundoff(gemm_case), engine);
}

// Correct rounding.

template <class SomeOracle>
Finding judge_rounding(const StoredMatrix& c, const SomeOracle& oracle, const char* name) {
  const bool single = c.storage().single;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto expected = single ? bits_of(oracle.rounded_float(i, j)) : bits_of(oracle.rounded(i, j));
      if (c.bits(i, j) != expected) return wrong_entry(c, i, j, expected, std::string(name) + " rounds to");
    }
  return {};
}

Finding judge_correct_rounding(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  const auto c = multiplied_by_cr(gemm_case, engine).c;
  const Judge<ExactOracle> exact(gemm_case);
  if (const auto wrong = judge_rounding(c, exact.oracle(), "the exact oracle")) return wrong;
  const Judge<MpfrOracle> mpfr(gemm_case, MpfrOracle::exact_bits(gemm_case.k()));
  return judge_rounding(c, mpfr.oracle(), "MPFR");
}

// Zero.

/// The case with [A, -A] and [B; B]: every entry is 0, because terms cancel in pairs.
GemmCase cancelled(const GemmCase& gemm_case) {
  auto result = gemm_case;
  const Index half = gemm_case.a.values.cols();
  result.a.values = Matrix<double>(gemm_case.m(), 2 * half);
  result.b.values = Matrix<double>(2 * half, gemm_case.n());
  for (Index l = 0; l < half; ++l) {
    for (Index i = 0; i < gemm_case.m(); ++i) {
      result.a.values(i, l) = gemm_case.a.values(i, l);
      result.a.values(i, half + l) = -gemm_case.a.values(i, l);
    }
    for (Index j = 0; j < gemm_case.n(); ++j) result.b.values(l, j) = result.b.values(half + l, j) = gemm_case.b.values(l, j);
  }
  return result;
}

Finding not_positive_zero(const StoredMatrix& c, const std::string& how) {
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      if (c.bits(i, j) != 0) return wrong_entry(c, i, j, 0, how + "; exactly it is");
  return {};
}

Finding judge_zero(const GemmCase& any, const Engine& engine) {
  auto zero = cancelled(without_c0(finite(any)));
  if (const auto wrong = not_positive_zero(multiplied_by_cr(zero, engine).c, "correctly rounded")) return wrong;
  // All pairs of slices: x and -x have opposite sums of digits, though perhaps not opposite digits.
  auto plan = case_sampling::exactly(zero.plan.split());
  plan.cut = plan.a.slices + plan.b.slices;
  if (plan.a.encoding.kind == Encoding::Kind::unsigned8) plan.a.encoding = Encoding::balanced();  // rounds digits down
  zero.plan = plan;
  return not_positive_zero(multiplied(zero, engine), "under the full cut");
}

}  // namespace

Property bounds_hold() {
  return {
      "bounds-hold",
      "L <= |A||B| <= U of the enclosure; |AB - S|, |S^ - S| and |AB - S^| <= every bound of theirs that covers the plan, and "
      "the a-posteriori one is 0 where nothing is cut off; |C^ - C| <= the certificate's bound, and the target is met where it "
      "says so",
      "docs/bounds.md; docs/derivations/enclosure.md; docs/derivations/general_bound.md (G1)-(G6)",
      {},
      judge_bounds};
}

Property targets_met() {
  return {"targets-met",
          "for every tau >= u, decide gives a plan whose product is certified, and its error over what the target allows is at "
          "most 1; "
          "tau < u is refused",
          "docs/derivations/targets.md (T1)-(T6)",
          {.largest = 5, .specials = true, .targets = true},
          judge_target};
}

Property correct_rounding() {
  return {"correct-rounding",
          "for cr, C = fl(alpha A B + beta C0), the exact value rounded once, to nearest, ties to even",
          "docs/derivations/targets.md (T5)",
          {.largest = 4, .plans = PlanKinds::any},
          judge_correct_rounding};
}

Property exact_zero() {
  return {"exact-zero",
          "[A, -A] [B; B] = +0 in every bit, correctly rounded and with every pair of slices",
          "design: an exact zero is +0; docs/derivations/slicing.md (S2), (S3): rounding is odd",
          {},
          judge_zero};
}

}  // namespace ozbound::properties
