#include "ozbound/core/sliced_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "slicing.hpp"

namespace ozbound {
namespace {

/// The inner dimension, if all digits of `count` vectors can be addressed: asked before an element is read.
Index checked_inner(Index inner, Index count, int slices) {
  if (count > 0 && inner > std::numeric_limits<Index>::max() / slices / count)
    throw std::length_error("the slices of an operand of " + std::to_string(count) + " x " + std::to_string(inner) +
                            " are too large");
  return inner;
}

// The largest bit pattern without its sign orders finite magnitudes, subnormals included; Inf and NaN stand above them all.
template <class T>
VectorScale scale_of_row(MatrixView<const T> vectors, Index i, Encoding encoding) {
  constexpr const Format& format = sizeof(T) == sizeof(double) ? binary64 : binary32;
  std::uint64_t top = 0;
  for (Index l = 0; l < vectors.cols(); ++l) top = std::max(top, bits_of(vectors(i, l)) & ~format.sign);
  if (!is_finite(top, format)) return {0, true};
  return {encoding.scale_exponent(to_dyadic(top, format)), false};
}

template <class T>
void slice_row(MatrixView<const T> vectors, Index i, Slicing slicing, int scale, const std::int16_t* weights, Side side,
               std::int8_t* out) {
  const Index inner = vectors.cols();
  std::array<std::int8_t, max_slices> digits{};
  for (Index l = 0; l < inner; ++l) {
    const auto x = to_dyadic(vectors(i, l));
    if (weights == nullptr)
      split(x, slicing, scale, digits.data());
    else
      split(x, slicing.slices, scale, weights, digits.data());
    for (int p = 1; p <= slicing.slices; ++p) {
      const int place = side == Side::rows_of_a ? p - 1 : slicing.slices - p;
      out[place * inner + l] = digits[static_cast<std::size_t>(p - 1)];
    }
  }
}

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

SlicedMatrix::SlicedMatrix(InputView operand, Side side, Slicing slicing, int threads)
    : side_(side),
      slicing_(checked(slicing)),
      count_(vectors_of(operand, side).rows()),
      inner_(checked_inner(vectors_of(operand, side).cols(), count_, slicing_.slices)),
      scales_(vector_scales(operand, side, slicing.encoding, threads)) {
  digits_.resize(static_cast<std::size_t>(count_ * slicing_.slices * inner_));
  if (!slicing_.encoding.common_ratio()) weights_.resize(static_cast<std::size_t>(count_ * slicing_.slices));
  const auto vectors = vectors_of(operand, side);
  std::visit(
      [&](const auto& typed) {
#pragma omp parallel for schedule(static) num_threads(threads) if (count_ > 1)
        for (Index i = 0; i < count_; ++i) {
          if (special(i)) continue;
          const int scale = exponent(i);
          auto* weights = weights_.empty() ? nullptr : weights_.data() + i * slicing_.slices;
          if (weights != nullptr) adaptive_weights(typed, i, slicing_, scale, weights);
          slice_row(typed, i, slicing_, scale, weights, side_, digits_.data() + i * slicing_.slices * inner_);
        }
      },
      vectors.typed());
}

double SlicedMatrix::bytes(Index count, Index inner, Slicing slicing) {
  const double weights = slicing.encoding.common_ratio() ? 0 : 2.0 * slicing.slices;
  return static_cast<double>(count) *
         (static_cast<double>(inner) * slicing.slices + static_cast<double>(sizeof(VectorScale)) + weights);
}

}  // namespace ozbound
