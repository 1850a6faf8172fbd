#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/digits.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Which operand is sliced: the rows of A, or the columns of B. Either is a set of `count` vectors along the inner dimension k.
enum class Side : std::uint8_t { rows_of_a, columns_of_b };

/// The vectors of an operand as rows: A itself, or B transposed.
[[nodiscard]] InputView vectors_of(InputView operand, Side side);

/// What every vector's scale and semantics come from, in one pass over the bit patterns.
struct VectorScale {
  std::int32_t exponent = 0;  ///< rho = 2^exponent; 0 for a vector of zeros
  bool special = false;       ///< holds a NaN or an infinity: each of its entries of C is special; its digits are zero
};

/// Digits of all vectors of an operand, slice after slice along the inner dimension: A in order, B in reverse, so that the
/// pairs of one diagonal lie side by side and are one integer dot product of length pairs * k. Can be kept and reused.
class SlicedMatrix {
 public:
  /// Slices an operand. Finite elements of any size; threads share the vectors.
  /// @throws std::invalid_argument for a slice count outside 1 … max_slices.
  SlicedMatrix(InputView operand, Side side, Slicing slicing, int threads);

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] Slicing slicing() const { return slicing_; }
  [[nodiscard]] Index count() const { return count_; }            ///< m or n
  [[nodiscard]] Index inner_dimension() const { return inner_; }  ///< k
  [[nodiscard]] int exponent(Index i) const { return scales_[static_cast<std::size_t>(i)].exponent; }
  [[nodiscard]] bool special(Index i) const { return scales_[static_cast<std::size_t>(i)].special; }

  /// Digit p (1-based) of element l of vector i.
  [[nodiscard]] int digit(Index i, int p, Index l) const { return slicing_.encoding.digit(p, slice(i, p)[l]); }

  /// Exponent of the weight of digit p of vector i, relative to its rho.
  [[nodiscard]] int weight_exponent(Index i, int p) const {
    return weights_.empty() ? slicing_.encoding.weight_exponent(p)
                            : weights_[static_cast<std::size_t>(i * slicing_.slices + p - 1)];
  }

  /// The k bytes of slice p (1-based) of vector i: uint8 where slicing().encoding.unsigned_digit(p), else int8.
  [[nodiscard]] const std::int8_t* slice(Index i, int p) const {
    const int place = side_ == Side::rows_of_a ? p - 1 : slicing_.slices - p;
    return digits_.data() + (i * slicing_.slices + place) * inner_;
  }

  /// Bytes that slicing takes, apart from a constant.
  static double bytes(Index count, Index inner, Slicing slicing);

 private:
  Side side_;
  Slicing slicing_;
  Index count_;
  Index inner_;
  std::vector<VectorScale> scales_;
  std::vector<std::int16_t> weights_;  ///< [i * slices + p - 1]; empty where the encoding has a common ratio
  std::vector<std::int8_t> digits_;
};

/// Scale of each vector of an operand under an encoding.
std::vector<VectorScale> vector_scales(InputView operand, Side side, Encoding encoding, int threads);

}  // namespace ozbound
