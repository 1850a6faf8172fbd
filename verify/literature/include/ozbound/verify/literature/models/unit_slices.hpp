// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/matrix_unit.hpp"

/// The Ozaki scheme on the integer units of Ootomo, Ozaki, Yokota, "DGEMM on Integer Matrix Multiplication Unit", Table 2, run
/// digit by digit. It measures what `MatrixUnit` claims about these units, and shares no code with the engines. docs/models.md.
namespace ozbound::models {

/// The products of slices p of A and q of B to compute: all, or those with p + q <= slices + 1.
enum class SliceProducts : std::uint8_t { all, triangle };

/// The slicing of A and B, row by row of A and column by column of B. Each line is scaled by 2 ufp of its largest element and
/// cut into digits with a sign and `bits` of the magnitude, leading digits first. The rest after `slices` digits is cut off.
struct UnitSlices {
  int bits = 7;    ///< at least 1; digits with more bits than the unit's input may not fit it
  int slices = 8;  ///< at least 1; bits * slices <= 4000
  SliceProducts products = SliceProducts::triangle;
};

/// C, the exact sum of the products of slices rounded once to FP64, and a record of the unit's limits.
struct UnitProduct {
  Matrix<double> c;
  Index products = 0;              ///< number of products of slices
  std::int64_t largest_digit = 0;  ///< in magnitude
  std::int64_t largest_sum = 0;    ///< in magnitude, of all partial sums over the inner dimension, from its beginning on
  bool inputs_fit = true;          ///< no digit is longer than an input of the unit
  bool sums_fit = true;            ///< no partial sum is beyond the accumulator
  bool exact_slices = true;        ///< no part of A or B was cut off
};

/// A is m x k, B k x n. Sums are exact whether or not they fit.
/// @throws std::invalid_argument for slices out of range, bits over 20, k > 2^22, an element that is not finite, or a.cols() !=
/// b.rows().
UnitProduct multiply(const MatrixUnit& unit, const UnitSlices& slicing, MatrixView<const double> a, MatrixView<const double> b);

}  // namespace ozbound::models
