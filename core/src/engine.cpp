// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/engine.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <variant>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/first_digits.hpp"

namespace ozbound {

bool Engine::start(const RealProduct&, const Plan&, KeptOperands) const { return false; }

std::optional<std::vector<Entry>> Engine::multiply_whole(const RealProduct&, const Plan&, KeptOperands, ZivBound) const {
  return std::nullopt;
}

std::vector<VectorNorms> Engine::norms(InputView operand, Side side) const {
  constexpr auto unknown = std::numeric_limits<std::int32_t>::min() / 2;
  std::vector<VectorNorms> norms;
  for (const auto& facts : measure(operand, side, residue_measure).vectors)
    norms.push_back({facts.scale, facts.vector, facts.floor_squares, unknown});
  return norms;
}

std::uint64_t Engine::largest_units(InputView a, InputView b) const { return FirstDigitSums(a, b, *this).largest_units; }

IntegerOperand Engine::prepare(InputView operand, Side side, const OperandForm& form) const {
  const auto* const slicing = std::get_if<Slicing>(&form);
  if (slicing == nullptr) throw std::invalid_argument("plan: this engine multiplies slices alone, not residues");
  return slice(operand, side, *slicing);
}

std::vector<Matrix<std::int64_t>> Engine::recovered_groups(const ResidueMatrix&, const ResidueMatrix&,
                                                           const ResiduePlan& plan) const {
  refuse_residues(plan);
}

std::optional<double> Engine::complex_workspace(const ResiduePlan&, Index, Index, Index) const { return std::nullopt; }

OperandForms operand_forms(const Plan& plan) { return {plan.form(Side::rows_of_a), plan.form(Side::columns_of_b)}; }

std::optional<OperandForms> complex_forms(const Engine& engine, const Plan& plan, Index m, Index n, Index k, double most) {
  return plan.visit([](const SplitPlan&) -> std::optional<OperandForms> { return std::nullopt; },
                    [&](const ResiduePlan& residues) -> std::optional<OperandForms> {
                      const auto bytes = m % 2 == 0 && k % 2 == 0 ? engine.complex_workspace(residues, m, n, k) : std::nullopt;
                      if (!bytes || *bytes > most) return std::nullopt;
                      auto a = residues.a(), b = residues.b();
                      a.complex = b.complex = true;
                      return OperandForms{a, b};
                    });
}

void refuse_residues(const ResiduePlan& plan) {
  throw std::invalid_argument("plan: this engine multiplies slices alone, not " + to_string(Plan(plan)));
}

namespace {

void check_sliced(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan) {
  if (a.side() != Side::rows_of_a) throw std::invalid_argument("a must be sliced by rows");
  if (b.side() != Side::columns_of_b) throw std::invalid_argument("b must be sliced by columns");
  if (a.slicing() != plan.a) throw std::invalid_argument("a is not sliced as the plan says");
  if (b.slicing() != plan.b) throw std::invalid_argument("b is not sliced as the plan says");
}

void check_residues(const ResidueMatrix& a, const ResidueMatrix& b, const ResiduePlan& plan) {
  if (a.side() != Side::rows_of_a) throw std::invalid_argument("a must have residues of rows");
  if (b.side() != Side::columns_of_b) throw std::invalid_argument("b must have residues of columns");
  auto of_a = plan.a(), of_b = plan.b();
  of_a.complex = a.form().complex, of_b.complex = b.form().complex;
  if (!IntegerOperand(a).serves(of_a)) throw std::invalid_argument("a has other residues than the plan says");
  if (!IntegerOperand(b).serves(of_b)) throw std::invalid_argument("b has other residues than the plan says");
  if (a.form().complex != b.form().complex)
    throw std::invalid_argument("a and b must both have residues of complex integers, or none of them");
}

/// The longest k whose sums fit INT64.
Index longest_inner(const SplitPlan& plan, Index k) {
  Index pairs = 1;
  for (const auto& group : plan.groups(k)) pairs = std::max<Index>(pairs, group.pairs());
  return max_group_sum(plan.accumulation) / (pairs * plan.a.encoding.digit_magnitude() * plan.b.encoding.digit_magnitude());
}

}  // namespace

void check_operands(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan) {
  plan.validate();
  plan.visit([&](const SplitPlan& slices) { check_sliced(a.slices(), b.slices(), slices); },
             [&](const ResiduePlan& residues) { check_residues(a.residues(), b.residues(), residues); });
  if (a.inner_dimension() != b.inner_dimension())
    throw std::invalid_argument("a and b have different inner dimensions: " + std::to_string(a.inner_dimension()) + ", " +
                                std::to_string(b.inner_dimension()));
  check_inner_dimension(plan, a.inner_dimension());
}

void check_inner_dimension(const Plan& plan, Index k) {
  const Index longest = plan.visit([k](const SplitPlan& slices) { return longest_inner(slices, k); },
                                   [](const ResiduePlan&) { return longest_residue_inner; });
  if (k > longest) throw std::invalid_argument("the inner dimension is too long for the integer sums: " + std::to_string(k));
}

void check_epilogue(const Epilogue& epilogue, const OutputView& c, Index m, Index n) {
  const auto fits = [m, n](const auto& view) { return view.rows() == m && view.cols() == n; };
  if (!fits(c)) throw std::invalid_argument("c must be " + std::to_string(m) + " x " + std::to_string(n));
  if (!is_zero(epilogue.beta) && !fits(epilogue.c0))
    throw std::invalid_argument("c0 must be " + std::to_string(m) + " x " + std::to_string(n));
  if (!is_finite(bits_of(epilogue.alpha), binary64)) throw std::invalid_argument("alpha must be finite");
  if (!is_finite(bits_of(epilogue.beta), binary64)) throw std::invalid_argument("beta must be finite");
}

}  // namespace ozbound
