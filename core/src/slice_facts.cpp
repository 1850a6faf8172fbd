// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/slice_facts.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "balanced_facts.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/special.hpp"
#include "slicing.hpp"

namespace ozbound {
namespace {

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
    if (l % elements_of_poll == 0) poll_cancelled();
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

constexpr Index tile_vectors = 8;  // a cache line of doubles, if the vectors are the columns of a row-major matrix

/// Elements of a tile of vectors, copied to contiguous memory.
class Tile {
 public:
  template <class T>
  void read(MatrixView<const T> vectors, Index first, Index count, Index start, Index length) {
    for (Index l = 0; l < length; ++l)
      for (Index i = 0; i < count; ++i) {
        const T x = vectors(first + i, start + l);
        if constexpr (sizeof(T) == sizeof(double))
          elements_[at(i * stride + l)] = x;
        else
          elements_[at(i * stride + l)] = double_from_bits(widen_bits(x));
      }
  }
  [[nodiscard]] const double* vector(Index i) const { return &elements_[at(i * stride)]; }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  static constexpr Index stride = balanced_block + 8;  // not a power of two, whose lines would share sets of the cache
  std::array<double, static_cast<std::size_t>(tile_vectors* stride)> elements_;
};

/// Measures vectors [first, first + count); special vectors keep no facts.
template <class T>
void measure_tile(MatrixView<const T> vectors, Index first, Index count, VectorFacts* facts) {
  Tile tile;
  for (Index start = 0; start < vectors.cols(); start += balanced_block) {
    poll_cancelled();
    const Index length = std::min(balanced_block, vectors.cols() - start);
    const bool contiguous = sizeof(T) == sizeof(double) && vectors.col_stride() == 1;
    if (!contiguous) tile.read(vectors, first, count, start, length);
    for (Index i = 0; i < count; ++i) {
      if (facts[i].scale.special) continue;
      if constexpr (sizeof(T) == sizeof(double))
        measure_balanced(contiguous ? &vectors(first + i, start) : tile.vector(i), length, facts[i]);
      else
        measure_balanced(tile.vector(i), length, facts[i]);
    }
  }
}

}  // namespace

void IntegerNorms::add(std::uint64_t x) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const auto square = x < (std::uint64_t{1} << 32) ? x * x : most;
  sum += x;
  sum_squares = sum_squares < most - square ? sum_squares + square : most;
  max = std::max(max, x);
}

void IntegerNorms::add(const IntegerNorms& other) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  sum += other.sum;
  sum_squares = sum_squares < most - other.sum_squares ? sum_squares + other.sum_squares : most;
  max = std::max(max, other.max);
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
  for (std::size_t i = 0; i < scales.size(); ++i) vectors[i].scale = scales[i];
  const bool in_blocks = slicing.encoding.kind == Encoding::Kind::balanced && slicing.slices <= balanced_block_slices;
  const Index group = in_blocks ? tile_vectors : 1;  // vectors measured together
  FirstException failure;
  std::visit(
      [&](const auto& typed) {
#pragma omp parallel num_threads(threads) if (count > group)
        {
          const FloatEnvironment environment;
#pragma omp for schedule(static)
          for (Index i = 0; i < count; i += group) {
            auto* const facts = vectors.data() + i;
            failure.run([&] {
              if (group > 1)
                measure_tile(typed, i, std::min(group, count - i), facts);
              else if (!facts->scale.special)
                measure_row(typed, i, slicing, *facts);
            });
          }
        }
      },
      vectors_view.typed());
  failure.rethrow();
}

}  // namespace ozbound
