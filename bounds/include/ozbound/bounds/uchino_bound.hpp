#pragma once

#include "ozbound/core/plan.hpp"

namespace ozbound {

/// s_A = s_B = s digits of truncated(beta) for A and B, all pairs with p + q <= s + 1: the splitting of Uchino, Ozaki, Imamura,
/// "Performance Enhancement of the Ozaki Scheme on Integer Matrix Multiplication Unit", Algorithm 3.
bool uchino_truncation_covers(const SplitPlan& plan);

/// Their section 5.1: |AB - S| <= 4 (s + 1) k 2^(-beta s) g f^T, g and f the ufp of row and column maxima. Relative to
/// rho_i sigma_j = 4 g_i f_j it is (s + 1) k 2^(-beta s) for every entry. Rounded up. Not for ozIMMU's released code, whose
/// first slice holds one bit less (theory.md, section 3, erratum 1).
/// @throws std::invalid_argument for a plan that it does not cover.
double uchino_truncation_upper(const SplitPlan& plan, Index k);

}  // namespace ozbound
