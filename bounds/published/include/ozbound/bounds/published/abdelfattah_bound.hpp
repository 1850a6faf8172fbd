// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/bounds/wide_range_double.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/split_plan.hpp"
#include "ozbound/core/views.hpp"

/// Abdelfattah, Dongarra, Fasi, Mikaitis, Tisseur: "High-Accuracy Floating-Point Matrix Multiplication on Low-Precision
/// Floating-Point and Fixed-Point Hardware", their last display. Derivation and correction: docs/derivations/kappa_bound.md.
namespace ozbound {

/// kappa_A = 2 max_i (max_j |a_ij| / min_j of the non-zero |a_ij|) of A's rows, and kappa_B of B's columns. Rounded up; any
/// range of exponents. Zero vectors and those with NaN or infinities are ignored; 0 if all are ignored.
WideRangeDouble kappa_upper(InputView operand, Side side);

/// True for plans with every pair of slices, and truncated digits or digits to nearest; any s_A, s_B and accumulation.
bool abdelfattah_covers(const SplitPlan& plan);

/// |AB - S| <= kappa |A||B|, kappa = kappa_A u_A + kappa_B u_B + kappa_A kappa_B u_A u_B with u_A = 2^(-beta s_A), u_B =
/// 2^(-beta s_B). Returns the multiple of |A||B|, rounded up, +Inf if it exceeds a double.
/// @throws std::invalid_argument for a plan that it does not cover.
double abdelfattah_truncation_upper(const SplitPlan& plan, WideRangeDouble kappa_a, WideRangeDouble kappa_b);

/// |S^ - AB| <= (kappa + gamma_(s_A s_B - 1) (1 + kappa)) |A||B|, gamma_n = n u / (1 - n u), and three times that gamma for
/// each operand with digits to nearest. Returns the multiple of |A||B|, rounded up. Adaptive scales add less than s_A s_B eta,
/// for terms that underflow.
/// @throws std::invalid_argument for a plan that it does not cover.
double abdelfattah_upper(const SplitPlan& plan, WideRangeDouble kappa_a, WideRangeDouble kappa_b);

}  // namespace ozbound
