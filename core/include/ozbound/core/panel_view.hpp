// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ozbound/core/kernel.hpp"
#include "ozbound/core/sliced_matrix.hpp"

namespace ozbound {

/// Bytes of all vectors of an operand as kernels read them, whoever keeps them: `layers` matrices of INT8, slices or residues.
/// As PanelSlices describes: panels, in them blocks of the inner dimension, in them layers (A's in order, B's in reverse).
struct PanelView {
  Side side;
  int layers;
  Index count, inner, padded;
  PanelLayout layout;
  const std::int8_t* bytes;
  const std::uint32_t* sums;
  int first_offset, other_offset;  ///< what was added to the numbers of the first layer, and of the others, to store them

  [[nodiscard]] int offset(int p) const { return p == 1 ? first_offset : other_offset; }
  [[nodiscard]] bool offset_free() const { return offset(1) == 0 && (layers == 1 || offset(2) == 0); }
  [[nodiscard]] Index panels() const { return (count + layout.vectors - 1) / layout.vectors; }
  [[nodiscard]] Index panel_vectors(Index panel) const { return std::min(layout.vectors, count - panel * layout.vectors); }
  [[nodiscard]] Index blocks() const { return (padded + layout.block - 1) / layout.block; }
  [[nodiscard]] Index block_digits(Index block) const { return std::min(layout.block, padded - block * layout.block); }
  [[nodiscard]] const std::int8_t* block_start(Index panel, Index block) const {
    return bytes + layers * (panel * layout.vectors * padded + block * layout.block * panel_vectors(panel));
  }
  [[nodiscard]] int place(int p) const { return side == Side::rows_of_a ? p - 1 : layers - p; }
  [[nodiscard]] const std::int8_t* digits(Index panel, Index block, int p) const {
    return block_start(panel, block) + place(p) * block_digits(block) * panel_vectors(panel);
  }
  [[nodiscard]] const std::uint32_t* digit_sums(Index panel, Index block, int p) const {
    return sums + layers * (panel * layout.vectors * blocks() + block * panel_vectors(panel)) + (p - 1) * panel_vectors(panel);
  }
};

}  // namespace ozbound
