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
  estimated,          ///< DP-mode and, for float, SP-mode: slices by Algorithm 3, fast mode, products summed in the format of C
  correctly_rounded,  ///< CR-mode: slices until the rest is 0, all products, their sum rounded once
};

struct Fp16Slices {
  SliceMode mode = SliceMode::estimated;
  TensorCore unit = TensorCore::truncating(4);
  std::optional<int> slices = {};  ///< d of the estimated mode, 1 or more; if empty, Algorithm 3's
  bool fast = true;                ///< with `slices` given: only the products with p + q <= d + 1
  std::optional<int> bits = {};    ///< beta of a slice, 1 to 16; if empty, Algorithm 1's
  Index block = 0;                 ///< the most rows, and columns, of C in one product (b_max); 0: all
  Index inner_block = 0;           ///< the same limit for the inner dimension, which the paper describes and does not run; 0:
                                   ///< all
};

/// beta of Algorithm 1 for an inner dimension n. With rho = p - beta, p = 53 or 24, slices are multiples of 2^-beta, at most 1,
/// and n 4^beta <= 2^24, so that no sum is rounded. beta is 12 for n = 1, although binary16 holds only 11 bits; 11 for n = 2 to
/// 4; 1 from n = 2^20 + 1 on.
/// @throws std::invalid_argument for n < 1 or n > 2^22, for which beta is 0 and the algorithm does not end.
int bits_of_fp16_slices(Index n);

template <class T>
struct Fp16Product {
  Matrix<T> c;
  int slices_a = 0, slices_b = 0;  ///< slices that were multiplied, the most of any block
  Index products = 0;              ///< products of slices, of all blocks together
  bool fast = false;               ///< some block omitted products
  Index lost_conversions = 0;      ///< elements of slices that binary16 cannot hold
  Index lost_sums = 0;             ///< dot products of slices that the unit rounded
  Index lost_scalings = 0;         ///< scaled dot products of slices that the format of C cannot hold
};

/// AB: A is m x k, B k x n. If Algorithm 3 does not end (a row of zeros), or finds no d before the rest of A is 0, all products
/// of all slices are summed. Sums of the correctly rounded mode cannot overflow or underflow before the final rounding.
/// @throws std::invalid_argument for parameters out of range, a.cols() != b.rows(), a block longer than 2^22 in the inner
/// dimension if `bits` is empty, or an element, even of an empty C, that is not finite or above 2^(1023 - rho), for float
/// 2^(127 - rho), where sigma overflows.
Fp16Product<double> multiply(const Fp16Slices& method, MatrixView<const double> a, MatrixView<const double> b);
Fp16Product<float> multiply(const Fp16Slices& method, MatrixView<const float> a, MatrixView<const float> b);

/// A bound of |C^ - AB| in the estimated mode if nothing overflows: docs/models.md, (F1). Rounded up, m x n.
/// @throws std::invalid_argument as multiply, for the correctly rounded mode, and for slices with more bits than binary16 or
/// the unit's sums can hold: more than Algorithm 1's, or than 11.
Matrix<Magnitude> bound_upper(const Fp16Slices& method, MatrixView<const double> a, MatrixView<const double> b);
Matrix<Magnitude> bound_upper(const Fp16Slices& method, MatrixView<const float> a, MatrixView<const float> b);

}  // namespace ozbound::models
