// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/vector_norms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/residue_plan.hpp"

namespace ozbound {
namespace {

constexpr Index together = 512;          ///< vectors, of which as many elements may lie in a row
constexpr Index most_squares = 1 << 20;  ///< integers up to 2^16, whose squares' sum a double holds
constexpr int most_factor = 1000;        ///< of 2^e that takes elements to units: then neither is subnormal

/// ceil(|x| factor), at most 2^16: of what underflows 1.
[[gnu::always_inline]] inline double units_of(double x, double factor) {
  const double scaled = std::fabs(x) * factor, nearest = scaled + 0x1p52 - 0x1p52;
  const double above = nearest < scaled ? nearest + 1 : nearest;
  return above < 1 && x != 0 ? 1 : above;
}

/// Norms of some vectors so far, in doubles that are integers.
struct Partial {
  std::array<double, together> factor{}, sum{}, squares{}, max{};
};

template <class T>
[[gnu::always_inline]] inline void add_to_each(const T* x, Index count, Partial& norms) {
  for (Index i = 0; i < count; ++i) {
    const auto v = static_cast<std::size_t>(i);
    const double units = units_of(static_cast<double>(x[i]), norms.factor[v]);
    norms.sum[v] += units;
    norms.squares[v] += units * units;
    norms.max[v] = norms.max[v] < units ? units : norms.max[v];
  }
}
OZB_MULTIVERSION void add_row(const double* x, Index count, Partial& norms) { add_to_each(x, count, norms); }
OZB_MULTIVERSION void add_row(const float* x, Index count, Partial& norms) { add_to_each(x, count, norms); }

/// Eight sums side by side: integers, whose order does not matter.
template <class T>
[[gnu::always_inline]] inline void add_to_one(const T* x, Index count, double factor, double* sum, double* squares,
                                              double* max) {
  constexpr Index lanes = 8;
  double sums[lanes] = {}, all_squares[lanes] = {}, largest[lanes] = {};
  Index l = 0;
  for (; l + lanes <= count; l += lanes)
    for (Index v = 0; v < lanes; ++v) {
      const double units = units_of(static_cast<double>(x[l + v]), factor);
      sums[v] += units;
      all_squares[v] += units * units;
      largest[v] = largest[v] < units ? units : largest[v];
    }
  for (Index v = 0; l + v < count; ++v) {
    const double units = units_of(static_cast<double>(x[l + v]), factor);
    sums[v] += units;
    all_squares[v] += units * units;
    largest[v] = largest[v] < units ? units : largest[v];
  }
  for (Index v = 0; v < lanes; ++v) *sum += sums[v], *squares += all_squares[v], *max = std::max(*max, largest[v]);
}
OZB_MULTIVERSION void add_vector(const double* x, Index count, double factor, double* sum, double* squares, double* max) {
  add_to_one(x, count, factor, sum, squares, max);
}
OZB_MULTIVERSION void add_vector(const float* x, Index count, double factor, double* sum, double* squares, double* max) {
  add_to_one(x, count, factor, sum, squares, max);
}

void flush(Partial& part, Index i, IntegerNorms& norms) {
  const auto v = static_cast<std::size_t>(i);
  norms.add(IntegerNorms{static_cast<std::uint64_t>(part.sum[v]), static_cast<std::uint64_t>(part.squares[v]),
                         static_cast<std::uint64_t>(part.max[v])});
  part.sum[v] = part.squares[v] = part.max[v] = 0;
}

/// One vector, element by element.
template <class T>
void add_slowly(MatrixView<const T> vectors, Index i, int unit, IntegerNorms& norms) {
  for (Index l = 0; l < vectors.cols(); ++l) {
    const auto x = to_dyadic(vectors(i, l));
    if (x.magnitude == 0) continue;
    const int down = unit - x.exponent;
    const auto floor = down >= 64 ? 0 : down >= 0 ? x.magnitude >> down : x.magnitude << -down;
    const bool rest = down > 0 && (down >= 64 || (floor << down) != x.magnitude);
    norms.add(floor + (rest ? 1 : 0));
  }
}

template <class T>
void measure(MatrixView<const T> vectors, const VectorScale* scales, IntegerNorms* norms) {
  const Index count = vectors.rows(), inner = vectors.cols();
  Partial part;
  const auto unit = [scales](Index i) { return scales[i].exponent - IntegerNorms::fraction_bits; };
  const auto fast = [&](Index i) { return !scales[i].special && std::abs(unit(i)) <= most_factor; };
  for (Index i = 0; i < count; ++i) part.factor[static_cast<std::size_t>(i)] = fast(i) ? power_of_two(-unit(i)) : 0;
  const bool rows_of_elements = vectors.row_stride() == 1 && std::all_of(scales, scales + count, [](const VectorScale& scale) {
                                  return !scale.special;  // whose products with 0 would be NaN
                                });
  for (Index start = 0; start < inner; start += most_squares) {
    const Index length = std::min(most_squares, inner - start);
    poll_cancelled();
    if (rows_of_elements)
      for (Index l = start; l < start + length; ++l) add_row(&vectors(0, l), count, part);
    for (Index i = 0; i < count; ++i) {
      const auto v = static_cast<std::size_t>(i);
      if (!fast(i)) {
        part.sum[v] = part.squares[v] = part.max[v] = 0;
        continue;
      }
      if (!rows_of_elements && vectors.col_stride() == 1)
        add_vector(&vectors(i, start), length, part.factor[v], &part.sum[v], &part.squares[v], &part.max[v]);
      else if (!rows_of_elements)
        for (Index l = start; l < start + length; ++l) {
          const auto one = vectors(i, l);
          add_vector(&one, 1, part.factor[v], &part.sum[v], &part.squares[v], &part.max[v]);
        }
      flush(part, i, norms[i]);
    }
  }
  for (Index i = 0; i < count; ++i)
    if (!scales[i].special && !fast(i)) add_slowly(vectors, i, unit(i), norms[i]);
}

}  // namespace

std::vector<IntegerNorms> vector_norms(InputView operand, Side side, int threads) {
  const auto scales = vector_scales(operand, side, residue_measure.encoding, threads);
  const auto vectors = vectors_of(operand, side);
  const Index count = vectors.rows();
  std::vector<IntegerNorms> norms(static_cast<std::size_t>(count));
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(threads) if (count > together)
  for (Index first = 0; first < count; first += together)
    failure.run([&] {
      const FloatEnvironment environment;
      const Index some = std::min(together, count - first);
      std::visit(
          [&](const auto& typed) {
            measure(typed.block(first, 0, some, typed.cols()), scales.data() + first, norms.data() + first);
          },
          vectors.typed());
    });
  failure.rethrow();
  return norms;
}

}  // namespace ozbound
