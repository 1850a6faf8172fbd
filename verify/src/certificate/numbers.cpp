// SPDX-License-Identifier: BSD-3-Clause
#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include "../exact_number.hpp"
#include "../reference/plan_arithmetic.hpp"
#include "../uint128.hpp"
#include "outward.hpp"
#include "parallel.hpp"

namespace ozbound::checking {
namespace {

using reference::Digits;
using reference::Slicing;

constexpr int fraction = 16;

/// ceil(|x| / 2^unit).
std::uint64_t rounded_up(const ExactNumber& x, std::int64_t unit) {
  if (x.number == 0) return 0;
  const auto whole = whole_multiple(x, unit);
  const bool rest = unit > x.exponent && static_cast<std::int64_t>(lsb(abs(x.number))) < unit - x.exponent;
  return static_cast<std::uint64_t>(whole) + (rest ? 1 : 0);
}

/// The rest of an element after some slices, in units of 2^grid, the lowest weight of the element and of all digits. @pre below
/// 2^126.
class Rest {
 public:
  Rest(VerifyInt128 value, std::int64_t grid) : value_(value), grid_(grid) {}

  void subtract(int digit, std::int64_t weight) { value_ -= digit * (VerifyInt128{1} << (weight - grid_)); }

  /// ceil(|rest| / 2^unit).
  [[nodiscard]] std::uint64_t above(std::int64_t unit) const {
    const auto magnitude = static_cast<VerifyUint128>(value_ < 0 ? -value_ : value_);
    if (unit <= grid_) return static_cast<std::uint64_t>(magnitude << (grid_ - unit));
    if (unit - grid_ > 126) return magnitude == 0 ? 0 : 1;
    return static_cast<std::uint64_t>((magnitude + (VerifyUint128{1} << (unit - grid_)) - 1) >> (unit - grid_));
  }

 private:
  VerifyInt128 value_;
  std::int64_t grid_;
};

/// Rest for numbers of any size.
class WideRest {
 public:
  explicit WideRest(const ExactNumber& x) : rest_(x) {}

  void subtract(int digit, std::int64_t weight) { rest_ = rest_ + ExactNumber{-digit, weight}; }
  [[nodiscard]] std::uint64_t above(std::int64_t unit) const { return rounded_up(rest_, unit); }

 private:
  ExactNumber rest_;
};

/// Computes the digits of element l and their rests.
template <class R>
void count_digits(VectorCounts& counts, const reference::SlicedVectors& sliced, Index i, Index l, R rest) {
  const std::int64_t scale = sliced.exponent(i);
  for (int p = 1; p <= sliced.slicing().slices; ++p) {
    const auto weight = scale + counts.weights[at(p - 1)];
    const int digit = sliced.digit(i, l, p);
    rest.subtract(digit, weight);
    counts.digits[at(p - 1)].add(static_cast<std::uint64_t>(std::abs(digit)));
    counts.tails[at(p - 1)].add(rest.above(weight - fraction));
  }
}

VectorCounts count(MatrixView<const double> vectors, const reference::SlicedVectors& sliced, Index i) {
  const auto& slicing = sliced.slicing();
  VectorCounts counts{{}, 0, std::vector<Counts>(at(slicing.slices)), {}, std::vector<Counts>(at(slicing.slices))};
  for (int p = 1; p <= slicing.slices; ++p) counts.weights.push_back(sliced.weight(i, p));
  const std::int64_t scale = sliced.exponent(i), last = scale + counts.weights.back();
  for (Index l = 0; sliced.finite(i) && l < sliced.inner(); ++l) {
    const auto x = exact(vectors(i, l));
    if (x.number == 0) continue;
    counts.whole.add(rounded_up(x, scale - fraction));
    const auto floor = static_cast<std::uint64_t>(whole_multiple(x, scale - fraction));
    counts.floors += floor * floor;
    const auto grid = std::min(x.exponent, last);
    if (scale + 2 - grid <= 124) {
      const auto significand = static_cast<std::int64_t>(x.number);
      count_digits(counts, sliced, i, l, Rest(significand * (VerifyInt128{1} << (x.exponent - grid)), grid));
    } else {
      count_digits(counts, sliced, i, l, WideRest(x));
    }
  }
  return counts;
}

double root_up(const Counts& counts) { return counts.max == 0 ? 0 : up(std::sqrt(integer_up(counts.squares))); }

Norms norms(const Counts& counts, int unit) {
  const double scale = std::ldexp(1.0, std::max(unit, -1000));
  return {integer_up(counts.sum) * scale, root_up(counts) * scale, integer_up(counts.max) * scale};
}

Norms plus(const Norms& x, const Norms& y) { return {sum_up(x.one, y.one), sum_up(x.two, y.two), sum_up(x.max, y.max)}; }

Norms times(const Norms& x, double factor) {
  return {product_up(x.one, factor), product_up(x.two, factor), product_up(x.max, factor)};
}

Norms slice(const VectorCounts& v, int p) { return norms(v.digits[at(p - 1)], v.weights[at(p - 1)]); }

/// T_p; T_0 is the vector.
Norms tail(const VectorCounts& v, int p) {
  return p == 0 ? norms(v.whole, -fraction) : norms(v.tails[at(p - 1)], v.weights[at(p - 1)] - fraction);
}

/// The norms of all slices, separately.
Norms slices(const VectorCounts& v, const Slicing& slicing, double factor) {
  Norms sum;
  for (int p = 1; p <= slicing.slices; ++p) sum = plus(sum, slice(v, p));
  return times(sum, factor);
}

std::vector<int> exponents(const Counted& x) {
  std::vector<int> all;
  for (Index i = 0; i < x.sliced.count(); ++i) all.push_back(x.sliced.exponent(i));
  return all;
}

template <class RowNorms, class ColumnNorms>
RelativeBound::Term term(const char* name, const Counted& a, const Counted& b, const RowNorms& rows,
                         const ColumnNorms& columns) {
  RelativeBound::Term term{name, {}, {}};
  for (const auto& v : a.counts) term.rows.push_back(rows(v));
  for (const auto& v : b.counts) term.columns.push_back(columns(v));
  return term;
}

/// a_p and t_p of G2, rounded up.
double slice_limit(const Slicing& slicing, int p) {
  const double top = std::ldexp(1.0, -slicing.radix_bits * (p - 1));
  switch (slicing.digits) {
    case Digits::truncated: return top - std::ldexp(top, -slicing.radix_bits);
    case Digits::ozimmu: return (p == 1 ? 1 : 2 * top) - std::ldexp(top, 1 - slicing.radix_bits);
    case Digits::unsigned8: return p == 1 ? 1 : 2 * top - std::ldexp(top, -7);
    case Digits::nearest:
    case Digits::nearest_adaptive:
    case Digits::balanced: return top;
  }
  throw std::invalid_argument("digits are of no known kind");
}

double tail_limit(const Slicing& slicing, int p) {
  const double first = std::ldexp(1.0, -slicing.radix_bits * p);
  if (p == 0) return 1;
  if (slicing.digits == Digits::ozimmu || slicing.digits == Digits::unsigned8) return 2 * first;
  if (slicing.digits != Digits::balanced) return first;
  const double last = std::ldexp(1.0, -8 * slicing.slices);
  return sum_up(product_up(up(256.0 / 255.0), p == slicing.slices ? 0 : up(first - last)), last);
}

double a_priori(const reference::SlicePlan& plan, Index k) {
  double sum = tail_limit(plan.a, plan.a.slices);
  for (int p = 1; p <= plan.a.slices; ++p)
    sum = sum_up(sum, product_up(slice_limit(plan.a, p), tail_limit(plan.b, reference::last_b(plan, p))));
  return product_up(integer_up(static_cast<std::uint64_t>(k)), sum);
}

/// sum |x_l||y_l| for digits of at most 7 bits.
std::uint64_t magnitude_sum(const std::int16_t* x, const std::int16_t* y, Index length) {
  std::uint64_t total = 0;
  for (Index start = 0; start < length; start += 1 << 16) {
    std::int32_t sum = 0;  // below 2^16 * 2^14
    for (Index l = start; l < std::min<Index>(length, start + (1 << 16)); ++l) sum += std::abs(x[l]) * std::abs(y[l]);
    total += static_cast<std::uint64_t>(sum);
  }
  return total;
}

/// The sum of (d_A + 1)(d_B + 1) - d_A d_B (E1); 0 if a row or a column is zero.
std::uint64_t level_one_rest(const VectorCounts& row, const VectorCounts& column, Index k) {
  if (row.whole.max == 0 || column.whole.max == 0) return 0;
  return row.digits[0].sum + column.digits[0].sum + static_cast<std::uint64_t>(k);
}

/// Two-sided bounds of |A||B| over 2^(row + column) (enclosure.md).
class Enclosed {
 public:
  Matrix<double> lower, upper;

  explicit Enclosed(const Operands& operands)
      : lower(operands.a.rows(), operands.b.cols()),
        upper(operands.a.rows(), operands.b.cols()),
        operands_(operands),
        a_(operands.a, level_one_digits),
        b_(operands.b.transposed(), level_one_digits) {
    level_one();
    loose_ = is_loose();
    if (loose_) level_two();
    level_three();
  }

  [[nodiscard]] std::int64_t scale(Index i, Index j) const {
    return std::int64_t{a_.sliced.exponent(i)} + b_.sliced.exponent(j);
  }

  /// True if level 1 alone is not enough.
  [[nodiscard]] bool loose() const { return loose_; }

  /// ||x||_2 of a row or a column, rounded down.
  [[nodiscard]] double row_norm(Index i) const { return norm(a_.counts[at(i)]); }
  [[nodiscard]] double column_norm(Index j) const { return norm(b_.counts[at(j)]); }

 private:
  static double norm(const VectorCounts& v) { return down(std::sqrt(integer_down(v.floors))) * 0x1p-16; }

  [[nodiscard]] Index k() const { return operands_.a.cols(); }

  /// Calls visit(i, j) for every entry, row by row, with rows in parallel.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for_rows(operands_.a.rows(), operands_.b.cols() * (1 + k()), [&](Index i) {
      for (Index j = 0; j < operands_.b.cols(); ++j) visit(i, j);
    });
  }

  [[nodiscard]] bool is_loose() const {
    std::atomic<bool> loose = false;
    for_each([&](Index i, Index j) {
      if (lower(i, j) < 0.5 * upper(i, j)) loose.store(true, std::memory_order_relaxed);
    });
    return loose;
  }

  void level_one() {
    for_each([this](Index i, Index j) {
      const auto least = magnitude_sum(a_.sliced.slice(i, 1), b_.sliced.slice(j, 1), k());
      const auto rest = level_one_rest(a_.counts[at(i)], b_.counts[at(j)], k());
      lower(i, j) = integer_down(least) * 0x1p-14;
      upper(i, j) = integer_up(least + rest) * 0x1p-14;
    });
  }

  /// |x| over its vector's scale, in binary32, rounded towards zero; 0 below 2^-126.
  static float narrowed(double x, int exponent) {
    const double scaled = std::ldexp(std::fabs(x), -exponent);
    if (!(scaled >= 0x1p-126)) return 0;
    const auto nearest = static_cast<float>(scaled);
    return nearest > scaled ? std::nextafter(nearest, 0.0F) : nearest;
  }

  static std::vector<float> narrowed(MatrixView<const double> vectors, const Counted& counted) {
    const Index length = vectors.cols();
    std::vector<float> all(at(vectors.rows() * length));
    for_rows(vectors.rows(), length, [&](Index i) {
      for (Index l = 0; counted.sliced.finite(i) && l < length; ++l)
        all[at(i * length + l)] = narrowed(vectors(i, l), counted.sliced.exponent(i));
    });
    return all;
  }

  /// Sums in FP32: sixteen interleaved sums for each block of 1024, with the last block's odd elements in the first sum. Adds
  /// blocks in FP64.
  static double float_sum(const float* x, const float* y, Index length) {
    double total = 0;
    for (Index start = 0; start < length; start += 1024) {
      const Index end = std::min(length, start + 1024);
      const Index whole = start + (end - start) / 16 * 16;
      std::array<float, 16> sums{};
      for (Index l = start; l < whole; l += 16)
        for (Index lane = 0; lane < 16; ++lane) sums[at(lane)] += x[l + lane] * y[l + lane];
      for (Index l = whole; l < end; ++l) sums[0] += x[l] * y[l];
      float sum = 0;
      for (const float lane : sums) sum += lane;
      total += static_cast<double>(sum);
    }
    return total;
  }

  void level_two() {
    const auto x = narrowed(operands_.a, a_);
    const auto y = narrowed(operands_.b.transposed(), b_);
    const double lost = product_up(static_cast<double>(k()), 0x1p-149);
    for_each([&](Index i, Index j) {
      const double sum = float_sum(x.data() + i * k(), y.data() + j * k(), k());
      lower(i, j) = std::max(lower(i, j), quotient_down(difference_down(sum, lost), 1 + 0x1p-13));
      upper(i, j) = std::min(
          upper(i, j), sum_up(product_up(sum_up(sum, lost), 1 + 0x1p-12), product_up(static_cast<double>(k()), 0x1p-124)));
    });
  }

  void level_three() {
    for_each([this](Index i, Index j) {
      if (lower(i, j) != 0 || upper(i, j) == 0) return;
      std::int64_t top = std::numeric_limits<std::int64_t>::min();
      for (Index l = 0; l < k(); ++l) {
        const double x = operands_.a(i, l), y = operands_.b(l, j);
        if (x != 0 && y != 0) top = std::max<std::int64_t>(top, std::ilogb(x) + std::ilogb(y));
      }
      if (top == std::numeric_limits<std::int64_t>::min()) {
        upper(i, j) = 0;
        return;
      }
      lower(i, j) = Wide{1, top - scale(i, j)}.value_down();
      upper(i, j) = std::min(upper(i, j), Wide{integer_up(static_cast<std::uint64_t>(k())), top - scale(i, j) + 2}.value_up());
    });
  }

  const Operands& operands_;
  Counted a_, b_;
  bool loose_ = false;
};

/// A target's allowance for the error before the last rounding, over the enclosure's scales and |alpha|. Infinite for special
/// entries.
class Allowed {
 public:
  Allowed(const Target& target, double factor, const Operands& operands, const std::vector<std::uint8_t>& finite)
      : enclosed_(operands),
        factor_(factor),
        normwise_(target.kind == Target::Kind::normwise),
        allowed_(operands.a.rows(), operands.b.cols()) {
    const bool rowcol = target.kind == Target::Kind::rowcol;
    for_rows(allowed_.rows(), allowed_.cols(), [&](Index i) {
      for (Index j = 0; j < allowed_.cols(); ++j) {
        double m = rowcol ? product_down(enclosed_.row_norm(i), enclosed_.column_norm(j)) : enclosed_.lower(i, j);
        const bool counts = finite[at(i * allowed_.cols() + j)] != 0;
        if (counts && operands.beta != 0) m = sum_down(m, c0_share(operands, i, j));
        allowed_(i, j) = !counts ? infinity : normwise_ ? m : product_down(factor_, m);
      }
    });
    if (normwise_) take_norm();
  }

  [[nodiscard]] WorstRatio worst(const RelativeBound& error) const {
    std::vector<WorstRatio> rows(at(allowed_.rows()));
    std::vector<double> shares(rows.size());
    for_rows(allowed_.rows(), allowed_.cols(), [&](Index i) {
      WorstRatio row{0, i, 0};
      double sum = 0;
      for (Index j = 0; j < allowed_.cols(); ++j) {
        const double relative = Wide{error.at(i, j), error.scale(i, j) - enclosed_.scale(i, j)}.value_up();
        const double ratio = normwise_ ? share(i, j, relative) : single(i, j, relative);
        if (normwise_) sum = sum_up(sum, ratio);
        if (ratio > row.ratio) row.ratio = ratio, row.j = j;
      }
      rows[at(i)] = row, shares[at(i)] = sum;
    });
    WorstRatio worst;
    double total = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      total = sum_up(total, shares[i]);
      if (rows[i].ratio > worst.ratio) worst = rows[i];
    }
    worst.loose = enclosed_.loose();
    if (normwise_) worst.ratio = total == 0 ? 0 : up(std::sqrt(total));
    return worst;
  }

 private:
  /// |beta c0| / |alpha|, rounded down.
  [[nodiscard]] double c0_share(const Operands& in, Index i, Index j) const {
    const auto product = product_down(Wide::of(in.beta), Wide::of(in.c0(i, j)));
    const auto alpha = Wide::of(in.alpha);
    return Wide{quotient_down(product.significand, alpha.significand),
                product.exponent - alpha.exponent - enclosed_.scale(i, j)}
        .value_down();
  }

  [[nodiscard]] double single(Index i, Index j, double error) const {
    if (error == 0 || enclosed_.upper(i, j) == 0 || allowed_(i, j) == infinity) return 0;
    return allowed_(i, j) == 0 ? infinity : quotient_up(error, allowed_(i, j));
  }

  /// Norms are relative to the largest scale. Entries below 2^-500 of it count only in upper bounds.
  void take_norm() {
    bool any = false;
    for (Index i = 0; i < allowed_.rows(); ++i)
      for (Index j = 0; j < allowed_.cols(); ++j)
        if (allowed_(i, j) > 0 && allowed_(i, j) < infinity) {
          scale_ = any ? std::max(scale_, enclosed_.scale(i, j)) : enclosed_.scale(i, j);
          any = true;
        }
    std::vector<double> of_rows(at(allowed_.rows()));
    for_rows(allowed_.rows(), allowed_.cols(), [&](Index i) {
      for (Index j = 0; j < allowed_.cols(); ++j) {
        if (allowed_(i, j) == infinity) continue;
        const double value = Wide{allowed_(i, j), enclosed_.scale(i, j) - scale_}.value_down();
        const double m = value < 0x1p-500 ? 0 : std::min(value, 0x1p400);
        of_rows[at(i)] = sum_down(of_rows[at(i)], product_down(m, m));
      }
    });
    double squares = 0;
    for (const double of_row : of_rows) squares = sum_down(squares, of_row);
    norm_ = product_down(factor_, squares == 0 ? 0 : down(std::sqrt(squares)));
  }

  [[nodiscard]] double share(Index i, Index j, double error) const {
    if (error == 0 || enclosed_.upper(i, j) == 0 || allowed_(i, j) == infinity) return 0;
    if (norm_ == 0) return infinity;
    const double value = std::max(Wide{error, enclosed_.scale(i, j) - scale_}.value_up(), 0x1p-500);
    return product_up(quotient_up(value, norm_), quotient_up(value, norm_));
  }

  Enclosed enclosed_;
  double factor_;
  bool normwise_;
  Matrix<double> allowed_;
  std::int64_t scale_ = 0;
  double norm_ = 0;
};

/// Exponents of the smallest and the largest non-zero magnitude in vectors without NaN and infinities.
struct Range {
  int least = std::numeric_limits<int>::max(), top = std::numeric_limits<int>::min();

  [[nodiscard]] bool empty() const { return top < least; }
  void add(double x) {
    if (x == 0 || !std::isfinite(x)) return;
    least = std::min(least, std::ilogb(x));
    top = std::max(top, std::ilogb(x));
  }
};

Range range_of(MatrixView<const double> vectors, bool by_vector) {
  Range range;
  for (Index i = 0; i < vectors.rows(); ++i) {
    bool finite = true;
    for (Index l = 0; l < vectors.cols(); ++l) finite = finite && std::isfinite(vectors(i, l));
    for (Index l = 0; (finite || !by_vector) && l < vectors.cols(); ++l) range.add(vectors(i, l));
  }
  return range;
}

int bit_length(std::uint64_t x) { return static_cast<int>(std::bit_width(x)); }

/// Exponent of a scalar. For 0 it is the exponent of its bits.
int top_exponent(double x) { return x == 0 ? -1075 : std::ilogb(x); }

/// Parameters of a format: the exponents of its largest number, its least normal number and its least number, its bits, and u.
struct NativeFormat {
  int top, normal, least, bits;
  double u, eta;
};
constexpr NativeFormat doubles{1023, -1022, -1074, 53, 0x1p-53, 0x1p-1074};
constexpr NativeFormat floats{127, -126, -149, 24, 0x1p-24, 0x1p-149};

bool may_overflow(const Operands& in, const Range& a, const Range& b, Index k, const NativeFormat& format) {
  const int most = format.top - 3;
  if (in.beta != 0) {
    const auto c0 = range_of(in.c0, false);
    if (!c0.empty() && c0.top + std::max(top_exponent(in.beta), 0) + 2 > most) return true;
  }
  return !a.empty() && !b.empty() &&
         a.top + b.top + 2 + bit_length(static_cast<std::uint64_t>(k)) + std::max(top_exponent(in.alpha) + 1, 0) > most;
}

/// True if x times a multiple of 2^grid, at least 2^least, may be neither normal nor a multiple of the least number.
bool loses(double x, int least, int grid, const NativeFormat& format) {
  if (x == 0 || !std::isfinite(x)) return x != 0;
  int exponent = 0;
  const double significand = std::frexp(x, &exponent);  // in [1/2, 1): x is a multiple of 2^(exponent - 53)
  int bits = 53;
  while (std::fmod(std::ldexp(significand, bits - 1), 1.0) == 0) --bits;
  return exponent - 1 + least < format.normal && exponent - bits + grid < format.least;
}

/// True if a native GEMM may meet a result that is subnormal and inexact (G7d).
bool may_underflow(const Operands& in, const Range& a, const Range& b, const NativeFormat& format) {
  const auto grid = [&](const Range& range) { return std::max(range.least - (format.bits - 1), format.least); };
  if (in.beta != 0) {
    const auto c0 = range_of(in.c0, false);
    if (!c0.empty() && loses(in.beta, c0.least, grid(c0), format)) return true;
  }
  if (a.empty() || b.empty()) return false;
  const int sums = std::max(grid(a) + grid(b), format.least);
  return a.least + b.least < format.normal || loses(in.alpha, sums, sums, format);
}

/// True if alpha times an element of one operand, or that times an element of the other, may leave the normal range inexactly.
bool may_leave_range(const Operands& in, const Range& a, const Range& b, const NativeFormat& format) {
  if (a.empty() || b.empty() || in.alpha == 0 || unit(in.alpha) || !std::isfinite(in.alpha)) return false;
  const int scale = top_exponent(in.alpha);
  for (const auto* x : {&a, &b})
    if (scale + x->top + 2 > format.top - 3 ||
        loses(in.alpha, x->least, std::max(x->least - (format.bits - 1), format.least), format))
      return true;
  return scale + a.least + b.least < format.normal;
}

bool is_float(double x) { return !std::isfinite(x) || static_cast<double>(static_cast<float>(x)) == x; }

}  // namespace

void Counts::add(std::uint64_t x) {
  sum += x;
  squares += x * x;
  max = std::max(max, x);
}

Counted::Counted(MatrixView<const double> vectors, const Slicing& slicing)
    : sliced(vectors, slicing), counts(at(vectors.rows())) {
  [[maybe_unused]] const bool large = vectors.rows() * vectors.cols() > 10000;  // threads pay off
  FirstException failure;
#pragma omp parallel for schedule(static) if (large)
  for (Index i = 0; i < vectors.rows(); ++i)
    failure.run([&] {
      const PlainEnvironment environment;
      counts[at(i)] = count(vectors, sliced, i);
    });
  failure.rethrow();
}

double RelativeBound::at(Index i, Index j) const {
  double total = 0;
  for (const auto& t : terms) {
    const auto& x = t.rows[static_cast<std::size_t>(i)];
    const auto& y = t.columns[static_cast<std::size_t>(j)];
    total = sum_up(total, std::min({product_up(x.two, y.two), product_up(x.one, y.max), product_up(x.max, y.one)}));
  }
  return std::min(total, uniform);
}

RelativeBound plan_bound(const reference::SlicePlan& plan, const Counted& a, const Counted& b) {
  const auto& sa = plan.a;
  const auto& sb = plan.b;
  const bool exactly = plan.accumulation == reference::Accumulation::exact;
  RelativeBound bound{{}, exactly ? a_priori(plan, a.sliced.inner()) : infinity, exponents(a), exponents(b)};
  const auto b_tail = [](int p) { return [p](const VectorCounts& v) { return tail(v, p); }; };
  const int meet_all = std::clamp(plan.cut - sb.slices, 0, sa.slices);
  const int meet_some = std::min(plan.cut - 1, sa.slices);
  if (meet_all > 0)
    bound.terms.push_back(term(
        "A leading x B residual", a, b, [&](const VectorCounts& v) { return plus(tail(v, 0), tail(v, meet_all)); },
        b_tail(sb.slices)));
  for (int p = meet_all + 1; p <= meet_some; ++p)
    bound.terms.push_back(
        term("A slice x B tail", a, b, [&](const VectorCounts& v) { return slice(v, p); }, b_tail(reference::last_b(plan, p))));
  bound.terms.push_back(term("A residual x B", a, b, [&](const VectorCounts& v) { return tail(v, meet_some); }, b_tail(0)));
  if (exactly) return bound;
  const auto terms = static_cast<double>(plan.groups(a.sliced.inner()).size());
  const double roundings = (terms - 1) * 0x1p-53;
  bound.terms.push_back(term(
      "accumulation", a, b, [&](const VectorCounts& v) { return slices(v, sa, roundings); },
      [&](const VectorCounts& v) { return slices(v, sb, 1); }));
  if (plan.common_ratio()) return bound;
  const auto unless_zero = [](const VectorCounts& v, double x) { return v.whole.max == 0 ? Norms{} : Norms{x, x, x}; };
  bound.terms.push_back(term(
      "underflow", a, b, [&](const VectorCounts& v) { return unless_zero(v, std::ldexp(terms, -1074)); },
      [&](const VectorCounts& v) { return unless_zero(v, 1); }));
  return bound;
}

namespace {

Norms everywhere(double x) { return {x, x, x}; }

/// 2^-bits / 2 if an element of the vector is rounded, otherwise 0.
double rounding(const reference::RoundedVectors& vectors, Index i) {
  return vectors.exact(i) ? 0 : std::ldexp(1.0, -vectors.bits() - 1);
}

/// Upper bounds of integers |a'|, in units of 2^(bits - 16): the integers of |a|, plus the effect of rounding to fewer bits
/// (R8).
struct IntegerLimits {
  IntegerLimits(const Counts& of, int bits, Index k) : sum(of.sum), squares(of.squares), max(of.max) {
    if (bits >= fraction || of.max == 0) return;
    const cpp_int h = cpp_int(1) << static_cast<unsigned>(fraction - 1 - bits);
    squares += 2 * h * sum + k * h * h;
    sum += k * h;
    max += h;
  }

  cpp_int sum, squares, max;
};

/// True if x units of 2^exponent are at most `limit`.
bool at_most(const cpp_int& x, int exponent, const cpp_int& limit) {
  return exponent >= 0 ? (x << static_cast<unsigned>(exponent)) <= limit : x <= (limit << static_cast<unsigned>(-exponent));
}

bool held_by_norms(const IntegerLimits& x, const IntegerLimits& y, int unit, const cpp_int& limit) {
  return at_most(x.sum * y.max, unit, limit) || at_most(x.max * y.sum, unit, limit) ||
         at_most(x.squares * y.squares, 2 * unit, limit * limit);
}

}  // namespace

RelativeBound residue_bound(const Counted& a, const reference::RoundedVectors& rounded_a, const Counted& b,
                            const reference::RoundedVectors& rounded_b) {
  const double k = integer_up(static_cast<std::uint64_t>(a.sliced.inner()));
  RelativeBound::Term left{"A rounding x B", {}, {}}, right{"A rounded x B rounding", {}, {}};
  const auto one_norm = [](const VectorCounts& v) { return norms(v.whole, -fraction).one; };
  for (Index i = 0; i < rounded_a.count(); ++i) {
    const double error = rounding(rounded_a, i);
    left.rows.push_back(everywhere(error));
    right.rows.push_back(everywhere(sum_up(one_norm(a.counts[at(i)]), product_up(k, error))));
  }
  for (Index j = 0; j < rounded_b.count(); ++j) {
    left.columns.push_back(everywhere(one_norm(b.counts[at(j)])));
    right.columns.push_back(everywhere(rounding(rounded_b, j)));
  }
  return {{std::move(left), std::move(right)}, infinity, exponents(a), exponents(b)};
}

std::optional<std::pair<Index, Index>> find_not_held(const reference::ResiduePlan& plan, const Counted& a,
                                                     const reference::RoundedVectors& rounded_a, const Counted& b,
                                                     const reference::RoundedVectors& rounded_b) {
  const auto limit = reference::largest_told(plan.moduli);
  const Index k = a.sliced.inner();
  const int bits = plan.bits_a + plan.bits_b;
  std::vector<IntegerLimits> x, y;
  for (const auto& row : a.counts) x.emplace_back(row.whole, plan.bits_a, k);
  for (const auto& column : b.counts) y.emplace_back(column.whole, plan.bits_b, k);
  std::vector<Index> first(x.size(), -1);
  for_rows(rounded_a.count(), rounded_b.count() * (1 + k), [&](Index i) {
    for (Index j = 0; j < rounded_b.count() && first[at(i)] < 0; ++j) {
      if (held_by_norms(x[at(i)], y[at(j)], bits - 2 * fraction, limit)) continue;
      const bool floors = (plan.bits_a >= 7 || rounded_a.exact(i)) && (plan.bits_b >= 7 || rounded_b.exact(j));
      const auto rest = level_one_rest(a.counts[at(i)], b.counts[at(j)], k);
      const auto level = magnitude_sum(a.sliced.slice(i, 1), b.sliced.slice(j, 1), k) + rest;
      if (!floors || !at_most(level, bits - 14, limit)) first[at(i)] = j;
    }
  });
  for (Index i = 0; i < rounded_a.count(); ++i)
    if (first[at(i)] >= 0) return std::pair(i, first[at(i)]);
  return std::nullopt;
}

RelativeBound times_complex(RelativeBound bound, double alpha, double imaginary_alpha) {
  const double largest = std::max(std::fabs(alpha), std::fabs(imaginary_alpha));
  const int exponent = largest == 0 ? 0 : std::ilogb(largest);
  const auto scaled = [exponent](double x) { return x == 0 ? 0 : up(std::fabs(std::ldexp(x, -exponent))); };
  const double own = scaled(alpha), other = scaled(imaginary_alpha);
  for (auto& t : bound.terms) {
    auto rows = t.rows;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = plus(times(t.rows[i], own), times(t.rows[i ^ 1], other));
    t.rows = std::move(rows);
  }
  bound.uniform = product_up(sum_up(own, other), bound.uniform);
  for (int& row : bound.row_exponents) row += exponent;
  return bound;
}

RelativeBound summation_bound(const Counted& a, const Counted& b, double factor) {
  const auto whole = [](const VectorCounts& v) { return norms(v.whole, -fraction); };
  return {{term(
              "native summation", a, b, [&](const VectorCounts& v) { return times(whole(v), factor); }, whole)},
          infinity,
          exponents(a),
          exponents(b)};
}

double with_rounding(double before, double tau, double u) {
  const double left = up(1 - quotient_down(u, tau));
  const double ratio = sum_up(quotient_up(u, tau), product_up(before, left));
  return before > 1 ? ratio : std::min(ratio, 1.0);
}

WorstRatio worst_ratio(const RelativeBound& error, const Target& target, double tau, double u, const Operands& operands,
                       const std::vector<std::uint8_t>& finite) {
  const double factor = quotient_down(difference_down(tau, u), sum_up(1, 2 * u));  // 1 + 2u is a double in both formats
  auto worst = Allowed(target, factor, operands, finite).worst(error);
  worst.ratio = with_rounding(worst.ratio, tau, u);
  return worst;
}

bool all_floats(const Operands& in) {
  const auto all = [](MatrixView<const double> x) {
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j)
        if (!is_float(x(i, j))) return false;
    return true;
  };
  return is_float(in.alpha) && is_float(in.beta) && all(in.a) && all(in.b) && (in.beta == 0 || all(in.c0));
}

NativeClaims native_claims(const Operands& in, Index k, bool narrow, int schema) {
  const auto& format = narrow ? floats : doubles;
  const bool plain = unit(in.alpha) && in.beta == 0;
  const double roundings = integer_up(static_cast<std::uint64_t>(plain ? k : k + 3)) * format.u;
  NativeClaims claims{plain ? roundings : quotient_up(roundings, difference_down(1, roundings)), 0, ""};
  const auto a = range_of(in.a, true);
  const auto b = range_of(in.b.transposed(), true);
  if (may_overflow(in, a, b, k, format))
    claims.obstacle =
        schema < 5 ? "an intermediate result of native DGEMM may overflow" : "an intermediate result may overflow";
  else if (schema >= 5 && may_leave_range(in, a, b, format))
    claims.obstacle = "alpha times an element may overflow or underflow";
  else if (schema >= 5 && claims.factor > 1)
    claims.obstacle = "the inner dimension is so long that k u is above 1";
  const bool with_scalars = !unit(in.alpha) || !(in.beta == 0 || unit(in.beta));
  if (may_underflow(in, a, b, format) || (schema < 5 && with_scalars)) {
    const double terms = integer_up(static_cast<std::uint64_t>(k + 1));
    claims.underflow = product_up(product_up(terms, sum_up(std::fabs(in.alpha), 1)), format.eta);
  }
  return claims;
}

}  // namespace ozbound::checking
