// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/split_plan.hpp"

/// Uchino, Ozaki, Imamura: "Performance Enhancement of the Ozaki Scheme on Integer Matrix Multiplication Unit", section 5.
/// Their k slices are s here, and their inner dimension n is k. All bounds cover one encoding for A and B, s x s slices and the
/// pairs with p + q <= s + 1, and throw std::invalid_argument for any other plan. Derivations:
/// docs/derivations/uchino_bounds.md.
namespace ozbound {

/// True for truncated digits (their Algorithm 3), or digits to nearest (5 and 8).
bool uchino_truncation_covers(const SplitPlan& plan);

/// (18): |AB - S| <= 4 (s + 1) k 2^(-beta s) g f^T, where g and f are the ufp of row and column maxima. Relative to rho_i
/// sigma_j <= 4 g_i f_j it is (s + 1) k 2^(-beta s) for every entry. Rounded up.
double uchino_truncation_upper(const SplitPlan& plan, Index k);

/// True for ozIMMU's digits as released, with a first digit one bit shorter.
bool uchino_released_truncation_covers(const SplitPlan& plan);

/// (18) for the released digits: 16 s k 2^(-beta s) g f^T, which is 4 s k 2^(-beta s) relative to rho_i sigma_j. Rounded up.
double uchino_released_truncation_upper(const SplitPlan& plan, Index k);

/// True for truncated digits, released or not, or digits to nearest, with a common scale or not, and `per_product`.
bool uchino_accumulation_covers(const SplitPlan& plan);

/// (22): |S^ - S| <= (s (s + 1) / 2 - 1) u |A||B|; nine times that for digits to nearest, whose magnitudes add up to 3 |A| and
/// 3 |B| at worst. Returns the multiple of |A||B|, rounded up. Adaptive scales add less than N eta, for terms that underflow.
double uchino_accumulation_upper(const SplitPlan& plan);

/// (29): k'max, the largest k' with 2 u ufp(8 k) <= 2^(2 - beta (k' + 1)), at least 0. The sum of all products with p + q <= k'
/// + 1 is then a floating-point number, and so is every partial sum of them. @param precision of that format: u = 2^-precision.
int uchino_exact_diagonals(int beta, Index k, int precision = 53);

/// True for digits as for (22), `per_product` or `per_diagonal`, and one scale for all slices of a vector.
bool uchino_refined_accumulation_covers(const SplitPlan& plan);

/// Number of a plan's floating-point terms after those that are summed exactly; each is rounded once. It is (30) with s (s + 1)
/// / 2 - k' (k' + 1) / 2, where the paper prints one less, if terms come diagonal by diagonal; 0 once k' reaches s.
int uchino_rounded_additions(const SplitPlan& plan, Index k, int precision = 53);

/// (30), corrected: uchino_rounded_additions times u |A||B|, nine times as many for digits to nearest. Returns the multiple of
/// |A||B|, rounded up.
double uchino_refined_accumulation_upper(const SplitPlan& plan, Index k);

/// (12): r = max(1, 2^(31 - 2 beta - ceil(log2 k))), the number of products of a diagonal in an INT32 sum. It is at most the
/// exact limit, SplitPlan::error_free_pairs.
Index uchino_group_size(int beta, Index k);

/// w = sum over the diagonals j = 1 … s of ceil(j / r): the number of floating-point terms for groups of r products.
int uchino_group_terms(int slices, Index group_size);

/// True for digits as for (22), `per_diagonal`, and one scale for all slices of a vector.
bool uchino_groups_covers(const SplitPlan& plan);

/// Section 5.2: |S^ - S| <= (w - 1) u |A||B|, nine times that for digits to nearest. Returns the multiple of |A||B|, rounded
/// up.
double uchino_groups_upper(const SplitPlan& plan, Index group_size);

}  // namespace ozbound
