// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/kernel.hpp"
#include "ozbound/core/page_buffer.hpp"
#include "ozbound/core/panel_view.hpp"
#include "ozbound/core/residue_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Residues of an operand in panels, laid out like the slices of PanelSlices. The residues modulo residue_moduli[t] are layer t
/// + 1. For complex forms, the layers are those of ComplexModuli, with half as many rows of A and half the inner dimension. If
/// the layout has unsigned bytes, residues are stored plus 128.
class PanelResidues final : public Residues {
 public:
  /// Makes the residues of an operand. Elements may have any size; those of a vector with a NaN or an infinity become 0.
  /// Threads share the panels. `kernel` changes the speed, not the residues.
  /// @pre form is that of a valid plan.
  /// @throws std::length_error if the number of bytes exceeds an Index; std::invalid_argument if the form is complex and the
  /// operand does not stand for a complex one.
  PanelResidues(InputView operand, Side side, ResidueForm form, int threads, PanelLayout layout, const Kernel& kernel);

  [[nodiscard]] PanelLayout layout() const { return layout_; }
  [[nodiscard]] VectorScale scale(Index i) const override { return scales_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] int residue(Index i, int t, Index l) const override;
  [[nodiscard]] const std::vector<VectorScale>& scales() const { return scales_; }

  /// The bytes as kernels read them. This object must outlive the view.
  [[nodiscard]] PanelView view() const;

  /// Bytes of `layers` layers of `count` vectors, apart from a constant: per vector and layer, k filled up, and 4 a block.
  static double bytes(Index count, Index inner, int layers, PanelLayout layout);

 private:
  [[nodiscard]] Index packed_count() const;
  [[nodiscard]] Index packed_inner() const;
  [[nodiscard]] int stored(Index i, int layer, Index l) const;

  PanelLayout layout_;
  Index padded_;  ///< k, filled up
  std::vector<VectorScale> scales_;
  PageBuffer bytes_;
  std::vector<std::uint32_t> sums_;
};

}  // namespace ozbound
