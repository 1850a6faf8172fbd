// SPDX-License-Identifier: BSD-3-Clause
#include "float_vectors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "ozbound/bounds/detail/magnitude_levels.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/detail/team_size.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

std::size_t index(Index i) { return static_cast<std::size_t>(i); }

constexpr Index tile_vectors = 16;  // vectors with contiguous elements across them: a cache line or two
constexpr Index block = 512;
constexpr int least_quick_scale = -890;  // ensures that subnormal numbers become 0

/// The 24 leading bits of |x| with its exponent, the part of a normal number that to_float_lower keeps, as an ordered integer.
std::int64_t leading_bits(double x) { return static_cast<std::int64_t>((bits_of(x) & ~binary64.sign) >> 29); }

/// to_float_lower of the magnitudes of many numbers. @pre scale >= least_quick_scale.
OZB_MULTIVERSION void to_floats_lower(const double* x, Index count, std::int64_t scale, float* out) {
  const std::int64_t bias = (1023 - 127 + scale) << 23;
  for (Index l = 0; l < count; ++l) {
    const auto bits = leading_bits(x[l]) - bias;
    out[l] = float_from_bits(static_cast<std::uint32_t>(bits >= std::int64_t{1} << 23 ? bits : 0));
  }
}

/// The same with a separate scale for each number.
OZB_MULTIVERSION void to_floats_lower(const double* x, Index count, const std::int64_t* scales, float* out) {
  for (Index l = 0; l < count; ++l) {
    const auto bits = leading_bits(x[l]) - ((1023 - 127 + scales[l]) << 23);
    out[l] = float_from_bits(static_cast<std::uint32_t>(bits >= std::int64_t{1} << 23 ? bits : 0));
  }
}

/// For element l of several vectors: raises their largest magnitude so far, and sets its place to l.
OZB_MULTIVERSION void raise_tops(const double* x, Index count, Index l, std::int64_t* tops, Index* places) {
  for (Index i = 0; i < count; ++i) {
    const auto bits = leading_bits(x[i]);
    places[i] = bits > tops[i] ? l : places[i];
    tops[i] = bits > tops[i] ? bits : tops[i];
  }
}

OZB_MULTIVERSION std::int64_t largest_of(const double* x, Index count) {
  std::int64_t top = 0;
  for (Index l = 0; l < count; ++l) {
    const auto bits = leading_bits(x[l]);
    top = top < bits ? bits : top;
  }
  return top;
}

using Copy = std::array<double, static_cast<std::size_t>(block)>;

/// At most `block` elements of a row of a matrix, as doubles: in place, or copied.
template <class T>
const double* doubles_of(MatrixView<const T> matrix, Index i, Index first, Index count, Copy& copy) {
  if constexpr (sizeof(T) == sizeof(double))
    if (matrix.col_stride() == 1) return &matrix(i, first);
  for (Index l = 0; l < count; ++l) copy[index(l)] = static_cast<double>(matrix(i, first + l));
  return copy.data();
}

/// The place of the largest element of a vector with contiguous elements.
template <class T>
Index place_along(MatrixView<const T> vectors, Index i) {
  Copy copy;
  std::int64_t top = 0;
  Index place = 0;
  for (Index l = 0; l < vectors.cols(); l += block) {
    const Index count = std::min(block, vectors.cols() - l);
    const double* x = doubles_of(vectors, i, l, count, copy);
    const auto largest = largest_of(x, count);
    if (largest <= top) continue;
    top = largest;
    place = l + (std::find_if(x, x + count, [top](double y) { return leading_bits(y) == top; }) - x);
  }
  return place;
}

/// The places for `count` <= block vectors from `first` on, whose elements with the same l are contiguous.
template <class T>
void places_across(MatrixView<const T> vectors, Index first, Index count, Index* places) {
  Copy copy;
  std::array<std::int64_t, static_cast<std::size_t>(block)> tops{};
  for (Index l = 0; l < vectors.cols(); ++l) {
    poll_cancelled();
    raise_tops(doubles_of(vectors.transposed(), l, first, count, copy), count, l, tops.data(), places);
  }
}

bool across(const InputView& vectors) {
  return std::visit([](const auto& view) { return view.row_stride() == 1 && view.col_stride() != 1; }, vectors.typed());
}

}  // namespace

FloatVectors::FloatVectors(InputView vectors, const std::vector<VectorScale>& scales, int threads)
    : vectors_(vectors), scales_(scales), tile_(across(vectors) ? tile_vectors : 1), places_(index(vectors.rows())) {
  const Index count = vectors.rows(), k = vectors.cols();
  elements_ = std::make_unique_for_overwrite<float[]>(index(count * k));
  made_ = std::make_unique<std::once_flag[]>(index((count + tile_ - 1) / tile_));
  const Index step = tile_ == 1 ? 1 : 64;
  const int team = team_size(threads, static_cast<double>(count) * static_cast<double>(k));
  FirstException failure;
  std::visit(
      [&](const auto& view) {
#pragma omp parallel for schedule(static) num_threads(team)
        for (Index i = 0; i < count; i += step)
          failure.run([&] {
            const FloatEnvironment environment;
            if (tile_ == 1)
              places_[index(i)] = place_along(view, i);
            else
              places_across(view, i, std::min(step, count - i), &places_[index(i)]);
          });
      },
      vectors.typed());
  failure.rethrow();
  for (Index i = 0; i < count; ++i) {
    poll_cancelled();
    if (scales_[index(i)].special || scales_[index(i)].exponent < least_quick_scale) places_[index(i)] = slow_place_of_top(i);
  }
}

/// The place by definition: from the elements that this class makes.
Index FloatVectors::slow_place_of_top(Index i) const {
  Index place = 0;
  float top = 0;
  for (Index l = 0; l < vectors_.cols(); ++l)
    if (const float x = element(i, l); x > top) top = x, place = l;
  return place;
}

float FloatVectors::element(Index i, Index l) const {
  const auto& scale = scales_[index(i)];
  return scale.special ? 0 : to_float_lower(vectors_.element(i, l), scale.exponent);
}

const float* FloatVectors::vector(Index i) const {
  std::call_once(made_[index(i / tile_)], [&] { make(i / tile_ * tile_); });
  return elements_.get() + i * vectors_.cols();
}

/// Makes the vectors of the tile that begins with `first`.
void FloatVectors::make(Index first) const {
  const Index last = std::min(first + tile_, vectors_.rows()), k = vectors_.cols();
  bool quick = true;
  for (Index i = first; i < last; ++i)
    quick = quick && !scales_[index(i)].special && scales_[index(i)].exponent >= least_quick_scale;
  auto* const out = elements_.get() + first * k;
  if (!quick) {
    for (Index i = first; i < last; ++i)
      for (Index l = 0; l < k; ++l) out[(i - first) * k + l] = element(i, l);
    return;
  }
  std::visit(
      [&](const auto& view) {
        Copy copy;
        if (tile_ == 1) {
          for (Index l = 0; l < k; l += block) {
            const Index count = std::min(block, k - l);
            to_floats_lower(doubles_of(view, first, l, count, copy), count, scales_[index(first)].exponent, out + l);
          }
          return;
        }
        std::array<std::int64_t, tile_vectors> exponents{};
        std::array<float, tile_vectors> row{};
        for (Index i = first; i < last; ++i) exponents[index(i - first)] = scales_[index(i)].exponent;
        for (Index l = 0; l < k; ++l) {
          to_floats_lower(doubles_of(view.transposed(), l, first, last - first, copy), last - first, exponents.data(),
                          row.data());
          for (Index i = 0; i < last - first; ++i) out[i * k + l] = row[index(i)];
        }
      },
      vectors_.typed());
}

}  // namespace ozbound
