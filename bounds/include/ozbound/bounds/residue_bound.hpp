// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "ozbound/core/slice_facts.hpp"

namespace ozbound {

/// The error of rounding, A~ and B~ being A and B rounded to a plan's bits: |AB - A~B~| <=
/// 1/2 (2^-bits_a [a_i not exact] ||b_j||_1 + 2^-bits_b [b_j not exact] ||a~_i||_1), relative to rho_i sigma_j. A vector is
/// exact where its last bit is no less than the unit of its integers, and where it counts as zero, for its NaN or infinities
/// (docs/derivations/residues.md, R10).
/// @param rows of A, m; columns of B, n: facts under residue_measure @param row_last_bits, column_last_bits by last_bits
/// @param k the inner dimension
EntryBound residue_error_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns,
                               std::span<const std::int32_t> row_last_bits, std::span<const std::int32_t> column_last_bits,
                               const ResiduePlan& plan, Index k);

/// The same of every entry, from the scales alone: k/2 (2^-bits_a + 2^-bits_b (1 + 2^-bits_a / 2)) (R11).
double residue_a_priori_upper(const ResiduePlan& plan, Index k);

}  // namespace ozbound
