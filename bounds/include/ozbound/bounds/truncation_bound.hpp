// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/slice_facts.hpp"

namespace ozbound {

/// The general bound of |AB - S|, where S is the exact sum of a plan's slice products, for any encoding and product set.
/// Relative to rho_i sigma_j. Rigorous; docs/derivations/general_bound.md (G1).

/// The bound from the scales only: k * [sum_p a_p t_c(p) + t_sA], the same for every entry.
double truncation_a_priori_upper(const Plan& plan, Index k);

/// The bound from the norms of slices and tails: sum_p h(A_p, T^B_c(p)) + h(T^A_sA, B), slices with equal c(p) merged, where
/// h(x, y) is the least of ||x||_2 ||y||_2, ||x||_1 ||y||_inf and ||x||_inf ||y||_1. Zero if residuals vanish.
/// @pre rows and columns are facts under plan.a and plan.b.
EntryBound truncation_a_posteriori_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns,
                                         const SplitPlan& plan);

/// The error of the plan's accumulation. For `exact` the list of terms is empty. Otherwise, for the N terms of plan.groups(k),
/// it is (N - 1) u sum |p_t|, with sum |p_t| <= min over norms of (sum_p ||A_p||) (sum_q ||B_q||).
EntryBound accumulation_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, const SplitPlan& plan,
                              Index k);

/// The error of the plan before its one rounding: the smaller of the two truncation bounds, plus accumulation.
EntryBound plan_error_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, const SplitPlan& plan,
                            Index k);

/// A bound of factor * |A||B| by the norms of rows and columns: factor * h(A, B), h as in truncation_a_posteriori_upper.
EntryBound summation_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, double factor);

/// plan_error_upper for one row and one column, without building vectors: plan_error_upper({row}, {column}, plan, k).upper(0,
/// 0).
/// @pre the FP environment rounds to nearest and keeps subnormals (FloatEnvironment), as for EntryBound::upper.
double entry_error_upper(const VectorFacts& row, const VectorFacts& column, const SplitPlan& plan, Index k);

/// The same for many entries of a plan; `uniform` is its truncation_a_priori_upper.
double entry_error_upper(const VectorFacts& row, const VectorFacts& column, const SplitPlan& plan, Index k, double uniform);

}  // namespace ozbound
