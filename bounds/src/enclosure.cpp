// SPDX-License-Identifier: BSD-3-Clause
#include "magnitude_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "ozbound/bounds/detail/scaled.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/detail/team_size.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

std::size_t index(Index i) { return static_cast<std::size_t>(i); }

constexpr Encoding truncated{Encoding::Kind::truncated, 7};

// The first digits, floor(2^7 |x| / 2^e), as numbers: one balanced digit holds them exactly, since a row that is not zero has
// its largest in [64, 127], the weight 1. That is sliced faster than the numbers that they are digits of.

template <class T>
[[gnu::always_inline]] inline void take_first_digits(const T* x, Index count, double scale, float* digits) {
  for (Index l = 0; l < count; ++l)
    digits[l] = static_cast<float>(static_cast<std::int32_t>(std::fabs(static_cast<double>(x[l])) * scale));
}
template <class T>
[[gnu::always_inline]] inline void take_first_digits(const T* x, Index count, const double* scales, float* digits) {
  for (Index l = 0; l < count; ++l)
    digits[l] = static_cast<float>(static_cast<std::int32_t>(std::fabs(static_cast<double>(x[l])) * scales[l]));
}
OZB_MULTIVERSION void to_first_digits(const double* x, Index count, double scale, float* digits) {
  take_first_digits(x, count, scale, digits);
}
OZB_MULTIVERSION void to_first_digits(const float* x, Index count, double scale, float* digits) {
  take_first_digits(x, count, scale, digits);
}
OZB_MULTIVERSION void to_first_digits(const double* x, Index count, const double* scales, float* digits) {
  take_first_digits(x, count, scales, digits);
}
OZB_MULTIVERSION void to_first_digits(const float* x, Index count, const double* scales, float* digits) {
  take_first_digits(x, count, scales, digits);
}

float first_digit(Dyadic x, int exponent) {
  const int shift = exponent - 7 - x.exponent;
  return static_cast<float>(shift >= 64 ? 0 : shift >= 0 ? x.magnitude >> shift : x.magnitude << -shift);
}

/// 2^(7 - e) where it is far from overflow and underflow.
double digit_scale(const VectorScale& scale) { return std::ldexp(1.0, 7 - scale.exponent); }
bool quick(const VectorScale& scale) { return !scale.special && scale.exponent >= -900 && scale.exponent <= 900; }

/// The digits of a matrix whose lines are the vectors, or lie across them; vectors with specials are zero.
template <class T>
void find_first_digits(MatrixView<const T> lines, bool across, const std::vector<VectorScale>& scales, int threads,
                       MatrixView<float> digits) {
  const Index count = lines.cols();
  const bool all_quick = count > 0 && lines.col_stride() == 1 && std::all_of(scales.begin(), scales.end(), quick);
  std::vector<double> factors(all_quick ? scales.size() : 0);
  std::transform(scales.begin(), scales.begin() + static_cast<std::ptrdiff_t>(factors.size()), factors.begin(), digit_scale);
  FirstException failure;
#pragma omp parallel num_threads(team_size(threads, static_cast<double>(lines.rows()) * static_cast<double>(count)))
  {
    const FloatEnvironment environment;
#pragma omp for schedule(static)
    for (Index i = 0; i < lines.rows(); ++i)
      failure.run([&] {
        if (all_quick && across) to_first_digits(&lines(i, 0), count, factors.data(), &digits(i, 0));
        if (all_quick && !across) to_first_digits(&lines(i, 0), count, factors[index(i)], &digits(i, 0));
        for (Index j = 0; !all_quick && j < count; ++j) {
          const auto& scale = scales[index(across ? j : i)];
          digits(i, j) = scale.special ? 0 : first_digit(to_dyadic(lines(i, j)), scale.exponent);
        }
      });
  }
  failure.rethrow();
}

/// The slice of first digits, read in the order in which the operand lies.
SlicedMatrix first_slice(InputView operand, Side side, const std::vector<VectorScale>& scales, const Engine& engine) {
  const bool by_columns =
      std::visit([](const auto& view) { return view.row_stride() == 1 && view.col_stride() != 1; }, operand.typed());
  const auto lines = by_columns ? operand.transposed() : operand;
  const auto memory = std::make_unique_for_overwrite<float[]>(index(lines.rows() * lines.cols()));
  const MatrixView<float> digits(memory.get(), lines.rows(), lines.cols(), lines.cols(), 1);
  const bool across = by_columns == (side == Side::rows_of_a);
  std::visit([&](const auto& view) { find_first_digits(view, across, scales, engine.threads(), digits); }, lines.typed());
  const InputView found = MatrixView<const float>(digits);
  return engine.slice(by_columns ? found.transposed() : found, side, {Encoding::balanced(), 1});
}

/// The dot product of level 2, whatever the machine's vectors.
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

/// Sums of the first digits, which are not negative; 0 only for a vector of zeros, whose largest digit is at least 64.
std::vector<std::int64_t> digit_sums(const SlicedMatrix& sliced) {
  std::vector<std::int64_t> sums;
  for (Index i = 0; i < sliced.count(); ++i) sums.push_back(sliced.sum_of_digits(i, 1));
  return sums;
}

OZB_MULTIVERSION bool any_less(const std::int64_t* x, const std::int64_t* y, std::int64_t more, Index count) {
  std::int64_t any = 0;
  for (Index j = 0; j < count; ++j) any |= x[j] < y[j] + more ? 1 : 0;
  return any != 0;
}

OZB_MULTIVERSION std::int64_t largest_of(const std::int64_t* x, const std::int64_t* y, Index count) {
  std::int64_t largest = x[0] + y[0];
  for (Index j = 1; j < count; ++j) largest = x[j] + y[j] > largest ? x[j] + y[j] : largest;
  return largest;
}

OZB_MULTIVERSION std::int64_t least_of(const std::int64_t* x, Index count) {
  std::int64_t least = x[0];
  for (Index j = 1; j < count; ++j) least = x[j] < least ? x[j] : least;
  return least;
}

OZB_MULTIVERSION void to_lower(const std::int64_t* sums, Index count, double* lower) {
  for (Index j = 0; j < count; ++j) lower[j] = static_cast<double>(sums[j]) * 0x1p-14;
}

/// x |y| of many columns, at the row's largest element: elements of a row of B and the columns' scales.
OZB_MULTIVERSION void raise_to_products(double x, const double* y, const double* scales, Index count, double* lower) {
  for (Index j = 0; j < count; ++j) {
    const double product = x * (std::fabs(y[j]) * scales[j]);
    const double counted = product > 0x1p-80 ? product : 0;  // far above what underflow takes off a sum
    lower[j] = counted > lower[j] ? counted : lower[j];
  }
}

/// 2^-e of every vector, 0 where that is far from 1.
std::vector<double> inverse_scales(const std::vector<VectorScale>& scales) {
  std::vector<double> inverses;
  for (const auto& scale : scales) inverses.push_back(quick(scale) ? std::ldexp(1.0, -scale.exponent) : 0);
  return inverses;
}

/// top_of every element of every vector, contiguous; a vector with specials is zero. Into a vector with room for
/// them, as std::call_once must not throw under a sanitizer of threads; cut short where the call is cancelled.
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
      row_scales_(vector_scales(a, Side::rows_of_a, truncated, engine.threads())),
      column_scales_(vector_scales(b, Side::columns_of_b, truncated, engine.threads())),
      row_exponents_(exponents_of(row_scales_)),
      column_exponents_(exponents_of(column_scales_)),
      k_(a.cols()) {
  const int threads = engine.threads();
  const auto x = first_slice(a, Side::rows_of_a, row_scales_, engine);
  const auto y = first_slice(b, Side::columns_of_b, column_scales_, engine);
  sums_ = std::move(engine.group_sums(x, y, {x.slicing(), y.slicing(), 2, Accumulation::exact})[0]);
  row_sums_ = digit_sums(x), column_sums_ = digit_sums(y);
  find_looseness(threads);
  if (!loose_) return;
  x_.emplace(rows_of_a_, row_scales_, threads);
  y_.emplace(columns_of_b_, column_scales_, threads);
  inverse_column_scales_ = inverse_scales(column_scales_);
  x_tops_.reserve(index(rows() * k_)), y_tops_.reserve(index(cols() * k_));
}

/// Whether L < U / 2 anywhere: sum < rest, for integers far below 2^53; and the largest U.
void MagnitudeProduct::find_looseness(int threads) {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<std::int64_t> column_rests;
  for (const auto sum : column_sums_) column_rests.push_back(sum == 0 ? never : sum + k_);
  bool loose = false;
  std::int64_t largest = 0;
  const int team = team_size(threads, static_cast<double>(rows()) * static_cast<double>(cols()));
  FirstException failure;
#pragma omp parallel for schedule(static) num_threads(team) reduction(|| : loose) reduction(max : largest)
  for (Index i = 0; i < rows(); ++i)
    failure.run([&] {
      const auto row_sum = row_sums_[index(i)];
      if (row_sum == 0 || cols() == 0) return;
      loose = any_less(&sums_(i, 0), column_rests.data(), row_sum, cols()) || loose;
      largest = std::max(largest, largest_of(&sums_(i, 0), column_rests.data(), cols()) + row_sum);
    });
  failure.rethrow();
  loose_ = loose, largest_units_ = static_cast<std::uint64_t>(largest);
}

MagnitudeBounds MagnitudeProduct::level_one(Index i, Index j) const {
  return ozbound::level_one(static_cast<std::uint64_t>(sums_(i, j)), static_cast<std::uint64_t>(row_sums_[index(i)]),
                            static_cast<std::uint64_t>(column_sums_[index(j)]), k_);
}

MagnitudeBounds MagnitudeProduct::at(Index i, Index j) const {
  auto bounds = level_one(i, j);
  if (loose_) bounds = level_two(bounds, float_dot(x_->vector(i), y_->vector(j), k_), k_);
  return unsettled(bounds) ? settled(i, j, bounds) : bounds;
}

MagnitudeBounds MagnitudeProduct::settled(Index i, Index j, const MagnitudeBounds& bounds) const {
  std::call_once(tops_found_, [this] {
    append_tops(rows_of_a_, row_scales_, x_tops_);
    append_tops(columns_of_b_, column_scales_, y_tops_);
  });
  if (x_tops_.size() < index(rows() * k_) || y_tops_.size() < index(cols() * k_)) throw Cancelled();
  const auto *x = x_tops_.data() + i * k_, *y = y_tops_.data() + j * k_;
  std::int32_t top = 2 * no_top;
  for (Index l = 0; l < k_; ++l) top = std::max(top, x[l] + y[l]);
  return ozbound::settled(bounds, top, std::int64_t{row_exponents_[index(i)]} + column_exponents_[index(j)], k_);
}

// float_dot adds numbers that are not negative, and rounding is monotone: it is no smaller than any of its terms.
double MagnitudeProduct::cheap_lower(Index i, Index j) const {
  const double lower = level_one(i, j).lower;
  if (!loose_) return lower;
  const Index p = x_->place_of_top(i), q = y_->place_of_top(j);
  const auto product = [&](Index l) { return x_->element(i, l) * y_->element(j, l); };
  return std::max(lower, level_two_lower(static_cast<double>(std::max(product(p), product(q))), k_));
}

double MagnitudeProduct::cheap_lower(Index i, Index first, Index count) const {
  return to_double_lower(static_cast<std::uint64_t>(least_of(&sums_(i, first), count))) * 0x1p-14;
}

// A term of the FP32 product is at most the product of the elements, and the sum is deflated by 1 + 2^-13: both, and the
// roundings here, are within a factor 1 + 2^-12.
void MagnitudeProduct::estimate_lower(Index i, Index first, Index count, double* lower) const {
  to_lower(&sums_(i, first), count, lower);
  if (!loose_) return;
  const Index top = x_->place_of_top(i);
  std::array<double, static_cast<std::size_t>(most_columns)> copy;
  raise_to_products(static_cast<double>(x_->element(i, top)), row_of_b(top, first, count, copy.data()),
                    inverse_column_scales_.data() + first, count, lower);
}

/// Some elements of a row of B, where they lie or in `copy`.
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
  result.levels = loose_ ? std::max(levels, 2) : levels;
  return result;
}

Enclosure enclose_product(InputView a, InputView b, const Engine& engine) {
  const FloatEnvironment environment;
  return MagnitudeProduct(a, b, engine).enclosure(engine.threads());
}

}  // namespace ozbound
