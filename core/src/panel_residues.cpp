// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/panel_residues.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <variant>

#include "kernels/functions.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "residue_constants.hpp"

namespace ozbound {
namespace {

Index checked_length(Index inner, Index count, int layers, Index multiple) {
  constexpr auto most = std::numeric_limits<Index>::max() - static_cast<Index>(Kernel::panel_slack);
  if (inner > most / layers / std::max<Index>(count, 1) - multiple)
    throw std::length_error("the residues of an operand of " + std::to_string(count) + " x " + std::to_string(inner) +
                            " are too large");
  return inner;
}

/// Byte of element l of vector v in a layer of a block of a panel.
Index place_of(Index v, Index l, Index vectors, Index step) { return (l / step * vectors + v) * step + l % step; }

/// Makes the residues of the vectors of one panel: by the kernel where doubles hold what it computes, else one by one.
class PanelMaker {
 public:
  PanelMaker(const PanelView& panels, ResidueForm form, std::int8_t* bytes, std::uint32_t* sums,
             const std::vector<VectorScale>& scales, const KernelFunctions& functions, Index panel)
      : panels_(panels),
        form_(form),
        bytes_(bytes),
        sums_(sums),
        scales_(scales),
        functions_(functions),
        panel_(panel),
        vectors_(panels.panel_vectors(panel)),
        first_(panel * panels.layout.vectors),
        step_(panels.layout.step),
        flip_(panels.layout.unsigned_bytes ? 0x80 : 0),
        factor_(static_cast<std::size_t>((vectors_ + slice_lanes - 1) / slice_lanes * slice_lanes)),
        by_kernel_(factor_.size()),
        elements_(factor_.size() * together) {
    for (Index v = 0; v < vectors_; ++v) {
      const int up = form.bits - scale(v).exponent;
      const bool holds = !scale(v).special && std::abs(up) <= most_factor;
      by_kernel_[static_cast<std::size_t>(v)] = holds ? 1 : 0;
      if (holds) factor_[static_cast<std::size_t>(v)] = power_of_two(up);
    }
  }

  template <class T>
  void make(MatrixView<const T> operand) {
    for (Index block = 0; block < panels_.blocks(); ++block) {
      poll_cancelled();
      for (Index start = 0; start < panels_.block_digits(block); start += together) make_by_kernel(operand, block, start);
      for (Index v = 0; v < vectors_; ++v)
        if (by_kernel_[static_cast<std::size_t>(v)] == 0) make_one_by_one(operand, block, v);
      for (int layer = 1; layer <= panels_.layers; ++layer) sum_layer(block, layer);
    }
  }

 private:
  static constexpr Index together = 32;     ///< elements of each vector that a kernel takes at a time
  static constexpr int most_factor = 1000;  ///< of 2^e that scales a double, result or factor not subnormal
  using Lanes = double[slice_lanes];

  [[nodiscard]] const VectorScale& scale(Index v) const { return scales_[static_cast<std::size_t>(first_ + v)]; }
  [[nodiscard]] std::int8_t* layer_of(Index block, int layer) const {
    return bytes_ + (panels_.digits(panel_, block, layer) - panels_.bytes);
  }
  /// Bytes from one layer of a block to the next modulus': A's layers lie in order, B's in reverse.
  [[nodiscard]] Index layer_bytes(Index block) const {
    return (panels_.side == Side::rows_of_a ? 1 : -1) * panels_.block_digits(block) * vectors_;
  }

  /// Elements [start, start + together) of a block, zero where the kernel leaves the vector out or beyond k.
  template <class T>
  void read(MatrixView<const T> operand, Index block, Index start, Index count) {
    const Index origin = block * panels_.layout.block + start;
    const Index filled = std::clamp<Index>(panels_.inner - origin, 0, count);
    const auto take = [&](Index v, Index l) {
      const auto at = v / slice_lanes * slice_lanes * together + l * slice_lanes + v % slice_lanes;
      elements_[static_cast<std::size_t>(at)] =
          by_kernel_[static_cast<std::size_t>(v)] != 0 ? static_cast<double>(operand(first_ + v, origin + l)) : 0.0;
    };
    if (filled < count) std::fill(elements_.begin(), elements_.end(), 0.0);
    if (operand.row_stride() == 1)
      for (Index l = 0; l < filled; ++l)
        for (Index v = 0; v < vectors_; ++v) take(v, l);
    else
      for (Index v = 0; v < vectors_; ++v)
        for (Index l = 0; l < filled; ++l) take(v, l);
  }

  template <class T>
  void make_by_kernel(MatrixView<const T> operand, Index block, Index start) {
    const Index count = std::min(together, panels_.block_digits(block) - start);
    read(operand, block, start, count);
    const ResidueShape shape{layer_bytes(block), step_ == 4 ? 4 * vectors_ : 4, step_};
    auto* const out = layer_of(block, 1) + start / step_ * step_ * vectors_ + start % step_;
    for (Index lane = 0; lane < vectors_; lane += slice_lanes)
      functions_.residues(reinterpret_cast<const Lanes*>(elements_.data() + lane * together), count / 4,
                          residue_constants(form_.moduli), &factor_[static_cast<std::size_t>(lane)], form_.bits,
                          std::min<Index>(slice_lanes, vectors_ - lane), flip_, shape, out + lane * step_);
  }

  template <class T>
  void make_one_by_one(MatrixView<const T> operand, Index block, Index v) {
    auto* const out = layer_of(block, 1);
    const Index between = layer_bytes(block);
    for (Index l = 0; l < panels_.block_digits(block); ++l) {
      const Index at = block * panels_.layout.block + l;
      const bool counts = at < panels_.inner && !scale(v).special;
      const auto x = counts ? to_dyadic(operand(first_ + v, at)) : Dyadic{};
      const auto rounded = RoundedInteger::of(x, scale(v).exponent - form_.bits);
      for (int t = 0; t < form_.moduli; ++t)
        out[t * between + place_of(v, l, vectors_, step_)] =
            static_cast<std::int8_t>(rounded.residue(residue_moduli[t]) ^ (flip_ != 0 ? -128 : 0));
    }
  }

  void sum_layer(Index block, int layer) {
    auto* const sums = sums_ + (panels_.digit_sums(panel_, block, layer) - panels_.sums);
    functions_.digit_sums(panels_.digits(panel_, block, layer), flip_, vectors_, step_, panels_.block_digits(block), sums);
  }

  PanelView panels_;
  ResidueForm form_;
  std::int8_t* bytes_;
  std::uint32_t* sums_;
  const std::vector<VectorScale>& scales_;
  const KernelFunctions& functions_;
  Index panel_, vectors_, first_, step_;
  std::uint8_t flip_;
  std::vector<double> factor_;           ///< 2^(bits - e) of each vector, filled up to whole lanes
  std::vector<std::uint8_t> by_kernel_;  ///< whether the kernel makes a vector's residues
  std::vector<double> elements_;
};

}  // namespace

PanelResidues::PanelResidues(InputView operand, Side side, ResidueForm form, int threads, PanelLayout layout,
                             const Kernel& kernel)
    : Residues(
          side, form, vectors_of(operand, side).rows(),
          checked_length(vectors_of(operand, side).cols(), vectors_of(operand, side).rows(), form.moduli, layout.multiple)),
      layout_(layout.of(inner_dimension())),
      padded_(layout.filled_up(inner_dimension())),
      scales_(vector_scales(operand, side, residue_measure.encoding, threads)) {
  const auto size = static_cast<std::size_t>(count() * form.moduli * padded_);
  bytes_ = PageBuffer(size + Kernel::panel_slack);
  std::fill_n(bytes_.data() + size, Kernel::panel_slack, std::int8_t{0});
  sums_.resize(static_cast<std::size_t>(count() * form.moduli * view().blocks()));
  const auto vectors = vectors_of(operand, side);
  const auto panels = view();
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads) if (panels.panels() > 1)
  for (Index panel = 0; panel < panels.panels(); ++panel)
    failure.run([&] {
      const FloatEnvironment environment;
      PanelMaker maker(panels, form, bytes_.data(), sums_.data(), scales_, *kernel.functions, panel);
      std::visit([&](const auto& typed) { maker.make(typed); }, vectors.typed());
    });
  failure.rethrow();
}

PanelView PanelResidues::view() const {
  const int offset = layout_.unsigned_bytes ? 128 : 0;
  return {side(), form().moduli, count(), inner_dimension(), padded_, layout_, bytes_.data(), sums_.data(), offset, offset};
}

double PanelResidues::bytes(Index count, Index inner, int moduli, PanelLayout layout) {
  const auto longest = std::numeric_limits<Index>::max() - layout.multiple;
  const Index padded = layout.filled_up(std::min(inner, longest)), block = layout.of(inner).block;
  const auto blocks = static_cast<double>(padded / block + (padded % block == 0 ? 0 : 1));
  return static_cast<double>(count) *
         ((static_cast<double>(padded) + 4 * blocks) * moduli + static_cast<double>(sizeof(VectorScale)));
}

int PanelResidues::residue(Index i, int t, Index l) const {
  const auto panels = view();
  const Index panel = i / layout_.vectors, block = l / layout_.block, vectors = panels.panel_vectors(panel);
  const auto byte = panels.digits(panel, block, t + 1)[place_of(i % layout_.vectors, l % layout_.block, vectors, layout_.step)];
  return layout_.unsigned_bytes ? static_cast<std::uint8_t>(byte) - 128 : byte;
}

}  // namespace ozbound
