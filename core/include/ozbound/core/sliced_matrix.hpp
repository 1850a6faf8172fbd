#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/digits.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/kernel.hpp"
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

/// How digits lie in memory: what the kernel that multiplies them wants.
struct PanelLayout {
  Index vectors = 8;   ///< of a panel; the last one may have fewer
  Index block = 1024;  ///< digits of a slice that lie together, at most most_block, rounded up to Kernel::step_digits

  static constexpr Index most_block = Index{1} << 23;  ///< whose digits' sum INT32 holds

  /// What is made of it for an inner dimension: the block rounded up, and no longer than that is.
  [[nodiscard]] PanelLayout of(Index inner) const;

  bool operator==(const PanelLayout&) const = default;
};

/// Digits of all vectors of an operand, in panels. A panel holds the inner dimension block by block; a block holds its slices,
/// A's in order, B's in reverse, so that the pairs of one diagonal lie side by side and are one integer dot product of length
/// pairs * block; a slice holds step_digits digits of each vector in turn. Can be kept and reused.
///
/// A's digits are stored as int8, B's as uint8, as the units multiply them: where that is not what the digits are, 128 less or
/// more. The inner dimension is filled up with zero digits to a multiple of step_digits.
class SlicedMatrix {
 public:
  /// Slices an operand. Finite elements of any size; threads share the panels.
  /// `kernel` changes the speed, not the digits. @throws std::invalid_argument for a slice count outside 1 … max_slices, or a
  /// layout that is not positive.
  SlicedMatrix(InputView operand, Side side, Slicing slicing, int threads, PanelLayout layout = {},
               const Kernel& kernel = *kernels().back());

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] Slicing slicing() const { return slicing_; }
  [[nodiscard]] PanelLayout layout() const { return layout_; }
  [[nodiscard]] Index count() const { return count_; }            ///< m or n
  [[nodiscard]] Index inner_dimension() const { return inner_; }  ///< k
  [[nodiscard]] int exponent(Index i) const { return scales_[static_cast<std::size_t>(i)].exponent; }
  [[nodiscard]] bool special(Index i) const { return scales_[static_cast<std::size_t>(i)].special; }

  /// Digit p (1-based) of element l of vector i.
  [[nodiscard]] int digit(Index i, int p, Index l) const;

  /// The sum of the digits of slice p of vector i.
  [[nodiscard]] std::int64_t sum_of_digits(Index i, int p) const;

  /// Exponent of the weight of digit p of vector i, relative to its rho.
  [[nodiscard]] int weight_exponent(Index i, int p) const {
    return weights_.empty() ? slicing_.encoding.weight_exponent(p)
                            : weights_[static_cast<std::size_t>(i * slicing_.slices + p - 1)];
  }

  /// What is added to the digits of slice p to store them: 128 or 0 in B, -128 or 0 in A.
  [[nodiscard]] int offset(int p) const {
    const bool wanted = side_ == Side::columns_of_b;
    return slicing_.encoding.unsigned_digit(p) == wanted ? 0 : (wanted ? 128 : -128);
  }

  [[nodiscard]] Index panels() const { return (count_ + layout_.vectors - 1) / layout_.vectors; }
  [[nodiscard]] Index panel_vectors(Index panel) const { return std::min(layout_.vectors, count_ - panel * layout_.vectors); }
  [[nodiscard]] Index blocks() const { return (padded_ + layout_.block - 1) / layout_.block; }
  /// Digits of a slice in a block, the last of which may be shorter; a multiple of step_digits.
  [[nodiscard]] Index block_digits(Index block) const { return std::min(layout_.block, padded_ - block * layout_.block); }

  /// The digits of slice p (1-based) in a block of a panel, followed by those of the next slice in order.
  [[nodiscard]] const std::int8_t* digits(Index panel, Index block, int p) const {
    return digits_.data() + start(panel, block) + place(p) * block_digits(block) * panel_vectors(panel);
  }

  /// The sums of the stored digits of slice p in a block of each vector of a panel, modulo 2^32.
  [[nodiscard]] const std::uint32_t* digit_sums(Index panel, Index block, int p) const {
    return sums_.data() + sums_index(panel, block, p);
  }

  /// Bytes that slicing takes, apart from a constant: for each slice of a vector, k rounded up to step_digits, and 4 a block.
  static double bytes(Index count, Index inner, Slicing slicing, PanelLayout layout = {});

 private:
  [[nodiscard]] int place(int p) const { return side_ == Side::rows_of_a ? p - 1 : slicing_.slices - p; }
  [[nodiscard]] Index start(Index panel, Index block) const {
    return slicing_.slices * (panel * layout_.vectors * padded_ + block * layout_.block * panel_vectors(panel));
  }
  class PanelSlicer;
  [[nodiscard]] Index digit_index(Index i, int p, Index l) const;
  [[nodiscard]] Index sums_index(Index panel, Index block, int p) const {
    return slicing_.slices * (panel * layout_.vectors * blocks() + block * panel_vectors(panel)) +
           (p - 1) * panel_vectors(panel);
  }

  Side side_;
  Slicing slicing_;
  PanelLayout layout_;
  Index count_;
  Index inner_;
  Index padded_;  ///< inner_, filled up
  std::vector<VectorScale> scales_;
  std::vector<std::int16_t> weights_;  ///< [i * slices + p - 1]; empty where the encoding has a common ratio
  std::vector<std::int8_t> digits_;
  std::vector<std::uint32_t> sums_;
};

/// Scale of each vector of an operand under an encoding.
std::vector<VectorScale> vector_scales(InputView operand, Side side, Encoding encoding, int threads);

}  // namespace ozbound
