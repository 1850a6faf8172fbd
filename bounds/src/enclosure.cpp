#include "magnitude_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ozbound/bounds/scaled.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/multiversion.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {
namespace {

std::size_t index(Index i) { return static_cast<std::size_t>(i); }

constexpr int least_quick_scale = -890;
constexpr Encoding truncated{Encoding::Kind::truncated, 7};

/// |x| of every element; vectors with specials become zero.
Matrix<double> magnitudes(InputView operand, Side side, const std::vector<VectorScale>& scales, int threads) {
  Matrix<double> result(operand.rows(), operand.cols());
  const auto special = [&scales](Index i) { return scales[index(i)].special; };
  std::visit(
      [&](const auto& typed) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (Index i = 0; i < result.rows(); ++i) {
          if (side == Side::rows_of_a && special(i)) continue;
          const FloatEnvironment environment;
          for (Index j = 0; j < result.cols(); ++j) result(i, j) = static_cast<double>(std::abs(typed(i, j)));
        }
      },
      operand.typed());
  for (Index j = 0; side == Side::columns_of_b && j < result.cols(); ++j)
    for (Index i = 0; special(j) && i < result.rows(); ++i) result(i, j) = 0;
  return result;
}

// The first digits, floor(2^7 |x| / 2^e), as numbers: one balanced digit holds them exactly, since a row that is not zero has
// its largest in [64, 127], the weight 1. That is sliced faster than the numbers that they are digits of.

OZB_MULTIVERSION void to_first_digits(const double* x, Index count, double scale, float* digits) {
  for (Index l = 0; l < count; ++l) digits[l] = static_cast<float>(static_cast<std::int32_t>(std::fabs(x[l]) * scale));
}
OZB_MULTIVERSION void to_first_digits(const double* x, Index count, const double* scales, float* digits) {
  for (Index j = 0; j < count; ++j) digits[j] = static_cast<float>(static_cast<std::int32_t>(std::fabs(x[j]) * scales[j]));
}

float first_digit(Dyadic x, int exponent) {
  const int shift = exponent - 7 - x.exponent;
  return static_cast<float>(shift >= 64 ? 0 : shift >= 0 ? x.magnitude >> shift : x.magnitude << -shift);
}

/// 2^(7 - e) where it is far from overflow and underflow.
double digit_scale(std::int32_t exponent) { return std::ldexp(1.0, 7 - exponent); }
bool moderate(std::int32_t exponent) { return exponent >= -900 && exponent <= 900; }

/// @pre `operand` is finite, its rows are contiguous.
Matrix<float> first_digits(MatrixView<const double> operand, Side side, const std::vector<std::int32_t>& exponents,
                           int threads) {
  Matrix<float> digits(operand.rows(), operand.cols());
  const bool rows = side == Side::rows_of_a;
  const bool all_moderate = std::all_of(exponents.begin(), exponents.end(), moderate);
  std::vector<double> scales;
  for (const auto exponent : exponents) scales.push_back(all_moderate ? digit_scale(exponent) : 0);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < digits.rows(); ++i) {
    const FloatEnvironment environment;
    const Index count = digits.cols();
    if (count > 0 && all_moderate && rows) to_first_digits(&operand(i, 0), count, scales[index(i)], &digits(i, 0));
    if (count > 0 && all_moderate && !rows) to_first_digits(&operand(i, 0), count, scales.data(), &digits(i, 0));
    for (Index j = 0; !all_moderate && j < count; ++j)
      digits(i, j) = first_digit(to_dyadic(operand(i, j)), exponents[index(rows ? i : j)]);
  }
  return digits;
}

/// x * 2^-scale rounded towards zero to binary32, for 0 <= x < 2^scale; what is below 2^-126 becomes 0.
float to_float_lower(Dyadic x, int scale) {
  if (x.magnitude == 0) return 0;
  const int length = bit_length(x.magnitude);
  const int top = x.top_exponent() - scale;
  if (top < -126) return 0;
  const auto significand = length > 24 ? x.magnitude >> (length - 24) : x.magnitude << (24 - length);
  return float_from_bits((static_cast<std::uint64_t>(top + 126) << 23) + significand);
}

/// to_float_lower of many numbers. @pre scale >= -890, so that subnormal numbers become 0.
OZB_MULTIVERSION void to_floats_lower(const double* x, Index count, std::int64_t scale, float* out) {
  const std::int64_t bias = (1023 - 127 + scale) << 23;
  for (Index l = 0; l < count; ++l) {
    const auto bits = static_cast<std::int64_t>(bits_of(x[l]) >> 29) - bias;
    out[l] = float_from_bits(static_cast<std::uint32_t>(bits >= std::int64_t{1} << 23 ? bits : 0));
  }
}

/// The same, each number with a scale of its own.
OZB_MULTIVERSION void to_floats_lower(const double* x, Index count, const std::int64_t* scales, float* out) {
  for (Index l = 0; l < count; ++l) {
    const auto bits = static_cast<std::int64_t>(bits_of(x[l]) >> 29) - ((1023 - 127 + scales[l]) << 23);
    out[l] = float_from_bits(static_cast<std::uint32_t>(bits >= std::int64_t{1} << 23 ? bits : 0));
  }
}

/// All vectors of an operand, contiguous, scaled to magnitudes below 1 and rounded towards zero.
std::vector<float> scaled_rows(const Matrix<double>& a, const std::vector<std::int32_t>& exponents, int threads) {
  const Index k = a.cols();
  std::vector<float> result(index(a.rows() * k));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < a.rows(); ++i) {
    const auto scale = exponents[index(i)];
    auto* const out = result.data() + i * k;
    if (scale >= least_quick_scale)
      to_floats_lower(&a(i, 0), k, std::int64_t{scale}, out);
    else
      for (Index l = 0; l < k; ++l) out[l] = to_float_lower(to_dyadic(a(i, l)), scale);
  }
  return result;
}

std::vector<float> scaled_columns(const Matrix<double>& b, const std::vector<std::int32_t>& exponents, int threads) {
  constexpr Index tile = 16;
  const Index k = b.rows();
  std::vector<float> result(index(b.cols() * k));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index first = 0; first < b.cols(); first += tile) {
    const Index count = std::min(tile, b.cols() - first);
    std::array<std::int64_t, tile> scales{};
    std::copy_n(exponents.begin() + first, count, scales.begin());
    const bool quick = *std::min_element(scales.begin(), scales.begin() + count) >= least_quick_scale;
    std::array<float, tile> row{};
    for (Index l = 0; l < k; ++l) {
      if (quick)
        to_floats_lower(&b(l, first), count, scales.data(), row.data());
      else
        for (Index j = 0; j < count; ++j)
          row[index(j)] = to_float_lower(to_dyadic(b(l, first + j)), static_cast<int>(scales[index(j)]));
      for (Index j = 0; j < count; ++j) result[index((first + j) * k + l)] = row[index(j)];
    }
  }
  return result;
}

/// sum_l x_l y_l in FP32, blocks of 1024 summed in FP64; every sum in a fixed order, whatever the vector length.
OZB_MULTIVERSION double float_dot(const float* x, const float* y, Index length) {
  constexpr Index block = 1024;
  constexpr std::size_t lanes = 16;
  double total = 0;
  for (Index start = 0; start < length; start += block) {
    const Index end = std::min(length, start + block);
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

// Each term of float_dot meets at most 1024 roundings of 2^-24 and k / 1024 + 1 of 2^-53, together below 1 + 2^-13 for
// k < 2^40; its product underflows by at most 2^-149. (docs/derivations/enclosure.md)
constexpr double dot_error = 0x1p-13;

double level_two_lower(double dot, Index k) {
  const double sum = subtract_lower(dot, multiply_upper(static_cast<double>(k), 0x1p-149));
  return divide_lower(sum, 1 + dot_error);
}

/// Operands rounded towards zero lose a factor 1 + 2^-23 each, and up to 2^-126 where they became 0.
double level_two_upper(double dot, Index k) {
  const double sum = add_upper(dot, multiply_upper(static_cast<double>(k), 0x1p-149));
  return add_upper(multiply_upper(sum, 1 + 2 * dot_error), multiply_upper(static_cast<double>(k), 0x1p-124));
}

std::vector<std::int32_t> exponents_of(const std::vector<VectorScale>& scales) {
  std::vector<std::int32_t> exponents;
  for (const auto& scale : scales) exponents.push_back(scale.exponent);
  return exponents;
}

std::vector<char> specials_of(const std::vector<VectorScale>& scales) {
  std::vector<char> specials;
  for (const auto& scale : scales) specials.push_back(scale.special ? 1 : 0);
  return specials;
}

bool none_special(const std::vector<VectorScale>& scales) {
  return std::none_of(scales.begin(), scales.end(), [](const VectorScale& scale) { return scale.special; });
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

OZB_MULTIVERSION std::int64_t least_of(const std::int64_t* x, Index count) {
  std::int64_t least = x[0];
  for (Index j = 1; j < count; ++j) least = x[j] < least ? x[j] : least;
  return least;
}

OZB_MULTIVERSION void to_lower(const std::int64_t* sums, Index count, double* lower) {
  for (Index j = 0; j < count; ++j) lower[j] = static_cast<double>(sums[j]) * 0x1p-14;
}

/// x_l y_l of many columns, at the row's largest element l: elements of a row of B and the columns' scales.
OZB_MULTIVERSION void raise_to_products(double x, const double* y, const double* scales, Index count, double* lower) {
  for (Index j = 0; j < count; ++j) {
    const double product = x * (y[j] * scales[j]);
    const double counted = product > 0x1p-80 ? product : 0;  // far above what underflow takes off a sum
    lower[j] = counted > lower[j] ? counted : lower[j];
  }
}

/// Where every vector is largest.
std::vector<Index> places_of_tops(const std::vector<float>& vectors, Index count, Index k, int threads) {
  std::vector<Index> places(index(count));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < count; ++i) {
    const auto* vector = vectors.data() + i * k;
    places[index(i)] = std::max_element(vector, vector + k) - vector;
  }
  return places;
}

constexpr std::int32_t no_top = -100000;  // of a zero: far below every sum of two real ones

/// floor(log2 |x|) of every element of every vector, contiguous. Into a vector with room for them, as a thread must not throw.
void append_tops(InputView operand, Side side, std::vector<std::int32_t>& result) {
  const auto vectors = vectors_of(operand, side);
  for (Index i = 0; i < vectors.rows(); ++i)
    for (Index l = 0; l < vectors.cols(); ++l) {
      const auto x = vectors.element(i, l);
      result.push_back(x.magnitude == 0 ? no_top : x.top_exponent());
    }
}

}  // namespace

MagnitudeProduct::MagnitudeProduct(InputView a, InputView b, const Engine& engine) : k_(a.cols()) {
  const int threads = engine.threads();
  const auto a_scales = vector_scales(a, Side::rows_of_a, truncated, threads);
  const auto b_scales = vector_scales(b, Side::columns_of_b, truncated, threads);
  row_exponents_ = exponents_of(a_scales), column_exponents_ = exponents_of(b_scales);
  special_rows_ = specials_of(a_scales), special_columns_ = specials_of(b_scales);
  constexpr Slicing digit{Encoding::balanced(), 1};
  const auto first_slice = [&](InputView operand, Side side, const auto& scales, const auto& exponents, Matrix<double>& copy) {
    const auto* view = std::get_if<0>(&operand.typed());
    const bool as_it_is = view != nullptr && view->col_stride() == 1 && none_special(scales);
    if (!as_it_is) copy = magnitudes(operand, side, scales, threads);
    return engine.slice(first_digits(as_it_is ? *view : std::as_const(copy).view(), side, exponents, threads), side, digit);
  };
  const auto x = first_slice(a, Side::rows_of_a, a_scales, row_exponents_, a_);
  const auto y = first_slice(b, Side::columns_of_b, b_scales, column_exponents_, b_);
  sums_ = std::move(engine.group_sums(x, y, {digit, digit, 2, Accumulation::exact})[0]);
  row_sums_ = digit_sums(x), column_sums_ = digit_sums(y);
  loose_ = find_looseness(threads);
  if (!loose_) return;
  if (a_.rows() == 0) a_ = magnitudes(a, Side::rows_of_a, a_scales, threads);
  if (b_.rows() == 0) b_ = magnitudes(b, Side::columns_of_b, b_scales, threads);
  x_tops_.reserve(index(rows() * k_)), y_tops_.reserve(index(cols() * k_));
  x_ = scaled_rows(a_, row_exponents_, threads);
  y_ = scaled_columns(b_, column_exponents_, threads);
  for (const auto exponent : column_exponents_)
    column_scales_.push_back(exponent < -900 || exponent > 900 ? 0 : std::ldexp(1.0, -exponent));
  top_of_x_ = places_of_tops(x_, rows(), k_, threads);
  top_of_y_ = places_of_tops(y_, cols(), k_, threads);
}

/// Whether L < U / 2 anywhere: sum < rest, for integers far below 2^53.
bool MagnitudeProduct::find_looseness(int threads) const {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<std::int64_t> column_rests;
  for (const auto sum : column_sums_) column_rests.push_back(sum == 0 ? never : sum + k_);
  bool loose = false;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(|| : loose)
  for (Index i = 0; i < rows(); ++i)
    if (row_sums_[index(i)] != 0 && cols() > 0)
      loose = any_less(&sums_(i, 0), column_rests.data(), row_sums_[index(i)], cols()) || loose;
  return loose;
}

MagnitudeProduct::Bounds MagnitudeProduct::level_one(Index i, Index j) const {
  const auto sum = static_cast<std::uint64_t>(sums_(i, j));
  const auto row = static_cast<std::uint64_t>(row_sums_[index(i)]), column = static_cast<std::uint64_t>(column_sums_[index(j)]);
  const auto rest = row == 0 || column == 0 ? 0 : row + column + static_cast<std::uint64_t>(k_);
  return {to_double_lower(sum) * 0x1p-14, to_double_upper(sum + rest) * 0x1p-14, 1};
}

MagnitudeProduct::Bounds MagnitudeProduct::at(Index i, Index j) const {
  auto bounds = level_one(i, j);
  if (loose_) {
    const double dot = float_dot(x_.data() + i * k_, y_.data() + j * k_, k_);
    bounds.lower = std::max(bounds.lower, level_two_lower(dot, k_));
    bounds.upper = std::min(bounds.upper, level_two_upper(dot, k_));
    bounds.levels = 2;
  }
  if (bounds.lower == 0 && bounds.upper > 0) settle(i, j, bounds);
  return bounds;
}

/// Zero for good, or as large as the largest product's leading bits.
void MagnitudeProduct::settle(Index i, Index j, Bounds& bounds) const {
  std::call_once(tops_found_, [this] {
    append_tops(a_, Side::rows_of_a, x_tops_);
    append_tops(b_, Side::columns_of_b, y_tops_);
  });
  const auto *x = x_tops_.data() + i * k_, *y = y_tops_.data() + j * k_;
  std::int32_t top = 2 * no_top;
  for (Index l = 0; l < k_; ++l) top = std::max(top, x[l] + y[l]);
  bounds.levels = 3;
  if (top < no_top / 2) {
    bounds.upper = 0;
    return;
  }
  const Scaled largest{1, top - row_exponents_[index(i)] - column_exponents_[index(j)]};
  const Scaled all{to_double_upper(static_cast<std::uint64_t>(k_)), largest.exponent + 2};
  bounds.lower = largest.lower();
  bounds.upper = std::min(bounds.upper, all.upper());
}

// float_dot adds numbers that are not negative, and rounding is monotone: it is no smaller than any of its terms.
double MagnitudeProduct::cheap_lower(Index i, Index j) const {
  const double lower = level_one(i, j).lower;
  if (!loose_) return lower;
  const auto *x = x_.data() + i * k_, *y = y_.data() + j * k_;
  const Index p = top_of_x_[index(i)], q = top_of_y_[index(j)];
  return std::max(lower, level_two_lower(static_cast<double>(std::max(x[p] * y[p], x[q] * y[q])), k_));
}

double MagnitudeProduct::cheap_lower(Index i, Index first, Index count) const {
  return to_double_lower(static_cast<std::uint64_t>(least_of(&sums_(i, first), count))) * 0x1p-14;
}

// A term of the FP32 product is at most the product of the elements, and the sum is deflated by 1 + 2^-13: both, and the
// roundings here, are within a factor 1 + 2^-12.
void MagnitudeProduct::estimate_lower(Index i, Index first, Index count, double* lower) const {
  to_lower(&sums_(i, first), count, lower);
  if (!loose_) return;
  const Index top = top_of_x_[index(i)];
  const double x = static_cast<double>(x_[index(i * k_ + top)]);
  raise_to_products(x, &b_(top, first), column_scales_.data() + first, count, lower);
}

Enclosure MagnitudeProduct::enclosure(int threads) const {
  Enclosure result{Matrix<double>(rows(), cols()), Matrix<double>(rows(), cols()), row_exponents_, column_exponents_};
  int levels = 1;
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads) reduction(max : levels)
  for (Index i = 0; i < rows(); ++i) {
    const FloatEnvironment environment;
    for (Index j = 0; j < cols(); ++j) {
      const auto bounds = at(i, j);
      result.lower(i, j) = bounds.lower, result.upper(i, j) = bounds.upper;
      levels = std::max(levels, bounds.levels);
    }
  }
  result.levels = loose_ ? std::max(levels, 2) : levels;
  return result;
}

Enclosure enclose_product(InputView a, InputView b, const Engine& engine) {
  const FloatEnvironment environment;
  return MagnitudeProduct(a, b, engine).enclosure(engine.threads());
}

}  // namespace ozbound
