#include "ozbound/core/sliced_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace ozbound {
namespace {

Slicing checked(Slicing slicing) {
  if (slicing.slices < 1 || slicing.slices > max_slices)
    throw std::invalid_argument("slices must be 1 … " + std::to_string(max_slices) + ": " + std::to_string(slicing.slices));
  return slicing;
}

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

/// Exponents of the weights of nearest_adaptive's digits over the vector's scale. That of slice p, before its beta - 1 bits, is
/// ceil(log2 max |T_(p-1)|) (Uchino, Ozaki, Imamura, Algorithm 5); beta below the one before where nothing is left. The tails
/// are found again for each slice, which takes no memory.
template <class T>
void adaptive_weights(MatrixView<const T> vectors, Index i, Slicing slicing, int scale, std::int16_t* weights) {
  const int beta = slicing.encoding.beta;
  std::array<std::int8_t, max_slices> digits{};
  for (int slice = 1; slice <= slicing.slices; ++slice) {
    bool left = false;
    int top = std::numeric_limits<int>::min();
    for (Index l = 0; l < vectors.cols(); ++l) {
      const auto tail = split(to_dyadic(vectors(i, l)), slice - 1, scale, weights, digits.data());
      if (tail.rest == 0) continue;
      left = true;
      top = std::max(top, tail.ceil_log2());
    }
    const int before = slice == 1 ? 1 : weights[slice - 2];
    weights[slice - 1] = static_cast<std::int16_t>(left ? top - scale + 1 - beta : before - beta);
  }
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

template <class T>
void measure_row(MatrixView<const T> vectors, Index i, Slicing slicing, VectorFacts& facts) {
  constexpr int fraction = VectorFacts::fraction_bits;
  const int scale = facts.scale.exponent;
  if (!slicing.encoding.common_ratio()) {
    facts.weights.resize(static_cast<std::size_t>(slicing.slices));
    adaptive_weights(vectors, i, slicing, scale, facts.weights.data());
  }
  const bool floors = slicing.encoding.kind == Encoding::Kind::unsigned8;
  std::array<std::int8_t, max_slices> digits{};
  for (Index l = 0; l < vectors.cols(); ++l) {
    const auto x = to_dyadic(vectors(i, l));
    if (x.magnitude == 0) continue;
    if (facts.weights.empty())
      split(x, slicing, scale, digits.data());
    else
      split(x, slicing.slices, scale, facts.weights.data(), digits.data());
    Remainder rest(x);
    const auto whole = rest.magnitude_upper(scale - fraction);
    facts.vector.add(whole);
    const int shift = scale - fraction - x.exponent;
    const auto floor = shift <= 0 ? whole : (shift >= 64 ? 0 : x.magnitude >> shift);
    facts.floor_squares += floor * floor;
    for (std::size_t p = 0; p < static_cast<std::size_t>(slicing.slices); ++p) {
      const int weight = scale + facts.weight_exponent(slicing.encoding, static_cast<int>(p) + 1);
      const int digit = slicing.encoding.digit(static_cast<int>(p) + 1, digits[p]);
      facts.slices[p].add(static_cast<std::uint64_t>(digit < 0 ? -digit : digit));
      if (!floors) rest.take(digit, weight);
      facts.tails[p].add(floors ? floor_tail_upper(x, weight, fraction) : rest.magnitude_upper(weight - fraction));
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

void IntegerNorms::add(std::uint64_t x) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const auto square = x < (std::uint64_t{1} << 32) ? x * x : most;
  sum += x;
  sum_squares = sum_squares < most - square ? sum_squares + square : most;
  max = std::max(max, x);
}

SliceFacts::SliceFacts(InputView operand, Side side, Slicing requested, int threads) : slicing(checked(requested)) {
  const auto scales = vector_scales(operand, side, slicing.encoding, threads);
  const auto vectors_view = vectors_of(operand, side);
  const auto slices = static_cast<std::size_t>(slicing.slices);
  const Index count = vectors_view.rows();
  vectors.resize(static_cast<std::size_t>(count));
  for (auto& facts : vectors) {
    facts.slices.resize(slices);
    facts.tails.resize(slices);
  }
  std::visit(
      [&](const auto& typed) {
#pragma omp parallel for schedule(static) num_threads(threads) if (count > 1)
        for (Index i = 0; i < count; ++i) {
          auto& facts = vectors[static_cast<std::size_t>(i)];
          facts.scale = scales[static_cast<std::size_t>(i)];
          if (!facts.scale.special) measure_row(typed, i, slicing, facts);
        }
      },
      vectors_view.typed());
}

}  // namespace ozbound
