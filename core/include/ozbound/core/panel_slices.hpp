// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/kernel.hpp"
#include "ozbound/core/page_buffer.hpp"
#include "ozbound/core/panel_view.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Digits of all vectors of an operand, in panels. A panel holds the inner dimension block by block. A block holds its slices,
/// A's in order, B's in reverse. The pairs of one diagonal are thus adjacent and form one integer dot product of length pairs *
/// block. A slice holds `step` digits of each vector in turn. The object can be kept and reused.
///
/// Digits are stored as int8 or uint8, as the units multiply them. Digits of the other signedness are stored with an offset of
/// ±128. Zero digits fill up the inner dimension.
class PanelSlices final : public Slices {
 public:
  /// Slices an operand. Finite elements may have any size; threads share the panels. `kernel` changes the speed, not the
  /// digits. @throws std::invalid_argument for a slice count outside 1 … max_slices, or a layout that is not positive.
  PanelSlices(InputView operand, Side side, Slicing slicing, int threads, PanelLayout layout = {},
              const Kernel& kernel = *kernels().back());

  [[nodiscard]] PanelLayout layout() const { return layout_; }
  [[nodiscard]] VectorScale scale(Index i) const override { return scales_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int exponent(Index i) const { return scales_[static_cast<std::size_t>(i)].exponent; }
  [[nodiscard]] bool special(Index i) const { return scales_[static_cast<std::size_t>(i)].special; }
  [[nodiscard]] int digit(Index i, int p, Index l) const override;
  [[nodiscard]] std::int64_t sum_of_digits(Index i, int p) const override;
  [[nodiscard]] int weight_exponent(Index i, int p) const override {
    return weights_.empty() ? slicing().encoding.weight_exponent(p)
                            : weights_[static_cast<std::size_t>(i * slicing().slices + p - 1)];
  }

  /// The offset added to the digits of slice p when they are stored: 128 or 0 in unsigned bytes, -128 or 0 in signed ones.
  [[nodiscard]] int offset(int p) const {
    const bool wanted = layout_.unsigned_bytes;
    return slicing().encoding.unsigned_digit(p) == wanted ? 0 : (wanted ? 128 : -128);
  }
  /// True if all digits are stored without an offset.
  [[nodiscard]] bool offset_free() const { return offset(1) == 0 && (slicing().slices == 1 || offset(2) == 0); }

  [[nodiscard]] Index panels() const { return (count() + layout_.vectors - 1) / layout_.vectors; }
  [[nodiscard]] Index panel_vectors(Index panel) const { return std::min(layout_.vectors, count() - panel * layout_.vectors); }
  [[nodiscard]] Index blocks() const { return (padded_ + layout_.block - 1) / layout_.block; }
  /// Digits of a slice in a block; a multiple of the layout's `multiple`. The last block may be shorter.
  [[nodiscard]] Index block_digits(Index block) const { return std::min(layout_.block, padded_ - block * layout_.block); }

  /// The digits of slice p (1-based) in a block of a panel, followed by those of the next slice in order.
  [[nodiscard]] const std::int8_t* digits(Index panel, Index block, int p) const {
    return digits_.data() + start(panel, block) + place(p) * block_digits(block) * panel_vectors(panel);
  }
  /// The first digits of a block of a panel, which belong to the slice at place 0.
  [[nodiscard]] const std::int8_t* block_start(Index panel, Index block) const { return digits_.data() + start(panel, block); }
  /// Number of slices stored before slice p in a block.
  [[nodiscard]] int place(int p) const { return side() == Side::rows_of_a ? p - 1 : slicing().slices - p; }

  /// The sums of the stored digits of slice p in a block of each vector of a panel, modulo 2^32.
  [[nodiscard]] const std::uint32_t* digit_sums(Index panel, Index block, int p) const {
    return sums_.data() + sums_index(panel, block, p);
  }

  /// The digits as kernels read them. This object must outlive the view.
  [[nodiscard]] PanelView view() const {
    return {side(),  slicing().slices, count(),      inner_dimension(), padded_,
            layout_, digits_.data(),   sums_.data(), offset(1),         offset(2)};
  }
  [[nodiscard]] const std::vector<VectorScale>& scales() const { return scales_; }

  /// Bytes of a sliced operand, apart from a constant: for each slice of a vector, k filled up, and 4 a block.
  static double bytes(Index count, Index inner, Slicing slicing, PanelLayout layout = {});

 private:
  [[nodiscard]] Index start(Index panel, Index block) const {
    return slicing().slices * (panel * layout_.vectors * padded_ + block * layout_.block * panel_vectors(panel));
  }
  class PanelSlicer;
  [[nodiscard]] Index digit_index(Index i, int p, Index l) const;
  [[nodiscard]] Index sums_index(Index panel, Index block, int p) const {
    return slicing().slices * (panel * layout_.vectors * blocks() + block * panel_vectors(panel)) +
           (p - 1) * panel_vectors(panel);
  }

  PanelLayout layout_;
  Index padded_;  ///< the inner dimension, filled up
  std::vector<VectorScale> scales_;
  std::vector<std::int16_t> weights_;  ///< [i * slices + p - 1]; empty where the encoding has a common ratio
  PageBuffer digits_;
  std::vector<std::uint32_t> sums_;
};

}  // namespace ozbound
