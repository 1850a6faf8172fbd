// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/residue_bound.hpp"

#include <utility>
#include <vector>

#include "ozbound/bounds/detail/part_norms.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

/// 2^-bits / 2, or 0 if nothing is rounded.
std::vector<double> rounding_of(std::span<const VectorNorms> vectors, int bits) {
  std::vector<double> errors;
  for (const auto& vector : vectors) errors.push_back(vector.exact_bits() <= bits ? 0 : power_of_two(-bits - 1));
  return errors;
}

}  // namespace

std::vector<double> sums_upper(std::span<const VectorNorms> vectors) {
  std::vector<double> sums;
  for (const auto& vector : vectors) sums.push_back(relative_sum_upper(vector.norms.sum));
  return sums;
}

EntryBound residue_error_upper(std::span<const VectorNorms> rows, std::span<const VectorNorms> columns, const ResiduePlan& plan,
                               Index k) {
  const FloatEnvironment environment;
  auto of_rows = rounding_of(rows, plan.bits_a), of_columns = rounding_of(columns, plan.bits_b);
  auto row_sums = sums_upper(rows);
  const double terms = to_double_upper(static_cast<std::uint64_t>(k));
  for (std::size_t i = 0; i < rows.size(); ++i) row_sums[i] = add_upper(row_sums[i], multiply_upper(terms, of_rows[i]));
  EntryBound bound;
  bound.terms.push_back({"A rounding x B", {{Norms(std::move(of_rows)), Norms(sums_upper(columns))}}});
  bound.terms.push_back({"A rounded x B rounding", {{Norms(std::move(row_sums)), Norms(std::move(of_columns))}}});
  return bound;
}

double residue_a_priori_upper(const ResiduePlan& plan, Index k) {
  const FloatEnvironment environment;
  const double a = power_of_two(-plan.bits_a - 1), b = power_of_two(-plan.bits_b - 1);
  return multiply_upper(to_double_upper(static_cast<std::uint64_t>(k)), add_upper(a, multiply_upper(b, add_upper(1, a))));
}

}  // namespace ozbound
