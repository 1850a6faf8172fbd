// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/literature/models/tensor_core.hpp"
#include "ozbound/verify/magnitude.hpp"

/// The Ozaki scheme on units of binary16 with sums in binary32: Mukunoki, Ozaki, Ogita, Imamura, "DGEMM Using Tensor Cores, and
/// Its Accurate and Reproducible Versions", Algorithms 1 to 3. For double and for float (their SGEMM). docs/models.md.
namespace ozbound::models {

enum class SliceMode : std::uint8_t {
  estimated,          ///< DP-mode and, of float, SP-mode: slices by Algorithm 3, fast mode, products summed in the format of C
  correctly_rounded,  ///< CR-mode: slices until nothing is left, every product, their sum rounded once
};

struct Fp16Slices {
  SliceMode mode = SliceMode::estimated;
  TensorCore unit = TensorCore::truncating(4);
  std::optional<int> slices = {};  ///< d of the estimated mode, 1 or more; Algorithm 3's if none
  bool fast = true;                ///< with `slices` given: the products with p + q <= d + 1, not all
  std::optional<int> bits = {};    ///< beta of a slice, 1 to 16; Algorithm 1's if none
  Index block = 0;                 ///< rows, and columns, of C that are one product at most (b_max); all if 0
  Index inner_block = 0;           ///< the same of the inner dimension, which the paper describes and does not run; all if 0
};

/// beta of Algorithm 1 for an inner dimension n: with rho = p - beta, p = 53 or 24, slices are multiples of 2^-beta, at most 1,
/// and n 4^beta <= 2^24, so that no sum is rounded. 12 for n = 1, where binary16 holds only 11; 11 for 2 to 4; 1 from 2^20 + 1
/// on.
/// @throws std::invalid_argument for n < 1 or n > 2^22, where beta is 0 and the algorithm does not end.
int bits_of_fp16_slices(Index n);

template <class T>
struct Fp16Product {
  Matrix<T> c;
  int slices_a = 0, slices_b = 0;  ///< that were multiplied, the most of any block
  Index products = 0;              ///< of slices, of all blocks together
  bool fast = false;               ///< some block left products out
  Index lost_conversions = 0;      ///< elements of slices that binary16 does not hold
  Index lost_sums = 0;             ///< dot products of slices of which the unit rounded something away
  Index lost_scalings = 0;         ///< of these, with their exponents: those that the format of C does not hold
};

/// AB: A is m x k, B k x n. Where Algorithm 3 does not end (a row of zeros), or finds no d before nothing is left of A, all
/// products of all slices are summed. Sums of the correctly rounded mode know no overflow or underflow before the end.
/// @throws std::invalid_argument for parameters out of range, a.cols() != b.rows(), a block longer than 2^22 in the inner
/// dimension where `bits` are not given, or an element, if only of an empty C, that is not finite or above 2^(1023 - rho), of
/// float 2^(127 - rho), where sigma overflows.
Fp16Product<double> multiply(const Fp16Slices& method, MatrixView<const double> a, MatrixView<const double> b);
Fp16Product<float> multiply(const Fp16Slices& method, MatrixView<const float> a, MatrixView<const float> b);

/// A bound of |C^ - AB| in the estimated mode where nothing overflows: docs/models.md, (F1). Rounded up, m x n.
/// @throws std::invalid_argument as multiply, for the correctly rounded mode, and where slices have more bits than binary16 or
/// the unit's sums have room for: more than Algorithm 1's, or than 11.
Matrix<Magnitude> bound_upper(const Fp16Slices& method, MatrixView<const double> a, MatrixView<const double> b);
Matrix<Magnitude> bound_upper(const Fp16Slices& method, MatrixView<const float> a, MatrixView<const float> b);

}  // namespace ozbound::models
