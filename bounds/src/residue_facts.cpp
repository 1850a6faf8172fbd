// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/detail/residue_facts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ozbound/bounds/residue_bound.hpp"

namespace ozbound {
namespace {

std::vector<std::int32_t> exponents_of(std::span<const VectorNorms> vectors) {
  std::vector<std::int32_t> exponents;
  exponents.reserve(vectors.size());
  for (const auto& vector : vectors) exponents.push_back(vector.scale.exponent);
  return exponents;
}

/// Number of bits that hold every vector exactly.
std::int32_t exact_bits_of(std::span<const VectorNorms> vectors) {
  std::int32_t bits = 0;
  for (const auto& vector : vectors) bits = std::max(bits, vector.exact_bits());
  return bits;
}

}  // namespace

PlanBound residue_plan_bound(std::span<const VectorNorms> rows, std::span<const VectorNorms> columns, const ResiduePlan& plan,
                             Index k) {
  return {residue_error_upper(rows, columns, plan, k), exponents_of(rows), exponents_of(columns)};
}

ResidueFacts residue_facts(std::span<const VectorNorms> rows, std::span<const VectorNorms> columns,
                           std::uint64_t largest_units) {
  const auto bound = [&](std::vector<double> of_rows, std::vector<double> of_columns) {
    EntryBound product;
    product.terms.push_back({"one operand's sums", {{Norms(std::move(of_rows)), Norms(std::move(of_columns))}}});
    return PlanBound{std::move(product), exponents_of(rows), exponents_of(columns)};
  };
  return {bound(sums_upper(rows), std::vector<double>(columns.size(), 1)),
          bound(std::vector<double>(rows.size(), 1), sums_upper(columns)), exact_bits_of(rows), exact_bits_of(columns),
          largest_units};
}

}  // namespace ozbound
