// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/residue_bound.hpp"

#include <utility>
#include <vector>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

/// Whether integers of so many bits hold a vector, as they do one with NaN or infinities, which counts as zero.
bool exact(const VectorFacts& facts, std::int32_t last_bit, int bits) {
  return facts.vector.zero() || last_bit >= facts.scale.exponent - bits;
}

/// ||x||_1 over rho.
double sum_upper(const VectorFacts& facts) {
  return to_double_upper(facts.vector.sum) * power_of_two(-VectorFacts::fraction_bits);
}

/// 2^-bits / 2, or 0 where nothing is rounded.
std::vector<double> rounding_of(std::span<const VectorFacts> vectors, std::span<const std::int32_t> last_bits, int bits) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < vectors.size(); ++i)
    errors.push_back(exact(vectors[i], last_bits[i], bits) ? 0 : power_of_two(-bits - 1));
  return errors;
}

}  // namespace

EntryBound residue_error_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns,
                               std::span<const std::int32_t> row_last_bits, std::span<const std::int32_t> column_last_bits,
                               const ResiduePlan& plan, Index k) {
  const FloatEnvironment environment;
  auto of_rows = rounding_of(rows, row_last_bits, plan.bits_a),
       of_columns = rounding_of(columns, column_last_bits, plan.bits_b);
  std::vector<double> row_sums, column_sums;
  const double terms = to_double_upper(static_cast<std::uint64_t>(k));
  for (std::size_t i = 0; i < rows.size(); ++i)
    row_sums.push_back(add_upper(sum_upper(rows[i]), multiply_upper(terms, of_rows[i])));
  for (const auto& column : columns) column_sums.push_back(sum_upper(column));
  EntryBound bound;
  bound.terms.push_back({"A rounding x B", {{Norms(std::move(of_rows)), Norms(std::move(column_sums))}}});
  bound.terms.push_back({"A rounded x B rounding", {{Norms(std::move(row_sums)), Norms(std::move(of_columns))}}});
  return bound;
}

double residue_a_priori_upper(const ResiduePlan& plan, Index k) {
  const FloatEnvironment environment;
  const double a = power_of_two(-plan.bits_a - 1), b = power_of_two(-plan.bits_b - 1);
  return multiply_upper(to_double_upper(static_cast<std::uint64_t>(k)), add_upper(a, multiply_upper(b, add_upper(1, a))));
}

}  // namespace ozbound
