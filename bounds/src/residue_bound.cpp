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
double rounding_of(std::int32_t exact_bits, int bits) { return exact_bits <= bits ? 0 : power_of_two(-bits - 1); }

std::vector<double> roundings_of(std::span<const RoundedVector> vectors, int bits) {
  std::vector<double> errors;
  errors.reserve(vectors.size());
  for (const auto& vector : vectors) errors.push_back(rounding_of(vector.exact_bits, bits));
  return errors;
}

std::vector<double> sums_upper(std::span<const RoundedVector> vectors) {
  std::vector<double> sums;
  sums.reserve(vectors.size());
  for (const auto& vector : vectors) sums.push_back(relative_sum_upper(vector.sum));
  return sums;
}

std::vector<RoundedVector> sums_of(std::span<const VectorNorms> vectors) {
  std::vector<RoundedVector> sums;
  sums.reserve(vectors.size());
  for (const auto& vector : vectors) sums.push_back({vector.norms.sum, vector.exact_bits()});
  return sums;
}

/// ||a~_i||_1 from ||a_i||_1 and the rounding of each of k elements.
double rounded_sum_upper(double sum, Index k, double rounding) {
  return add_upper(sum, multiply_upper(to_double_upper(static_cast<std::uint64_t>(k)), rounding));
}

}  // namespace

std::vector<double> sums_upper(std::span<const VectorNorms> vectors) { return sums_upper(sums_of(vectors)); }

EntryBound residue_error_upper(std::span<const VectorNorms> rows, std::span<const VectorNorms> columns, const ResiduePlan& plan,
                               Index k) {
  return residue_error_upper(sums_of(rows), sums_of(columns), plan, k);
}

EntryBound residue_error_upper(std::span<const RoundedVector> rows, std::span<const RoundedVector> columns,
                               const ResiduePlan& plan, Index k) {
  const FloatEnvironment environment;
  auto of_rows = roundings_of(rows, plan.bits_a), of_columns = roundings_of(columns, plan.bits_b);
  auto row_sums = sums_upper(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) row_sums[i] = rounded_sum_upper(row_sums[i], k, of_rows[i]);
  EntryBound bound;
  bound.terms.push_back({"A rounding x B", {{Norms(std::move(of_rows)), Norms(sums_upper(columns))}}});
  bound.terms.push_back({"A rounded x B rounding", {{Norms(std::move(row_sums)), Norms(std::move(of_columns))}}});
  return bound;
}

double residue_entry_error_upper(const VectorNorms& row, const VectorNorms& column, const ResiduePlan& plan, Index k) {
  const double of_row = rounding_of(row.exact_bits(), plan.bits_a), of_column = rounding_of(column.exact_bits(), plan.bits_b);
  const double row_sum = rounded_sum_upper(relative_sum_upper(row.norms.sum), k, of_row);
  return add_upper(multiply_upper(of_row, relative_sum_upper(column.norms.sum)), multiply_upper(row_sum, of_column));
}

double residue_a_priori_upper(const ResiduePlan& plan, Index k) {
  const FloatEnvironment environment;
  const double a = power_of_two(-plan.bits_a - 1), b = power_of_two(-plan.bits_b - 1);
  return multiply_upper(to_double_upper(static_cast<std::uint64_t>(k)), add_upper(a, multiply_upper(b, add_upper(1, a))));
}

}  // namespace ozbound
