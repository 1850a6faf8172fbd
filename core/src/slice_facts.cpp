#include "ozbound/core/slice_facts.hpp"

#include <algorithm>
#include <array>
#include <limits>

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
