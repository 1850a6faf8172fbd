// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/panel_slices.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/functions.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/kernel.hpp"
#include "slicing.hpp"

namespace ozbound {
namespace {

/// The inner dimension, if all digits of `count` vectors can be addressed. Checked before any element is read.
Index checked_inner(Index inner, Index count, int slices, Index multiple) {
  constexpr auto most = std::numeric_limits<Index>::max() - static_cast<Index>(Kernel::panel_slack);
  if (inner > most / slices / std::max<Index>(count, 1) - multiple)
    throw std::length_error("the slices of an operand of " + std::to_string(count) + " x " + std::to_string(inner) +
                            " are too large");
  return inner;
}

constexpr Index digits_at_a_time = 32;

PanelLayout checked(PanelLayout layout) {
  if (layout.vectors < 1) throw std::invalid_argument("layout: vectors must be positive");
  if (layout.block < 1) throw std::invalid_argument("layout: block must be positive");
  if (layout.step != 4 && (layout.step < 1 || layout.step % digits_at_a_time != 0))
    throw std::invalid_argument("layout: step must be 4 or a multiple of 32");
  if (layout.multiple < 1 || layout.multiple % layout.step != 0 || layout.multiple > PanelLayout::most_block)
    throw std::invalid_argument("layout: multiple must be one of step");
  return layout;
}

constexpr int word_bits = 48;

SliceShape::Digits digits_of(Encoding::Kind kind) {
  switch (kind) {
    case Encoding::Kind::truncated:
    case Encoding::Kind::ozimmu: return SliceShape::Digits::truncated;
    case Encoding::Kind::nearest:
    case Encoding::Kind::nearest_adaptive: return SliceShape::Digits::nearest;
    case Encoding::Kind::balanced: return SliceShape::Digits::balanced;
    case Encoding::Kind::unsigned8: return SliceShape::Digits::unsigned8;
  }
  return SliceShape::Digits::balanced;
}

}  // namespace

/// Slices the vectors of one panel.
class PanelSlices::PanelSlicer {
 public:
  PanelSlicer(PanelSlices& sliced, const KernelFunctions& functions, Index panel)
      : sliced_(sliced),
        functions_(functions),
        panel_(panel),
        first_(panel * sliced.layout_.vectors),
        vectors_(sliced.panel_vectors(panel)),
        step_(sliced.layout_.step),
        shape_(shape()),
        scales_(static_cast<std::size_t>((vectors_ + slice_lanes - 1) / slice_lanes * slice_lanes)),
        elements_(scales_.size() * digits_at_a_time) {}

  template <class T>
  void slice(MatrixView<const T> vectors) {
    const FloatEnvironment environment;
    for (Index v = 0; v < vectors_; ++v)
      if (!sliced_.special(first_ + v) && moderate(first_ + v))
        scales_[static_cast<std::size_t>(v)] = power_of_two(-first_word_exponent(first_ + v));
    for (Index block = 0; block < sliced_.blocks(); ++block) {
      poll_cancelled();
      slice_block(vectors, block);
    }
    for (Index v = 0; v < vectors_; ++v)
      if (!sliced_.special(first_ + v) && !moderate(first_ + v)) slice_vector(vectors, first_ + v);
    add_up();
  }

 private:
  [[nodiscard]] SliceShape shape() const {
    const auto& [encoding, slices] = sliced_.slicing();
    const int in_word = digits_of(encoding.kind) == SliceShape::Digits::nearest ? 1 : word_bits / encoding.beta;
    const auto flip = [this, balanced = encoding.kind == Encoding::Kind::balanced](int p) {
      return (sliced_.offset(p) != 0) != balanced ? 0x80808080u : 0u;  // balanced bytes arrive with 128 added
    };
    return {digits_of(encoding.kind),      encoding.beta, slices, std::min(in_word, slices), flip(1), flip(2), 0,
            step_ == 4 ? 4 * vectors_ : 4, step_};
  }

  /// True if powers of two take the vector's elements to integers and back without overflow.
  [[nodiscard]] bool moderate(Index i) const {
    return sliced_.slicing().encoding.common_ratio() && std::abs(first_word_exponent(i)) <= 1000;
  }

  /// Exponent of the last digit of the first word.
  [[nodiscard]] int first_word_exponent(Index i) const {
    const int first_word = (shape_.slices - 1) % shape_.in_word + 1;
    return sliced_.exponent(i) + sliced_.slicing().encoding.weight_exponent(first_word);
  }

  /// Slices the moderate vectors of a block; digits of other vectors become zero.
  template <class T>
  void slice_block(MatrixView<const T> vectors, Index block) {
    const Index length = sliced_.block_digits(block);
    shape_.slice_bytes = (sliced_.side() == Side::rows_of_a ? 1 : -1) * length * vectors_;
    auto* const out = sliced_.digits_.data() + sliced_.start(panel_, block) + sliced_.place(1) * length * vectors_;
    for (Index start = 0; start < length; start += digits_at_a_time) {
      const Index count = std::min(digits_at_a_time, length - start);
      gather(vectors, block * sliced_.layout_.block + start, count);
      for (Index lane = 0; lane < vectors_; lane += slice_lanes) {
        const Index lanes = std::min<Index>(slice_lanes, vectors_ - lane);
        functions_.slice(group(lane), count / 4, shape_, &scales_[static_cast<std::size_t>(lane)], lanes,
                         out + start / step_ * step_ * vectors_ + lane * step_ + start % step_);
      }
    }
  }

  using Group = double[slice_lanes];
  /// Element l of consecutive vectors, for each l.
  [[nodiscard]] Group* group(Index lane) { return reinterpret_cast<Group*>(elements_.data() + lane * digits_at_a_time); }

  /// Reads elements [start, start + count) of every vector; zeros beyond the inner dimension and for vectors without a scale.
  template <class T>
  void gather(MatrixView<const T> vectors, Index start, Index count) {
    const Index filled = std::min(count, std::max<Index>(0, sliced_.inner_dimension() - start));
    if (filled < count) std::fill(elements_.begin(), elements_.end(), 0.0);
    const Index by_vector = vectors.row_stride(), by_element = vectors.col_stride();
    const T* const origin = filled == 0 ? nullptr : &vectors(first_, start);
    const auto copy = [&](Index v, Index l) {
      group(v / slice_lanes * slice_lanes)[l][v % slice_lanes] = static_cast<double>(origin[v * by_vector + l * by_element]);
    };
    if (by_vector == 1) {
      for (Index l = 0; l < filled; ++l)
        for (Index v = 0; v < vectors_; ++v) copy(v, l);
    } else {
      for (Index v = 0; v < vectors_; ++v)
        for (Index l = 0; l < filled; ++l) copy(v, l);
    }
    for (Index v = 0; v < vectors_; ++v)
      if (scales_[static_cast<std::size_t>(v)] == 0)
        for (Index l = 0; l < filled; ++l) group(v / slice_lanes * slice_lanes)[l][v % slice_lanes] = 0;
  }

  /// Slices any vector, element by element.
  template <class T>
  void slice_vector(MatrixView<const T> vectors, Index i) {
    auto& sliced = sliced_;
    const auto& slicing = sliced.slicing();
    auto* const weights = sliced.weights_.empty() ? nullptr : sliced.weights_.data() + i * slicing.slices;
    if (weights != nullptr) adaptive_weights(vectors, i, slicing, sliced.exponent(i), weights);
    std::array<std::int8_t, max_slices> digits{};
    for (Index l = 0; l < sliced.inner_dimension(); ++l) {
      if (l % elements_of_poll == 0) poll_cancelled();
      const auto x = to_dyadic(vectors(i, l));
      if (weights == nullptr)
        split(x, slicing, sliced.exponent(i), digits.data());
      else
        split(x, slicing.slices, sliced.exponent(i), weights, digits.data());
      for (int p = 1; p <= slicing.slices; ++p)
        sliced.digits_.data()[sliced.digit_index(i, p, l)] =
            static_cast<std::int8_t>(digits[static_cast<std::size_t>(p - 1)] ^ sliced.offset(p));
    }
  }

  void add_up() {
    const std::uint8_t flip = sliced_.layout_.unsigned_bytes ? 0x80 : 0;
    for (Index block = 0; block < sliced_.blocks(); ++block)
      for (int p = 1; p <= sliced_.slicing().slices; ++p)
        functions_.digit_sums(sliced_.digits(panel_, block, p), flip, vectors_, step_, sliced_.block_digits(block),
                              sliced_.sums_.data() + sliced_.sums_index(panel_, block, p));
  }

  PanelSlices& sliced_;
  const KernelFunctions& functions_;
  Index panel_;
  Index first_;
  Index vectors_;
  Index step_;
  SliceShape shape_;
  std::vector<double> scales_;    ///< factors to units of the first word; 0 for vectors that are not moderate
  std::vector<double> elements_;  ///< [group of lanes][l][lane]
};

PanelSlices::PanelSlices(InputView operand, Side side, Slicing slicing, int threads, PanelLayout layout, const Kernel& kernel)
    : Slices(side, checked(slicing), vectors_of(operand, side).rows(),
             checked_inner(vectors_of(operand, side).cols(), vectors_of(operand, side).rows(), checked(slicing).slices,
                           checked(layout).multiple)),
      layout_(layout),
      padded_(layout.filled_up(inner_dimension())),
      scales_(vector_scales(operand, side, slicing.encoding, threads)) {
  layout_ = layout_.of(inner_dimension());
  const auto bytes = static_cast<std::size_t>(count() * slicing.slices * padded_);
  digits_ = PageBuffer(bytes + Kernel::panel_slack);
  std::fill_n(digits_.data() + bytes, Kernel::panel_slack, std::int8_t{0});
  sums_.resize(static_cast<std::size_t>(count() * slicing.slices * blocks()));
  if (!slicing.encoding.common_ratio()) weights_.resize(static_cast<std::size_t>(count() * slicing.slices));
  const auto vectors = vectors_of(operand, side);
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads) if (panels() > 1)
  for (Index panel = 0; panel < panels(); ++panel)
    failure.run([&] {
      std::visit([&](const auto& typed) { PanelSlicer(*this, *kernel.functions, panel).slice(typed); }, vectors.typed());
    });
  failure.rethrow();
}

Index PanelSlices::digit_index(Index i, int p, Index l) const {
  const Index panel = i / layout_.vectors, block = l / layout_.block, within = l % layout_.block, step = layout_.step;
  return start(panel, block) + (place(p) * block_digits(block) + within / step * step) * panel_vectors(panel) +
         i % layout_.vectors * step + within % step;
}

int PanelSlices::digit(Index i, int p, Index l) const {
  const auto byte = digits_.data()[digit_index(i, p, l)];
  return slicing().encoding.digit(p, static_cast<std::int8_t>(byte ^ offset(p)));
}

std::int64_t PanelSlices::sum_of_digits(Index i, int p) const {
  std::int64_t sum = 0;
  for (Index block = 0; block < blocks(); ++block) {
    const auto stored = digit_sums(i / layout_.vectors, block, p)[i % layout_.vectors];
    sum += static_cast<std::int32_t>(stored -
                                     static_cast<std::uint32_t>(offset(p)) * static_cast<std::uint32_t>(block_digits(block)));
  }
  return sum;
}

PanelLayout PanelLayout::of(Index inner) const {
  auto made = *this;
  made.block = filled_up(std::min({block, most_block / multiple * multiple, std::max<Index>(inner, 1)}));
  return made;
}

double PanelSlices::bytes(Index count, Index inner, Slicing slicing, PanelLayout layout) {
  const auto longest = std::numeric_limits<Index>::max() - layout.multiple;  // no operand has more elements
  const Index padded = layout.filled_up(std::min(inner, longest)), block = layout.of(inner).block;
  const auto blocks = static_cast<double>(padded / block + (padded % block == 0 ? 0 : 1));
  const double weights = slicing.encoding.common_ratio() ? 0 : 2.0 * slicing.slices;
  return static_cast<double>(count) *
         ((static_cast<double>(padded) + 4 * blocks) * slicing.slices + static_cast<double>(sizeof(VectorScale)) + weights);
}

static_assert(max_slice_count == max_slices && digits_at_a_time % 4 == 0);

}  // namespace ozbound
