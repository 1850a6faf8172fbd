// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/vector_norms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/residue_plan.hpp"

namespace ozbound {
namespace {

constexpr Index together = 512;          ///< vectors measured together; one element of each may be contiguous
constexpr Index most_squares = 1 << 20;  ///< integers up to 2^16; a double holds the sum of this many squares
const double infinity = std::numeric_limits<double>::infinity();
constexpr int most_factor = 1000;  ///< |e| of 2^e that takes elements to units; neither is then subnormal

/// ceil(|x| factor), at most 2^16; 1 if the product underflows.
[[gnu::always_inline]] inline double units_of(double x, double factor) {
  const double scaled = std::fabs(x) * factor, nearest = scaled + 0x1p52 - 0x1p52;
  const double above = nearest < scaled ? nearest + 1 : nearest;
  return above < 1 && x != 0 ? 1 : above;
}

/// The last bit of x that is set, as a number; infinite for 0.
[[gnu::always_inline]] inline double last_bit_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x), fraction = bits & 0xfffffffffffff;
  const double rest = std::bit_cast<double>(bits & ~(fraction & -fraction));  // without that bit, if it is in the fraction
  const double last = fraction == 0 ? std::fabs(x) : std::fabs(x - rest);
  return last == 0 ? infinity : last;
}

/// The sums of one vector so far are integers, and its last bit is a power of two. All are doubles.
struct Sums {
  double sum = 0, squares = 0, floor_squares = 0, max = 0, last = infinity;

  [[gnu::always_inline]] void add(double x, double factor) {
    const double units = units_of(x, factor), floor = units > std::fabs(x) * factor ? units - 1 : units;
    const double bit = last_bit_of(x);
    sum += units;
    squares += units * units;
    floor_squares += floor * floor;
    max = max < units ? units : max;
    last = bit < last ? bit : last;
  }
  [[gnu::always_inline]] void add(const Sums& other) {
    sum += other.sum, squares += other.squares, floor_squares += other.floor_squares;
    max = max < other.max ? other.max : max;
    last = other.last < last ? other.last : last;
  }
};

/// The same sums for several vectors, side by side.
struct Partial {
  std::array<double, together> factor{}, sum{}, squares{}, floor_squares{}, max{}, last{};

  void start(std::size_t v) { store(v, {}); }
  [[nodiscard, gnu::always_inline]] Sums load(std::size_t v) const {
    return {sum[v], squares[v], floor_squares[v], max[v], last[v]};
  }
  [[gnu::always_inline]] void store(std::size_t v, const Sums& sums) {
    sum[v] = sums.sum, squares[v] = sums.squares, floor_squares[v] = sums.floor_squares, max[v] = sums.max, last[v] = sums.last;
  }
};

template <class T>
[[gnu::always_inline]] inline void add_to_each(const T* x, Index count, Partial& norms) {
  for (Index i = 0; i < count; ++i) {
    const auto v = static_cast<std::size_t>(i);
    auto sums = norms.load(v);
    sums.add(static_cast<double>(x[i]), norms.factor[v]);
    norms.store(v, sums);
  }
}
OZB_MULTIVERSION void add_row(const double* x, Index count, Partial& norms) { add_to_each(x, count, norms); }
OZB_MULTIVERSION void add_row(const float* x, Index count, Partial& norms) { add_to_each(x, count, norms); }

/// Eight partial sums side by side. They are integers, whose order does not matter.
template <class T>
[[gnu::always_inline]] inline void add_to_one(const T* x, Index count, double factor, Sums& to) {
  constexpr Index lanes = 8;
  double sum[lanes] = {}, squares[lanes] = {}, floor_squares[lanes] = {}, max[lanes] = {}, last[lanes];
  for (double& bit : last) bit = infinity;
  Index l = 0;
  for (; l + lanes <= count; l += lanes)
    for (Index v = 0; v < lanes; ++v) {
      Sums sums{sum[v], squares[v], floor_squares[v], max[v], last[v]};
      sums.add(static_cast<double>(x[l + v]), factor);
      sum[v] = sums.sum, squares[v] = sums.squares, floor_squares[v] = sums.floor_squares;
      max[v] = sums.max, last[v] = sums.last;
    }
  for (Index v = 0; v < lanes; ++v) to.add({sum[v], squares[v], floor_squares[v], max[v], last[v]});
  for (; l < count; ++l) to.add(static_cast<double>(x[l]), factor);
}
OZB_MULTIVERSION void add_vector(const double* x, Index count, double factor, Sums& to) { add_to_one(x, count, factor, to); }
OZB_MULTIVERSION void add_vector(const float* x, Index count, double factor, Sums& to) { add_to_one(x, count, factor, to); }

void take(const Sums& sums, VectorNorms& found) {
  found.norms.add(IntegerNorms{static_cast<std::uint64_t>(sums.sum), static_cast<std::uint64_t>(sums.squares),
                               static_cast<std::uint64_t>(sums.max)});
  found.floor_squares += static_cast<std::uint64_t>(sums.floor_squares);
  if (sums.last < infinity) found.last_bit = std::min(found.last_bit, std::int32_t{std::ilogb(sums.last)});
}

/// Adds one vector, element by element.
template <class T>
void add_slowly(MatrixView<const T> vectors, Index i, int unit, VectorNorms& found) {
  for (Index l = 0; l < vectors.cols(); ++l) {
    const auto x = to_dyadic(vectors(i, l));
    if (x.magnitude == 0) continue;
    const int down = unit - x.exponent;
    const auto floor = down >= 64 ? 0 : down >= 0 ? x.magnitude >> down : x.magnitude << -down;
    const bool rest = down > 0 && (down >= 64 || (floor << down) != x.magnitude);
    found.norms.add(floor + (rest ? 1 : 0));
    found.floor_squares += floor * floor;
    found.last_bit = std::min(found.last_bit, std::int32_t{x.exponent + std::countr_zero(x.magnitude)});
  }
}

template <class T>
void measure(MatrixView<const T> vectors, VectorNorms* found) {
  const Index count = vectors.rows(), inner = vectors.cols();
  Partial part;
  const auto unit = [found](Index i) { return found[i].scale.exponent - IntegerNorms::fraction_bits; };
  const auto fast = [&](Index i) { return !found[i].scale.special && std::abs(unit(i)) <= most_factor; };
  for (Index i = 0; i < count; ++i) part.factor[static_cast<std::size_t>(i)] = fast(i) ? power_of_two(-unit(i)) : 0;
  const bool rows_of_elements = vectors.row_stride() == 1 && std::all_of(found, found + count, [](const VectorNorms& one) {
                                  return !one.scale.special;  // products of a special vector with 0 would be NaN
                                });
  for (Index start = 0; start < inner; start += most_squares) {
    const Index length = std::min(most_squares, inner - start);
    poll_cancelled();
    for (Index i = 0; i < count; ++i) part.start(static_cast<std::size_t>(i));
    if (rows_of_elements)
      for (Index l = start; l < start + length; ++l) add_row(&vectors(0, l), count, part);
    for (Index i = 0; i < count; ++i) {
      if (!fast(i)) continue;
      const auto v = static_cast<std::size_t>(i);
      auto sums = part.load(v);
      if (!rows_of_elements && vectors.col_stride() == 1)
        add_vector(&vectors(i, start), length, part.factor[v], sums);
      else if (!rows_of_elements)
        for (Index l = start; l < start + length; ++l) sums.add(static_cast<double>(vectors(i, l)), part.factor[v]);
      take(sums, found[i]);
    }
  }
  for (Index i = 0; i < count; ++i)
    if (!found[i].scale.special && !fast(i)) add_slowly(vectors, i, unit(i), found[i]);
}

}  // namespace

std::vector<VectorNorms> vector_norms(InputView operand, Side side, int threads) {
  const auto scales = vector_scales(operand, side, residue_measure.encoding, threads);
  const auto vectors = vectors_of(operand, side);
  const Index count = vectors.rows();
  std::vector<VectorNorms> found(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < found.size(); ++i) found[i].scale = scales[i];
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads) if (count > together)
  for (Index first = 0; first < count; first += together)
    failure.run([&] {
      const FloatEnvironment environment;
      const Index some = std::min(together, count - first);
      std::visit([&](const auto& typed) { measure(typed.block(first, 0, some, typed.cols()), found.data() + first); },
                 vectors.typed());
    });
  failure.rethrow();
  return found;
}

bool covers_first_digits(const std::vector<VectorNorms>& vectors, int bits) {
  return bits >= 7 || std::ranges::all_of(vectors, [bits](const VectorNorms& one) { return one.exact_bits() <= bits; });
}

std::vector<IntegerNorms> norms_of(const std::vector<VectorNorms>& vectors) {
  std::vector<IntegerNorms> norms;
  norms.reserve(vectors.size());
  for (const auto& vector : vectors) norms.push_back(vector.norms);
  return norms;
}

}  // namespace ozbound
