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
#include "ozbound/core/detail/complex_residues.hpp"
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

/// Position of the byte of element l of vector v in a layer of a block of a panel.
Index place_of(Index v, Index l, Index vectors, Index step) { return (l / step * vectors + v) * step + l % step; }

/// Residues of a block of a panel: those of the first modulus at `first`, those of each next modulus `between` bytes further.
struct BlockOfResidues {
  std::int8_t* first;
  Index between;
};

/// Makes the residues of the vectors of one panel: by the kernel if doubles hold its intermediate results, otherwise one by
/// one.
class PanelMaker {
 public:
  /// @param scales scales of the operand's vectors; vector v of the panels has the one at v * scale_step
  PanelMaker(const PanelView& panels, ResidueForm form, const std::vector<VectorScale>& scales, Index scale_step,
             const KernelFunctions& functions, Index panel)
      : panels_(panels),
        form_(form),
        scales_(scales),
        scale_step_(scale_step),
        functions_(functions),
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
  void make(MatrixView<const T> operand, Index block, BlockOfResidues out) {
    for (Index start = 0; start < panels_.block_digits(block); start += together) make_by_kernel(operand, block, start, out);
    for (Index v = 0; v < vectors_; ++v)
      if (by_kernel_[static_cast<std::size_t>(v)] == 0) make_one_by_one(operand, block, v, out);
  }

 private:
  static constexpr Index together = 32;     ///< elements of each vector that a kernel takes at a time
  static constexpr int most_factor = 1000;  ///< |e| of 2^e that scales a double; neither result nor factor is subnormal
  using Lanes = double[slice_lanes];

  [[nodiscard]] const VectorScale& scale(Index v) const {
    return scales_[static_cast<std::size_t>((first_ + v) * scale_step_)];
  }

  /// Reads elements [start, start + together) of a block. They are zero beyond k and in vectors that the kernel skips.
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
  void make_by_kernel(MatrixView<const T> operand, Index block, Index start, BlockOfResidues to) {
    const Index count = std::min(together, panels_.block_digits(block) - start);
    read(operand, block, start, count);
    const ResidueShape shape{to.between, step_ == 4 ? 4 * vectors_ : 4, step_};
    auto* const out = to.first + start / step_ * step_ * vectors_ + start % step_;
    for (Index lane = 0; lane < vectors_; lane += slice_lanes)
      functions_.residues(reinterpret_cast<const Lanes*>(elements_.data() + lane * together), count / 4,
                          residue_constants(form_.moduli), &factor_[static_cast<std::size_t>(lane)], form_.bits,
                          std::min<Index>(slice_lanes, vectors_ - lane), flip_, shape, out + lane * step_);
  }

  template <class T>
  void make_one_by_one(MatrixView<const T> operand, Index block, Index v, BlockOfResidues to) {
    for (Index l = 0; l < panels_.block_digits(block); ++l) {
      const Index at = block * panels_.layout.block + l;
      const bool counts = at < panels_.inner && !scale(v).special;
      const auto x = counts ? to_dyadic(operand(first_ + v, at)) : Dyadic{};
      const auto rounded = RoundedInteger::of(x, scale(v).exponent - form_.bits);
      for (int t = 0; t < form_.moduli; ++t)
        to.first[t * to.between + place_of(v, l, vectors_, step_)] =
            static_cast<std::int8_t>(rounded.residue(residue_moduli[t]) ^ (flip_ != 0 ? -128 : 0));
    }
  }

  PanelView panels_;
  ResidueForm form_;
  const std::vector<VectorScale>& scales_;
  Index scale_step_;
  const KernelFunctions& functions_;
  Index vectors_, first_, step_;
  std::uint8_t flip_;
  std::vector<double> factor_;           ///< 2^(bits - e) of each vector, filled up to whole lanes
  std::vector<std::uint8_t> by_kernel_;  ///< 1 if the kernel makes a vector's residues
  std::vector<double> elements_;
};

/// The parts of a factor that stands for a complex one. Vectors are its rows or columns: m x k for A, n x k for B.
template <class T>
struct Parts {
  MatrixView<const T> real, imaginary;
};

/// Rows 2i and 2i + 1 of A begin with the real and imaginary parts. In a column of B these are the elements 2l and 2l + 1.
template <class T>
Parts<T> parts_of(const MatrixView<const T>& vectors, Side side) {
  const bool rows = side == Side::rows_of_a;
  const Index count = rows ? vectors.rows() / 2 : vectors.rows(), inner = vectors.cols() / 2;
  const Index apart = rows ? vectors.row_stride() : vectors.col_stride();
  const Index row_stride = rows ? 2 * vectors.row_stride() : vectors.row_stride();
  const auto part = [&](Index origin) {
    return MatrixView<const T>(vectors.data() + origin, count, inner, row_stride, 2 * vectors.col_stride());
  };
  const bool empty = count == 0 || inner == 0;
  return {part(0), part(empty ? 0 : apart)};
}

/// Makes the layers of complex integers from the residues of their parts.
class ComplexLayers {
 public:
  /// @param flip 0x80 if residues are stored plus 128
  ComplexLayers(const ComplexModulus& of, std::uint8_t flip) : of_(of), flip_(flip) {}

  /// Makes `count` bytes of layer l. @pre FloatEnvironment
  void make(int l, const std::int8_t* x, const std::int8_t* y, Index count, std::int8_t* out) const {
    if (of_.root != 0)
      add_multiple(x, y, static_cast<std::int16_t>(l == 0 ? of_.root : -of_.root), count, out);
    else if (l == 2)
      add(x, y, count, out);
    else
      std::copy_n(l == 0 ? x : y, count, out);
  }

 private:
  [[nodiscard]] std::int8_t flipped(std::int8_t x) const { return static_cast<std::int8_t>(x ^ flip_); }

  /// x + y modulo p, |x + y| < p: into [-floor(p / 2), ceil(p / 2) - 1].
  void add(const std::int8_t* x, const std::int8_t* y, Index count, std::int8_t* out) const {
    const auto p = static_cast<std::int16_t>(of_.modulus), low = static_cast<std::int16_t>(-p / 2);
    const auto high = static_cast<std::int16_t>(low + p - 1);
    for (Index b = 0; b < count; ++b) {
      const auto z = static_cast<std::int16_t>(flipped(x[b]) + flipped(y[b]));
      const auto up = static_cast<std::int16_t>(z < low ? p : 0), down = static_cast<std::int16_t>(z > high ? p : 0);
      out[b] = flipped(static_cast<std::int8_t>(z + up - down));
    }
  }

  /// x + factor y modulo an odd p. |z| < 2^15, so that z / p in binary32 is on the right side of every tie.
  void add_multiple(const std::int8_t* x, const std::int8_t* y, std::int16_t factor, Index count, std::int8_t* out) const {
    constexpr float to_integer = 0x1.8p23F;
    const auto p = static_cast<float>(of_.modulus), inverse = 1 / p;
    for (Index b = 0; b < count; ++b) {
      const auto z = static_cast<float>(flipped(x[b]) + factor * flipped(y[b]));
      const float quotient = (z * inverse + to_integer) - to_integer;
      out[b] = flipped(static_cast<std::int8_t>(static_cast<std::int32_t>(z - quotient * p)));
    }
  }

  const ComplexModulus& of_;
  std::uint8_t flip_;
};

/// Fills panels with the layers of an operand.
class OperandFiller {
 public:
  OperandFiller(const PanelView& panels, ResidueForm form, const std::vector<VectorScale>& scales, std::int8_t* bytes,
                std::uint32_t* sums, const KernelFunctions& functions)
      : panels_(panels), form_(form), scales_(scales), bytes_(bytes), sums_(sums), functions_(functions) {}

  template <class T>
  void fill(const MatrixView<const T>& vectors, Index panel) const {
    const bool every_second = form_.complex && panels_.side == Side::rows_of_a;
    PanelMaker maker(panels_, form_, scales_, every_second ? 2 : 1, functions_, panel);
    std::vector<std::int8_t> parts;
    for (Index block = 0; block < panels_.blocks(); ++block) {
      poll_cancelled();
      if (form_.complex)
        fill_complex(parts_of(vectors, panels_.side), panel, block, maker, parts);
      else
        maker.make(vectors, block, {layer(panel, block, 1), layer_step() * layer_bytes(panel, block)});
      for (int p = 1; p <= panels_.layers; ++p) sum_layer(panel, block, p);
    }
  }

 private:
  [[nodiscard]] std::int8_t* layer(Index panel, Index block, int p) const {
    return bytes_ + (panels_.digits(panel, block, p) - panels_.bytes);
  }
  [[nodiscard]] Index layer_bytes(Index panel, Index block) const {
    return panels_.block_digits(block) * panels_.panel_vectors(panel);
  }
  /// A's layers are stored in order, B's in reverse.
  [[nodiscard]] Index layer_step() const { return panels_.side == Side::rows_of_a ? 1 : -1; }
  [[nodiscard]] std::uint8_t flip() const { return panels_.layout.unsigned_bytes ? 0x80 : 0; }

  /// @param parts buffer for the residues of the real parts, followed by those of the imaginary parts
  template <class T>
  void fill_complex(const Parts<T>& of, Index panel, Index block, PanelMaker& maker, std::vector<std::int8_t>& parts) const {
    const Index count = layer_bytes(panel, block);
    parts.resize(static_cast<std::size_t>(2 * form_.moduli * count));
    auto* const x = parts.data();
    auto* const y = x + form_.moduli * count;
    maker.make(of.real, block, {x, count});
    maker.make(of.imaginary, block, {y, count});
    const auto moduli = ComplexModuli::of(form_.moduli);
    for (int t = 0; t < form_.moduli; ++t) {
      const auto& modulus = moduli.of_modulus[t];
      const ComplexLayers layers(modulus, flip());
      for (int l = 0; l < modulus.layers(); ++l)
        layers.make(l, x + t * count, y + t * count, count, layer(panel, block, modulus.first_layer + l));
    }
  }

  void sum_layer(Index panel, Index block, int p) const {
    auto* const sums = sums_ + (panels_.digit_sums(panel, block, p) - panels_.sums);
    functions_.digit_sums(panels_.digits(panel, block, p), flip(), panels_.panel_vectors(panel), panels_.layout.step,
                          panels_.block_digits(block), sums);
  }

  PanelView panels_;
  ResidueForm form_;
  const std::vector<VectorScale>& scales_;
  std::int8_t* bytes_;
  std::uint32_t* sums_;
  const KernelFunctions& functions_;
};

int layers_of(ResidueForm form) { return form.complex ? ComplexModuli::of(form.moduli).layers : form.moduli; }

void check_pairs(const Residues& of) {
  if (!of.form().complex) return;
  if (of.inner_dimension() % 2 != 0 || (of.side() == Side::rows_of_a && of.count() % 2 != 0))
    throw std::invalid_argument("operand: must stand for a complex one, with an even inner dimension, and even rows of A");
}

}  // namespace

PanelResidues::PanelResidues(InputView operand, Side side, ResidueForm form, int threads, PanelLayout layout,
                             const Kernel& kernel)
    : Residues(
          side, form, vectors_of(operand, side).rows(),
          checked_length(vectors_of(operand, side).cols(), vectors_of(operand, side).rows(), layers_of(form), layout.multiple)),
      layout_(layout.of(packed_inner())),
      padded_(layout.filled_up(packed_inner())),
      scales_(vector_scales(operand, side, residue_measure.encoding, threads)) {
  check_pairs(*this);
  const auto size = static_cast<std::size_t>(packed_count() * layers_of(form) * padded_);
  bytes_ = PageBuffer(size + Kernel::panel_slack);
  std::fill_n(bytes_.data() + size, Kernel::panel_slack, std::int8_t{0});
  sums_.resize(static_cast<std::size_t>(packed_count() * layers_of(form) * view().blocks()));
  const auto vectors = vectors_of(operand, side);
  const auto panels = view();
  const OperandFiller filler(panels, form, scales_, bytes_.data(), sums_.data(), *kernel.functions);
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads) if (panels.panels() > 1)
  for (Index panel = 0; panel < panels.panels(); ++panel)
    failure.run([&] {
      const FloatEnvironment environment;
      std::visit([&](const auto& typed) { filler.fill(typed, panel); }, vectors.typed());
    });
  failure.rethrow();
}

Index PanelResidues::packed_count() const { return form().complex && side() == Side::rows_of_a ? count() / 2 : count(); }

Index PanelResidues::packed_inner() const { return form().complex ? inner_dimension() / 2 : inner_dimension(); }

PanelView PanelResidues::view() const {
  const int offset = layout_.unsigned_bytes ? 128 : 0;
  return {side(),  layers_of(form()), packed_count(), packed_inner(), padded_,
          layout_, bytes_.data(),     sums_.data(),   offset,         offset};
}

double PanelResidues::bytes(Index count, Index inner, int layers, PanelLayout layout) {
  const auto longest = std::numeric_limits<Index>::max() - layout.multiple;
  const Index padded = layout.filled_up(std::min(inner, longest)), block = layout.of(inner).block;
  const auto blocks = static_cast<double>(padded / block + (padded % block == 0 ? 0 : 1));
  return static_cast<double>(count) *
         ((static_cast<double>(padded) + 4 * blocks) * layers + static_cast<double>(sizeof(VectorScale)));
}

int PanelResidues::stored(Index i, int layer, Index l) const {
  const auto panels = view();
  const Index panel = i / layout_.vectors, block = l / layout_.block, vectors = panels.panel_vectors(panel);
  const auto byte = panels.digits(panel, block, layer)[place_of(i % layout_.vectors, l % layout_.block, vectors, layout_.step)];
  return layout_.unsigned_bytes ? static_cast<std::uint8_t>(byte) - 128 : byte;
}

int PanelResidues::residue(Index i, int t, Index l) const {
  if (!form().complex) return stored(i, t + 1, l);
  const bool rows = side() == Side::rows_of_a;
  const auto modulus = ComplexModuli::of(form().moduli).of_modulus[t];
  const auto of_layer = [&](int layer) { return stored(rows ? i / 2 : i, modulus.first_layer + layer, l / 2); };
  const std::int64_t x = of_layer(0), y = of_layer(1);
  const bool two = modulus.root != 0;
  const auto real = balanced(two ? (x + y) * modulus.scale(false) : x, modulus.modulus);
  const auto imaginary = balanced(two ? (x - y) * modulus.scale(true) : y, modulus.modulus);
  if (!rows) return l % 2 == 0 ? real : imaginary;
  if (i % 2 == l % 2) return real;
  return i % 2 == 1 ? imaginary : balanced(-imaginary, modulus.modulus);
}

}  // namespace ozbound
