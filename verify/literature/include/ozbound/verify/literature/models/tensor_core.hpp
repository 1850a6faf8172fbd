// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/literature/models/word_format.hpp"

namespace ozbound::models {

/// A width that keeps every bit of every term.
inline constexpr int exact_alignment = 1 << 20;

/// A unit that multiplies short floating-point numbers and accumulates in binary32, functionally, bit by bit.
///
/// One step adds `terms` products to the accumulator. Products are exact. Every term (a product, or the accumulator) is aligned
/// to the largest: with E the largest sum of two factors' exponents floor(log2 |x|), or the accumulator's exponent, it is
/// rounded to a multiple of 2^(E + 1 - width). The aligned terms are added exactly and their sum is rounded once, to binary32.
/// A dot product is a sequence of such steps, from the first term on, with an accumulator that starts at 0.
///
/// The inner working of real units was found by measurement, and differs between units. It is therefore all parameters.
struct TensorCore {
  int terms = 4;                                 ///< products in a step, from 1 to 1024
  int width = 24;                                ///< bits of an aligned term: binary32's 24 and extra bits; at least 24
  Rounding alignment = Rounding::toward_zero;    ///< of the terms
  Rounding accumulator = Rounding::toward_zero;  ///< of the sum of a step

  /// Fused multiply-adds in binary32, one after the other, as a conventional unit that always rounds to nearest.
  static constexpr TensorCore nearest() { return {1, exact_alignment, Rounding::nearest_even, Rounding::nearest_even}; }

  /// Terms are cut off at `extra_bits` below the 24 bits of the largest term, sums are truncated.
  static constexpr TensorCore truncating(int terms, int extra_bits = 0) {
    return {terms, 24 + extra_bits, Rounding::toward_zero, Rounding::toward_zero};
  }
};

/// @throws std::invalid_argument for parameters out of range.
void check_unit(const TensorCore& unit);

struct Accumulated {
  float value = 0;
  bool exact = true;  ///< no term and no sum was rounded
};

/// Adds at most `terms` products a_l b_l to an accumulator in one step. An infinite accumulator stays; a zero sum is +0.
/// @pre the unit's parameters are in their ranges; a and b are finite and of one length up to `terms`; the FP environment keeps
/// subnormals (FloatEnvironment), as for round_to.
Accumulated fused_step(const TensorCore& unit, float accumulator, std::span<const float> a, std::span<const float> b);

/// A dot product. @pre as fused_step, except that a and b may have any one length.
Accumulated dot(const TensorCore& unit, std::span<const float> a, std::span<const float> b);

/// A is m x k, B k x n: every entry of C by `dot`.
/// @throws std::invalid_argument for parameters out of range, an element that is not finite, or a.cols() != b.rows().
Matrix<float> gemm(const TensorCore& unit, MatrixView<const float> a, MatrixView<const float> b);

/// The factor eps of |C^ - AB| <= eps |A||B| + (1 + eps) k 2^-149 if nothing overflows: gamma of one step's share for each of
/// ceil(k / terms) steps. Rounded up; +Inf if the steps are too many for gamma. docs/models.md.
/// @throws std::invalid_argument for parameters out of range or k < 0.
double accumulation_factor_upper(const TensorCore& unit, Index k);

}  // namespace ozbound::models
