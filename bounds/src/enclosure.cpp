// SPDX-License-Identifier: BSD-3-Clause
#include "magnitude_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "ozbound/bounds/detail/wide_range_double.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/detail/team_size.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

std::size_t index(Index i) { return static_cast<std::size_t>(i); }

bool quick(const VectorScale& scale) { return !scale.special && scale.exponent >= -900 && scale.exponent <= 900; }

/// The dot product of level 2, for any vector length of the machine.
OZB_MULTIVERSION double float_dot(const float* x, const float* y, Index length) {
  constexpr std::size_t lanes = dot_lanes;
  double total = 0;
  for (Index start = 0; start < length; start += dot_block) {
    const Index end = std::min(length, start + dot_block);
    std::array<float, lanes> sums{};
    Index l = start;
    for (; l + static_cast<Index>(lanes) <= end; l += static_cast<Index>(lanes))
      for (std::size_t lane = 0; lane < lanes; ++lane)
        sums[lane] += x[l + static_cast<Index>(lane)] * y[l + static_cast<Index>(lane)];
    for (; l < end; ++l) sums[0] += x[l] * y[l];
    float sum = 0;
    for (const float lane : sums) sum += lane;
    total += static_cast<double>(sum);
  }
  return total;
}

std::vector<std::int32_t> exponents_of(const std::vector<VectorScale>& scales) {
  std::vector<std::int32_t> exponents;
  for (const auto& scale : scales) exponents.push_back(scale.exponent);
  return exponents;
}

OZB_MULTIVERSION std::int64_t least_of(const std::int64_t* x, Index count) {
  std::int64_t least = x[0];
  for (Index j = 1; j < count; ++j) least = x[j] < least ? x[j] : least;
  return least;
}

OZB_MULTIVERSION void to_lower(const std::int64_t* sums, Index count, double* lower) {
  for (Index j = 0; j < count; ++j) lower[j] = static_cast<double>(sums[j]) * 0x1p-14;
}

/// Raises the lower bounds of many columns by x |y|, at the row's largest element x. y are elements of a row of B, times the
/// columns' scales.
OZB_MULTIVERSION void raise_to_products(double x, const double* y, const double* scales, Index count, double* lower) {
  for (Index j = 0; j < count; ++j) {
    const double product = x * (std::fabs(y[j]) * scales[j]);
    const double counted = product > 0x1p-80 ? product : 0;  // far above the loss of a sum by underflow
    lower[j] = counted > lower[j] ? counted : lower[j];
  }
}

/// 2^-e of every vector; 0 if it is far from 1.
std::vector<double> inverse_scales(const std::vector<VectorScale>& scales) {
  std::vector<double> inverses;
  for (const auto& scale : scales) inverses.push_back(quick(scale) ? std::ldexp(1.0, -scale.exponent) : 0);
  return inverses;
}

/// Appends top_of every element of every vector, contiguously; a vector with specials counts as zero. `result` must have room,
/// since std::call_once must not throw under the thread sanitizer. Stops early if the call is cancelled.
void append_tops(InputView vectors, const std::vector<VectorScale>& scales, std::vector<std::int32_t>& result) {
  for (Index i = 0; i < vectors.rows() && !cancel_requested(); ++i)
    for (Index l = 0; l < vectors.cols(); ++l)
      result.push_back(scales[index(i)].special ? no_top : top_of(vectors.element(i, l)));
}

}  // namespace

MagnitudeProduct::MagnitudeProduct(InputView a, InputView b, const Engine& engine)
    : b_(b),
      rows_of_a_(vectors_of(a, Side::rows_of_a)),
      columns_of_b_(vectors_of(b, Side::columns_of_b)),
      first_(a, b, engine),
      row_exponents_(exponents_of(first_.row_scales)),
      column_exponents_(exponents_of(first_.column_scales)),
      k_(a.cols()) {
  if (!first_.loose) return;
  const int threads = engine.threads();
  x_.emplace(rows_of_a_, first_.row_scales, threads);
  y_.emplace(columns_of_b_, first_.column_scales, threads);
  inverse_column_scales_ = inverse_scales(first_.column_scales);
  x_tops_.reserve(index(rows() * k_)), y_tops_.reserve(index(cols() * k_));
}

MagnitudeBounds MagnitudeProduct::level_one(Index i, Index j) const {
  return ozbound::level_one(static_cast<std::uint64_t>(first_.sums(i, j)),
                            static_cast<std::uint64_t>(first_.row_sums[index(i)]),
                            static_cast<std::uint64_t>(first_.column_sums[index(j)]), k_);
}

MagnitudeBounds MagnitudeProduct::at(Index i, Index j) const {
  auto bounds = level_one(i, j);
  if (first_.loose) bounds = level_two(bounds, float_dot(x_->vector(i), y_->vector(j), k_), k_);
  return unsettled(bounds) ? settled(i, j, bounds) : bounds;
}

MagnitudeBounds MagnitudeProduct::settled(Index i, Index j, const MagnitudeBounds& bounds) const {
  std::call_once(tops_found_, [this] {
    append_tops(rows_of_a_, first_.row_scales, x_tops_);
    append_tops(columns_of_b_, first_.column_scales, y_tops_);
  });
  if (x_tops_.size() < index(rows() * k_) || y_tops_.size() < index(cols() * k_)) throw Cancelled();
  const auto *x = x_tops_.data() + i * k_, *y = y_tops_.data() + j * k_;
  std::int32_t top = 2 * no_top;
  for (Index l = 0; l < k_; ++l) top = std::max(top, x[l] + y[l]);
  return ozbound::settled(bounds, top, std::int64_t{row_exponents_[index(i)]} + column_exponents_[index(j)], k_);
}

// float_dot adds non-negative numbers, and rounding is monotone, so that the sum is no smaller than any of its terms.
double MagnitudeProduct::cheap_lower(Index i, Index j) const {
  const double lower = level_one(i, j).lower;
  if (!first_.loose) return lower;
  const Index p = x_->place_of_top(i), q = y_->place_of_top(j);
  const auto product = [&](Index l) { return x_->element(i, l) * y_->element(j, l); };
  return std::max(lower, level_two_lower(static_cast<double>(std::max(product(p), product(q))), k_));
}

double MagnitudeProduct::cheap_lower(Index i, Index first, Index count) const {
  return to_double_lower(static_cast<std::uint64_t>(least_of(&first_.sums(i, first), count))) * 0x1p-14;
}

// A term of the FP32 product is at most the product of the elements, and the sum is deflated by 1 + 2^-13. Both, and the
// roundings in this function, stay within a factor 1 + 2^-12.
void MagnitudeProduct::estimate_lower(Index i, Index first, Index count, double* lower) const {
  to_lower(&first_.sums(i, first), count, lower);
  if (!first_.loose) return;
  const Index top = x_->place_of_top(i);
  std::array<double, static_cast<std::size_t>(most_columns)> copy;
  raise_to_products(static_cast<double>(x_->element(i, top)), row_of_b(top, first, count, copy.data()),
                    inverse_column_scales_.data() + first, count, lower);
}

/// Some elements of a row of B, in place or in `copy`.
const double* MagnitudeProduct::row_of_b(Index l, Index first, Index count, double* copy) const {
  const auto* doubles = std::get_if<0>(&b_.typed());
  if (doubles != nullptr && doubles->col_stride() == 1) return &(*doubles)(l, first);
  for (Index j = 0; j < count; ++j) copy[j] = double_from_bits(b_.bits(l, first + j));
  return copy;
}

Enclosure MagnitudeProduct::enclosure(int threads) const {
  Enclosure result{Matrix<double>(rows(), cols()), Matrix<double>(rows(), cols()), row_exponents_, column_exponents_};
  int levels = 1;
  FirstException failure;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads) reduction(max : levels)
  for (Index i = 0; i < rows(); ++i)
    failure.run([&] {
      const FloatEnvironment environment;
      for (Index j = 0; j < cols(); ++j) {
        poll_cancelled();
        const auto bounds = at(i, j);
        result.lower(i, j) = bounds.lower, result.upper(i, j) = bounds.upper;
        levels = std::max(levels, bounds.levels);
      }
    });
  failure.rethrow();
  result.levels = first_.loose ? std::max(levels, 2) : levels;
  return result;
}

Enclosure enclose_product(InputView a, InputView b, const Engine& engine) {
  const FloatEnvironment environment;
  return MagnitudeProduct(a, b, engine).enclosure(engine.threads());
}

}  // namespace ozbound
