#include "ozbound/core/sliced_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "ozbound/core/kernel.hpp"
#include "slicing.hpp"

namespace ozbound {
namespace {

/// The inner dimension, if all digits of `count` vectors can be addressed: asked before an element is read.
Index checked_inner(Index inner, Index count, int slices) {
  if (count > 0 && inner > (std::numeric_limits<Index>::max() - 1024) / slices / count - Kernel::step_digits)
    throw std::length_error("the slices of an operand of " + std::to_string(count) + " x " + std::to_string(inner) +
                            " are too large");
  return inner;
}

/// Up to a multiple of step_digits.
Index filled_up(Index digits) { return (digits + Kernel::step_digits - 1) / Kernel::step_digits * Kernel::step_digits; }

// The largest bit pattern without its sign orders finite magnitudes, subnormals included; Inf and NaN stand above them all.
template <class T>
VectorScale scale_of_row(MatrixView<const T> vectors, Index i, Encoding encoding) {
  constexpr const Format& format = sizeof(T) == sizeof(double) ? binary64 : binary32;
  std::uint64_t top = 0;
  for (Index l = 0; l < vectors.cols(); ++l) top = std::max(top, bits_of(vectors(i, l)) & ~format.sign);
  if (!is_finite(top, format)) return {0, true};
  return {encoding.scale_exponent(to_dyadic(top, format)), false};
}

PanelLayout checked(PanelLayout layout) {
  if (layout.vectors < 1) throw std::invalid_argument("layout: vectors must be positive");
  if (layout.block < 1) throw std::invalid_argument("layout: block must be positive");
  return layout;
}

/// Where the digits of one vector of a panel go.
struct DigitPlaces {
  std::int8_t* first;  ///< digit 0 of the slice that comes first
  Index vectors;       ///< of the panel
  Index block_digits;

  [[nodiscard]] std::int8_t& at(int place, Index l) const {
    constexpr auto step = Kernel::step_digits;
    return first[place * block_digits * vectors + l / step * step * vectors + l % step];
  }
};

}  // namespace

InputView vectors_of(InputView operand, Side side) { return side == Side::rows_of_a ? operand : operand.transposed(); }

std::vector<VectorScale> vector_scales(InputView operand, Side side, Encoding encoding, int threads) {
  const auto vectors = vectors_of(operand, side);
  const Index count = vectors.rows();
  std::vector<VectorScale> scales(static_cast<std::size_t>(count));
  std::visit(
      [&](const auto& typed) {
#pragma omp parallel for schedule(static) num_threads(threads) if (count > 1)
        for (Index i = 0; i < count; ++i) scales[static_cast<std::size_t>(i)] = scale_of_row(typed, i, encoding);
      },
      vectors.typed());
  return scales;
}

SlicedMatrix::SlicedMatrix(InputView operand, Side side, Slicing slicing, int threads, PanelLayout layout)
    : side_(side),
      slicing_(checked(slicing)),
      layout_(checked(layout)),
      count_(vectors_of(operand, side).rows()),
      inner_(checked_inner(vectors_of(operand, side).cols(), count_, slicing_.slices)),
      padded_(filled_up(inner_)),
      scales_(vector_scales(operand, side, slicing.encoding, threads)) {
  layout_.block = filled_up(std::min(layout_.block, std::max(padded_, Kernel::step_digits)));
  digits_.resize(static_cast<std::size_t>(count_ * slicing_.slices * padded_) + Kernel::panel_slack);
  if (!slicing_.encoding.common_ratio()) weights_.resize(static_cast<std::size_t>(count_ * slicing_.slices));
  const auto vectors = vectors_of(operand, side);
#pragma omp parallel for schedule(static) num_threads(threads) if (panels() > 1)
  for (Index panel = 0; panel < panels(); ++panel) slice_panel(vectors, panel);
}

void SlicedMatrix::slice_panel(InputView vectors, Index panel) {
  std::visit(
      [&](const auto& typed) {
        for (Index v = 0; v < panel_vectors(panel); ++v) slice_vector(typed, panel * layout_.vectors + v, panel);
      },
      vectors.typed());
}

template <class T>
void SlicedMatrix::slice_vector(MatrixView<const T> vectors, Index i, Index panel) {
  auto* const weights = weights_.empty() ? nullptr : weights_.data() + i * slicing_.slices;
  if (weights != nullptr && !special(i)) adaptive_weights(vectors, i, slicing_, exponent(i), weights);
  std::array<std::int8_t, max_slices> digits{};
  for (Index block = 0; block < blocks(); ++block) {
    const DigitPlaces places{digits_.data() + start(panel, block) + i % layout_.vectors * Kernel::step_digits,
                             panel_vectors(panel), block_digits(block)};
    for (Index l = 0; l < block_digits(block); ++l) {
      const Index element = block * layout_.block + l;
      const auto x = element < inner_ && !special(i) ? to_dyadic(vectors(i, element)) : Dyadic{};
      if (weights == nullptr)
        split(x, slicing_, exponent(i), digits.data());
      else
        split(x, slicing_.slices, exponent(i), weights, digits.data());
      for (int p = 1; p <= slicing_.slices; ++p)
        places.at(place(p), l) = static_cast<std::int8_t>(digits[static_cast<std::size_t>(p - 1)] ^ offset(p));
    }
  }
}

int SlicedMatrix::digit(Index i, int p, Index l) const {
  const Index panel = i / layout_.vectors, block = l / layout_.block, within = l % layout_.block;
  constexpr auto step = Kernel::step_digits;
  const auto* first = digits(panel, block, p) + within / step * step * panel_vectors(panel);
  const auto byte = first[i % layout_.vectors * step + within % step];
  return slicing_.encoding.digit(p, static_cast<std::int8_t>(byte ^ offset(p)));
}

double SlicedMatrix::bytes(Index count, Index inner, Slicing slicing) {
  const double weights = slicing.encoding.common_ratio() ? 0 : 2.0 * slicing.slices;
  return static_cast<double>(count) *
         (static_cast<double>(filled_up(inner)) * slicing.slices + static_cast<double>(sizeof(VectorScale)) + weights);
}

}  // namespace ozbound
