// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/literature/models/tensor_core.hpp"
#include "ozbound/verify/literature/models/word_format.hpp"
#include "ozbound/verify/magnitude.hpp"

/// Binary32 products from words of 16 bits: Abdelfattah, Dongarra, Fasi, Mikaitis, Tisseur, "High-Accuracy Floating-Point
/// Matrix Multiplication on Low-Precision Floating-Point and Fixed-Point Hardware", equations (2) to (5).
namespace ozbound::models {

/// The products of word p of A and word q of B that are summed: all s^2, or those with p + q <= s + 1.
enum class WordProducts : std::uint8_t { all, reduced };

struct Multiword {
  WordFormat format = binary16_word;
  int words = 2;  ///< s of either operand, from 1 to 4
  WordProducts products = WordProducts::all;
  TensorCore unit = TensorCore::nearest();
};

/// (3): word p is the rest after the words before it, rounded to nearest. X is m x n, and so is each of the `words` words. The
/// rest after the last word is at most max(u^words |x|, half the smallest subnormal), element by element.
/// @throws std::invalid_argument for words < 1 or > 4, an element that is not finite or one that the format cannot hold.
std::vector<Matrix<float>> split_words(MatrixView<const float> x, const WordFormat& format, int words);

/// (2): the unit computes each product of words from a zero accumulator. The products are then added in binary32, to nearest,
/// from the least significant words on: p + q falling, and for equal p + q, p rising.
/// @throws std::invalid_argument as split_words and gemm do.
Matrix<float> multiply(const Multiword& method, MatrixView<const float> a, MatrixView<const float> b);

/// Bounds on |C^ - AB|, m x n each, if nothing overflows. Rounded up.
struct MultiwordBounds {
  /// (4) for all products. For the reduced products (5) without its O(u_high u_low + u_low^(s+1)), and thus no true bound. The
  /// second A^(l) in (4) is read as A^(k). u_high is 2^-24 for every unit. Both ignore words that underflow, and units that
  /// round worse than to nearest: docs/errata.md, 17 and 18.
  Matrix<Magnitude> printed;

  /// Holds for every unit and all words: includes the splitting with its underflow, the omitted products, and the unit's
  /// roundings.
  Matrix<Magnitude> upper;
};

/// @throws std::invalid_argument as multiply.
MultiwordBounds bounds(const Multiword& method, MatrixView<const float> a, MatrixView<const float> b);

}  // namespace ozbound::models
