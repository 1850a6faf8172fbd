// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "ozbound/core/vector_norms.hpp"

namespace ozbound {

/// A bound of residues uses these facts of a vector.
struct RoundedVector {
  std::uint64_t sum;        ///< that of VectorNorms::norms
  std::int32_t exact_bits;  ///< VectorNorms::exact_bits()
};

/// The error of rounding A and B to A~ and B~, with a plan's bits: |AB - A~B~| <=
/// 1/2 (2^-bits_a [a_i not exact] ||b_j||_1 + 2^-bits_b [b_j not exact] ||a~_i||_1), relative to rho_i sigma_j. A vector is
/// exact if its last bit is no less than the unit of its integers, or if it counts as zero because of NaN or infinities
/// (docs/derivations/residues.md, R10). The evaluation uses the operations of R14, which the certificate checker repeats.
/// @param rows norms of A's m rows @param columns norms of B's n columns @param k the inner dimension
EntryBound residue_error_upper(std::span<const VectorNorms> rows, std::span<const VectorNorms> columns, const ResiduePlan& plan,
                               Index k);
EntryBound residue_error_upper(std::span<const RoundedVector> rows, std::span<const RoundedVector> columns,
                               const ResiduePlan& plan, Index k);

/// residue_error_upper of one entry, with these norms of its row and column.
double residue_entry_error_upper(const VectorNorms& row, const VectorNorms& column, const ResiduePlan& plan, Index k);

/// ||x||_1 of each vector over its scale, rounded up.
std::vector<double> sums_upper(std::span<const VectorNorms> vectors);

/// A bound for every entry from the scales only: k/2 (2^-bits_a + 2^-bits_b (1 + 2^-bits_a / 2)) (R11).
double residue_a_priori_upper(const ResiduePlan& plan, Index k);

}  // namespace ozbound
