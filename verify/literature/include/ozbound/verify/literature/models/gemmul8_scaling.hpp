// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "ozbound/core/matrix.hpp"

/// The scaling of GEMMul8 3.0.5 in its fast mode, and its effect on a product. Rows and columns are made integers by a power of
/// two, multiplied modulo N small moduli in INT8 with sums in INT32, and recovered modulo the moduli's product P. It models
/// where the recovery wraps around, not the program's last bits: docs/models.md.
namespace ozbound::models {

struct Gemmul8Fast {
  int moduli = 14;  ///< N, 2 to 20: the first of 256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, ...
};

/// (R1): the exponent t by which a row of A, or a column of B, becomes the integers trunc(x 2^t). 0 for a line of zeros.
/// @throws std::invalid_argument for N out of range, or an element that is not finite or whose square is not in range.
int gemmul8_shift(const Gemmul8Fast& method, std::span<const double> line);

/// C, recovered exactly from its residues and rounded once to FP64, and counts of the entries that went wrong.
struct Gemmul8Product {
  Matrix<double> c;
  Index wrapped = 0;     ///< entries whose integer is P/2 or more in magnitude, so that another integer was recovered
  Index overflowed = 0;  ///< entries with a sum of residues outside INT32
};

/// AB: A is m x k, B k x n. @throws std::invalid_argument as gemmul8_shift, or for a.cols() != b.rows().
Gemmul8Product multiply(const Gemmul8Fast& method, MatrixView<const double> a, MatrixView<const double> b);

}  // namespace ozbound::models
