// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/matrix_unit.hpp"

/// The Ozaki scheme on the integer units of Ootomo, Ozaki, Yokota, "DGEMM on Integer Matrix Multiplication Unit", Table 2, run
/// digit by digit: what `MatrixUnit` says of them, measured. It shares no code with the engines. docs/models.md.
namespace ozbound::models {

/// Which products of slices p of A and q of B are made: all, or those with p + q <= slices + 1.
enum class SliceProducts : std::uint8_t { all, triangle };

/// How A and B are sliced: row by row of A and column by column of B, by 2 ufp of the largest element, into digits with a sign
/// and `bits` of the magnitude, the first ones first; what `slices` of them leave is cut off.
struct UnitSlices {
  int bits = 7;    ///< at least 1; beyond the unit's input, digits may not fit it
  int slices = 8;  ///< at least 1; bits * slices <= 4000
  SliceProducts products = SliceProducts::triangle;
};

/// C, the exact sum of the products of slices rounded once to FP64, and what became of the unit.
struct UnitProduct {
  Matrix<double> c;
  Index products = 0;              ///< of slices
  std::int64_t largest_digit = 0;  ///< magnitude
  std::int64_t largest_sum = 0;    ///< magnitude, of all partial sums over the inner dimension, from its begin on
  bool inputs_fit = true;          ///< no digit is longer than an input
  bool sums_fit = true;            ///< no partial sum is beyond the accumulator
  bool exact_slices = true;        ///< nothing of A or B was cut off
};

/// A is m x k, B k x n. Sums are exact whether or not they fit.
/// @throws std::invalid_argument for slices out of range, bits over 20, k > 2^22, an element that is not finite, or a.cols() !=
/// b.rows().
UnitProduct multiply(const MatrixUnit& unit, const UnitSlices& slicing, MatrixView<const double> a, MatrixView<const double> b);

}  // namespace ozbound::models
