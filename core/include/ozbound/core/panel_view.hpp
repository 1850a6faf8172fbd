// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ozbound/core/kernel.hpp"
#include "ozbound/core/sliced_matrix.hpp"

namespace ozbound {

/// A non-owning view of all vectors of an operand as kernels read them: `layers` INT8 matrices, slices or residues. The order
/// is that of PanelSlices: panels, in them blocks of the inner dimension, in them layers (A's in order, B's in reverse).
///
/// Layers count from 1, as slices do; panels and blocks count from 0.
struct PanelView {
  Side side;
  int layers;    ///< slices, or moduli
  Index count;   ///< vectors: m or n
  Index inner;   ///< k
  Index padded;  ///< k, filled up to the kernel's multiple
  PanelLayout layout;
  const std::int8_t* bytes;        ///< of all panels
  const std::uint32_t* sums;       ///< of the stored numbers modulo 2^32: [panel][block][layer][vector]
  int first_offset, other_offset;  ///< offsets added to the stored numbers of the first layer, and of the others

  [[nodiscard]] int offset(int p) const { return p == 1 ? first_offset : other_offset; }
  [[nodiscard]] bool offset_free() const { return offset(1) == 0 && (layers == 1 || offset(2) == 0); }
  [[nodiscard]] Index panels() const { return (count + layout.vectors - 1) / layout.vectors; }
  [[nodiscard]] Index panel_vectors(Index panel) const { return std::min(layout.vectors, count - panel * layout.vectors); }
  [[nodiscard]] Index blocks() const { return (padded + layout.block - 1) / layout.block; }
  [[nodiscard]] Index block_digits(Index block) const { return std::min(layout.block, padded - block * layout.block); }
  /// The first numbers of a block of a panel, which belong to the layer at place 0.
  [[nodiscard]] const std::int8_t* block_start(Index panel, Index block) const {
    return bytes + layers * (panel * layout.vectors * padded + block * layout.block * panel_vectors(panel));
  }
  /// Number of layers stored before layer p in a block.
  [[nodiscard]] int place(int p) const { return side == Side::rows_of_a ? p - 1 : layers - p; }
  /// The numbers of layer p in a block of a panel.
  [[nodiscard]] const std::int8_t* digits(Index panel, Index block, int p) const {
    return block_start(panel, block) + place(p) * block_digits(block) * panel_vectors(panel);
  }
  /// The sums of the numbers of layer p in a block, for each vector of the panel.
  [[nodiscard]] const std::uint32_t* digit_sums(Index panel, Index block, int p) const {
    return sums + layers * (panel * layout.vectors * blocks() + block * panel_vectors(panel)) + (p - 1) * panel_vectors(panel);
  }
};

}  // namespace ozbound
