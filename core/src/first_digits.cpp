// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/first_digits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <variant>

#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/detail/team_size.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

std::size_t index(Index i) { return static_cast<std::size_t>(i); }

constexpr Encoding truncated{Encoding::Kind::truncated, 7};

// The first digits, floor(2^7 |x| / 2^e), as numbers. One balanced digit holds them exactly: the largest one of a non-zero row
// lies in [64, 127] and has the weight 1. Slicing the digits is faster than slicing the original numbers.

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

/// 2^(7 - e), for e far from overflow and underflow.
double digit_scale(const VectorScale& scale) { return std::ldexp(1.0, 7 - scale.exponent); }
bool quick(const VectorScale& scale) { return !scale.special && scale.exponent >= -900 && scale.exponent <= 900; }

/// Finds the digits of a matrix. Its lines are the vectors, or lie across them. Vectors with specials become zero.
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

/// The slice of first digits. Reads the operand in its order in memory.
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

/// Sums of the first digits, which are not negative. A sum is 0 only for a zero vector, since the largest digit of any other
/// vector is at least 64.
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

}  // namespace

FirstDigitSums::FirstDigitSums(InputView a, InputView b, const Engine& engine)
    : row_scales(vector_scales(a, Side::rows_of_a, truncated, engine.threads())),
      column_scales(vector_scales(b, Side::columns_of_b, truncated, engine.threads())) {
  const auto x = first_slice(a, Side::rows_of_a, row_scales, engine);
  const auto y = first_slice(b, Side::columns_of_b, column_scales, engine);
  sums = std::move(engine.group_sums(x, y, {x.slicing(), y.slicing(), 2, Accumulation::exact})[0]);
  row_sums = digit_sums(x), column_sums = digit_sums(y);
  compare(a.cols(), engine.threads());
}

/// Finds if S < U / 2 for some entry (sum < rest, for integers far below 2^53), and the largest U.
void FirstDigitSums::compare(Index k, int threads) {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 2;
  const Index rows = sums.rows(), columns = sums.cols();
  std::vector<std::int64_t> column_rests;
  for (const auto sum : column_sums) column_rests.push_back(sum == 0 ? never : sum + k);
  bool any_loose = false;
  std::int64_t largest = 0;
  FirstException failure;
#pragma omp parallel for schedule(static) reduction(|| : any_loose) reduction(max : largest) \
    num_threads(team_size(threads, static_cast<double>(rows) * static_cast<double>(columns)))
  for (Index i = 0; i < rows; ++i)
    failure.run([&] {
      const auto row_sum = row_sums[index(i)];
      if (row_sum == 0 || columns == 0) return;
      any_loose = any_less(&sums(i, 0), column_rests.data(), row_sum, columns) || any_loose;
      largest = std::max(largest, largest_of(&sums(i, 0), column_rests.data(), columns) + row_sum);
    });
  failure.rethrow();
  loose = any_loose, largest_units = static_cast<std::uint64_t>(largest);
}

}  // namespace ozbound
