// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/cublas_emulation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "fold_entries.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound::models {
namespace {

__extension__ using Int128 = __int128;

constexpr Index unit = 128;         ///< length in which the inner dimension is cut, and size of a tile of C
constexpr Index least_cut = 1024;   ///< products are cut only if their largest size is at least this
constexpr Index tiles_wanted = 32;  ///< the least number of pieces of all tiles of C together
constexpr Index long_piece = 8192;
constexpr Index group_terms = 33025;  ///< (2^31 - 1) / 255^2, rounded down
constexpr Index few = 10000;          ///< up to so many of anything, one thread works

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

Index divided_up(Index x, Index y) { return (x + y - 1) / y; }

/// Cuts k into `count` pieces of whole units, except at the end. Lengths differ by at most a unit, shorter ones first.
std::vector<Index> cut(Index k, Index count) {
  const Index units = divided_up(k, unit);
  std::vector<Index> lengths(static_cast<std::size_t>(count), units / count * unit);
  for (Index r = count - units % count; r < count; ++r) lengths[static_cast<std::size_t>(r)] += unit;
  lengths.back() -= units * unit - k;
  return lengths;
}

/// (C4): the number of pairs of digits that are summed together.
int pairs_together(Index length) {
  return static_cast<int>(std::max<Index>(1, group_terms / (divided_up(length, unit) * unit)));
}

/// (C2), from the bits of a magnitude: the exponent field, and the fraction's first six bits, also for subnormal numbers.
/// @pre finite
int exponent_of(double largest) {
  const auto bits = std::bit_cast<std::uint64_t>(largest);
  const auto fraction = bits & ((std::uint64_t{1} << 52) - 1);
  return static_cast<int>(bits >> 52) - 1022 + (fraction >> 46 == 63 ? 1 : 0);
}

/// (C3): x 2^shift = (negative ? -1 : 1) (whole + rest), 0 <= rest < 1.
struct FixedPoint {
  Int128 whole = 0;  ///< < 2^71
  double rest = 0;   ///< exact, or an upper bound of a rest below 2^-900
  bool negative = false;
};

FixedPoint to_fixed_point(double x, int shift) {
  const auto [magnitude, exponent, negative] = to_dyadic(x);
  const int distance = exponent + shift;
  if (magnitude == 0) return {};
  if (distance >= 0) return {Int128{magnitude} << distance, 0, negative};
  if (distance < -900) return {0, 0x1p-800, negative};
  const auto whole = distance > -64 ? magnitude >> -distance : 0;
  const auto rest = distance > -64 ? magnitude - (whole << -distance) : magnitude;
  return {Int128{whole}, std::ldexp(static_cast<double>(rest), distance), negative};
}

/// Takes the last balanced digit, -128 to 127, away from a signed integer.
int take_digit(Int128& integer) {
  const int low = static_cast<int>(static_cast<std::uint8_t>(integer));
  const int digit = low >= 128 ? low - 256 : low;
  integer = (integer - digit) / 256;
  return digit;
}

/// |x|, rounded up. @pre |x| < 2^72.
double to_double_upper(Int128 x) {
  const Int128 magnitude = x < 0 ? -x : x;
  const auto high = static_cast<std::uint64_t>(magnitude >> 32), low = static_cast<std::uint64_t>(magnitude & 0xffffffff);
  return add_upper(static_cast<double>(high) * 0x1p32, static_cast<double>(low));
}

/// The magnitude of the rest of an element below some digit: |tail + rest|, rounded up. The rest has the element's sign.
double magnitude_upper(Int128 tail, const FixedPoint& x) {
  const bool opposite = tail != 0 && (tail < 0) != x.negative;
  return add_upper(to_double_upper(tail), opposite ? 0 : x.rest);
}

void add_square(double& sum, double x) { sum = add_upper(sum, multiply_upper(x, x)); }

double root_upper(double x) { return x == 0 ? 0 : next_up(std::sqrt(x)); }

/// The dot product of digits stored as 16-bit integers.
std::int64_t dot(const std::int16_t* x, const std::int16_t* y, Index length) {
  constexpr Index block = Index{1} << 16;  // products up to 2^14: sums fit 32 bits
  std::int64_t total = 0;
  for (Index begin = 0; begin < length; begin += block) {
    const Index end = std::min(begin + block, length);
    std::int32_t sum = 0;
    for (Index l = begin; l < end; ++l) sum += x[l] * y[l];
    total += sum;
  }
  return total;
}

double largest_magnitude(MatrixView<const double> lines, Index i, Index begin, Index length) {
  double largest = 0;
  for (Index l = begin; l < begin + length; ++l) largest = std::max(largest, std::fabs(lines(i, l)));
  return largest;
}

void check_finite(MatrixView<const double> x, const std::string& name) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      require(std::isfinite(x(i, j)), name + " must be finite: cuBLAS multiplies NaN and infinities natively");
}

void check(const CublasEmulation& method, const Operands& operands) {
  const auto& [a, b, alpha, beta, c0, imaginary_alpha, imaginary_beta, complex] = operands;
  require(method.mantissa_bits >= 8 && method.mantissa_bits <= 64,
          "mantissa bits must be from 8 to 64, where the rule was probed: " + std::to_string(method.mantissa_bits));
  require(a.cols() == b.rows(), "a must have as many columns as b has rows");
  const Index units = std::max<Index>(divided_up(a.cols(), unit), 1);
  require(method.pieces >= 0 && method.pieces <= units, "pieces must be from 0 to " + std::to_string(units));
  require(!complex, "the product must be real");
  require(imaginary_alpha == 0 && imaginary_beta == 0, "alpha and beta must be real");
  require(std::isfinite(alpha) && std::isfinite(beta), "alpha and beta must be finite");
  check_finite(a, "a"), check_finite(b, "b");
  if (beta == 0) return;
  require(c0.rows() == a.rows() && c0.cols() == b.cols(), "c0 must be as large as C");
  check_finite(c0, "c0");
}

/// |x| 2^exponent. @pre the result is exact.
Magnitude scaled(double x, std::int64_t exponent) {
  return multiply_upper(Magnitude::of(x), Magnitude::power_of_two(exponent));
}

const Magnitude u = Magnitude::power_of_two(-53), half_subnormal = Magnitude::power_of_two(-1075);

/// A computed number: an upper bound of its size, and of its distance from the exact number.
struct Computed {
  Magnitude size, error;

  /// Adds the error of one rounding, and half a subnormal number if the result may be subnormal.
  void round(bool may_underflow) {
    const auto rounding = add_upper(multiply_upper(size, u), may_underflow ? half_subnormal : Magnitude{});
    size = add_upper(size, rounding), error = add_upper(error, rounding);
  }
  void add(const Computed& other) { size = add_upper(size, other.size), error = add_upper(error, other.error); }
};

}  // namespace

std::vector<Index> cublas_pieces(Index m, Index n, Index k) {
  require(m >= 0 && n >= 0 && k >= 0, "sizes must not be negative");
  if (k == 0) return {};
  if (std::max({m, n, k}) < least_cut || m == 0 || n == 0) return {k};
  const Index tiles = divided_up(m, unit) * divided_up(n, unit);
  return cut(k, std::min(divided_up(k, unit), std::max(divided_up(tiles_wanted, tiles), (k + 1) / long_piece)));
}

CublasProduct::CublasProduct(const CublasEmulation& method, const Operands& operands)
    : operands_(operands), slices_(method.slices()) {
  const FloatEnvironment environment;
  check(method, operands);
  const Index k = operands.a.cols();
  const auto lengths = method.pieces == 0 || k == 0 ? cublas_pieces(rows(), cols(), k) : cut(k, method.pieces);
  Index begin = 0;
  for (const Index length : lengths) pieces_.push_back({begin, length}), begin += length;
  a_ = split(operands.a);
  b_ = split(operands.b.transposed());
}

CublasProduct::Lines CublasProduct::split(MatrixView<const double> lines) const {
  const Index count = lines.rows();
  Lines result{std::vector<std::int16_t>(static_cast<std::size_t>(count * lines.cols() * slices_)),
               std::vector<Line>(pieces_.size() * static_cast<std::size_t>(count))};
#pragma omp parallel for schedule(static) if (count * lines.cols() > few)
  for (Index i = 0; i < count; ++i) {
    const FloatEnvironment environment;
    auto* line = result.lines.data() + i;
    for (const auto& piece : pieces_) {
      auto* digits = result.digits.data() + (piece.begin * count + i * piece.length) * slices_;
      split(lines, i, piece, digits, *line);
      line += count;
    }
  }
  return result;
}

void CublasProduct::split(MatrixView<const double> lines, Index i, const Piece& piece, std::int16_t* digits, Line& line) const {
  const auto slices = static_cast<std::size_t>(slices_);
  line.exponent = exponent_of(largest_magnitude(lines, i, piece.begin, piece.length));
  std::vector<std::int64_t> squares(slices);
  line.tails.assign(slices + 1, 0);
  for (Index l = 0; l < piece.length; ++l) {
    const auto x = to_fixed_point(lines(i, piece.begin + l), 8 * slices_ - 1 - line.exponent);
    const Int128 integer = x.negative ? -x.whole : x.whole;
    add_square(line.tails[slices], magnitude_upper(0, x));
    Int128 left = integer;
    double scale = 1;
    for (std::size_t p = slices; p > 0; --p) {
      const int digit = take_digit(left);
      digits[static_cast<Index>(p - 1) * piece.length + l] = static_cast<std::int16_t>(digit);
      squares[p - 1] += digit * digit;
      scale /= 256;
      const Int128 above = left * (Int128{1} << (8 * (slices - p + 1)));
      add_square(line.tails[p - 1], multiply_upper(magnitude_upper(integer - above, x), scale));
    }
  }
  line.leading.assign(slices + 1, 0);
  for (auto& tail : line.tails) tail = root_upper(tail);
  for (std::size_t p = 0; p < slices; ++p) {
    line.digits.push_back(root_upper(ozbound::to_double_upper(static_cast<std::uint64_t>(squares[p]))));
    line.leading[p + 1] =
        add_upper(line.leading[p], multiply_upper(line.digits[p], std::ldexp(1.0, -8 * static_cast<int>(p + 1))));
  }
}

const std::int16_t* CublasProduct::digits(const Lines& lines, Index i, const Piece& piece, int slice) const {
  const Index count = std::ssize(lines.lines) / std::ssize(pieces_);
  return lines.digits.data() + piece.begin * count * slices_ + (i * slices_ + slice - 1) * piece.length;
}

const CublasProduct::Line& CublasProduct::row(std::size_t r, Index i) const {
  return a_.lines[r * static_cast<std::size_t>(rows()) + static_cast<std::size_t>(i)];
}
const CublasProduct::Line& CublasProduct::column(std::size_t r, Index j) const {
  return b_.lines[r * static_cast<std::size_t>(cols()) + static_cast<std::size_t>(j)];
}

/// (C4), (C5).
double CublasProduct::piece_entry(std::size_t r, Index i, Index j) const {
  const auto& piece = pieces_[r];
  const int group = pairs_together(piece.length);
  double sum = 0;
  for (int diagonal = 2; diagonal <= slices_ + 1; ++diagonal)
    for (int first = 1; first < diagonal; first += group) {
      std::int64_t products = 0;
      for (int q = first; q < std::min(first + group, diagonal); ++q) {
        const int p = diagonal % 2 == 0 ? q : diagonal - q;
        products += dot(digits(a_, i, piece, p), digits(b_, j, piece, diagonal - p), piece.length);
      }
      sum += std::ldexp(static_cast<double>(products), 2 - 8 * diagonal);
    }
  return std::ldexp(sum, row(r, i).exponent + column(r, j).exponent);
}

/// (C6).
double CublasProduct::entry(Index i, Index j) const {
  const FloatEnvironment environment;
  double c = operands_.beta == 0 ? 0 : operands_.beta * operands_.c0(i, j);
  for (std::size_t r = 0; r < pieces_.size(); ++r) c = std::fma(operands_.alpha, piece_entry(r, i, j), c);
  return c;
}

Magnitude CublasProduct::bound_upper(Index i, Index j) const {
  const FloatEnvironment environment;
  const auto slices = static_cast<std::size_t>(slices_);
  const auto largest = Magnitude::power_of_two(1023), alpha = Magnitude::of(operands_.alpha);
  const bool scales = std::fabs(operands_.alpha) != 1;
  Computed c;
  if (operands_.beta != 0) {  // (C11)
    c.size = multiply_upper(Magnitude::of(operands_.beta), Magnitude::of(operands_.c0(i, j)));
    if (std::fabs(operands_.beta) != 1) c.round(true);
  }
  for (std::size_t r = 0; r < pieces_.size(); ++r) {
    const auto &x = row(r, i), &y = column(r, j);
    // (C7): omitted products, in units of 2^(2 - 8 (s + 1)).
    double omitted = multiply_upper(256, multiply_upper(x.tails[slices], y.tails[0]));
    double size = 0;  // (C8): all diagonals together
    for (std::size_t p = 1; p <= slices; ++p) {
      omitted = add_upper(omitted, multiply_upper(x.digits[p - 1], y.tails[slices + 1 - p]));
      const double weighted = multiply_upper(x.digits[p - 1], std::ldexp(1.0, 2 - 8 * static_cast<int>(p)));
      size = add_upper(size, multiply_upper(weighted, y.leading[slices + 1 - p]));
    }
    // (C9): diagonal sums that are multiples of 2^(2 - 8d) and at most 2^53 times it are exact.
    int roundings = 0;
    const int group = pairs_together(pieces_[r].length);
    for (int diagonal = 3; diagonal <= slices_ + 1; ++diagonal)
      if (size > std::ldexp(1.0, 55 - 8 * diagonal)) roundings += (diagonal - 2) / group + 1;
    const double rounding = multiply_upper(roundings * 0x1p-53, size);
    const double cut_off = multiply_upper(omitted, std::ldexp(1.0, 2 - 8 * (slices_ + 1)));

    // (C10): one ldexp, exact unless a digit of the last diagonal is below the smallest subnormal number.
    const int exponent = x.exponent + y.exponent;
    Computed piece{scaled(add_upper(size, rounding), exponent), scaled(add_upper(cut_off, rounding), exponent)};
    if (exponent + 2 - 8 * (slices_ + 1) < -1074 && size != 0)
      piece.size = add_upper(piece.size, half_subnormal), piece.error = add_upper(piece.error, half_subnormal);
    if (!(piece.size < largest)) return Magnitude::infinity();
    // (C12)
    c.add({multiply_upper(alpha, piece.size), multiply_upper(alpha, piece.error)});
    if (scales || r > 0 || operands_.beta != 0) c.round(scales);
  }
  return c.size < largest ? c.error : Magnitude::infinity();
}

Matrix<double> multiply(const CublasEmulation& method, const Operands& operands) {
  const CublasProduct product(method, operands);
  Matrix<double> c(product.rows(), product.cols());
#pragma omp parallel for schedule(static) if (c.rows() * c.cols() * operands.a.cols() > few)
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) c(i, j) = product.entry(i, j);
  return c;
}

CublasComparison compare(const CublasProduct& product, const ResultView& c, const EntrySelection& selection) {
  require(c.rows() == product.rows() && c.cols() == product.cols(), "C must be as large as the product");
  struct Gathered : CublasComparison {
    void merge(const Gathered& later) {
      entries += later.entries;
      if (differing == 0) row = later.row, col = later.col, computed = later.computed, expected = later.expected;
      differing += later.differing;
    }
  };
  return judging::fold_entries(selection, c.rows(), c.cols(), Gathered{}, [&](Gathered& gathered, Index i, Index j) {
    const double expected = product.entry(i, j), computed = c(i, j);
    const FloatEnvironment environment;
    ++gathered.entries;
    if (computed == expected || (std::isnan(computed) && std::isnan(expected))) return;
    if (gathered.differing++ == 0)
      gathered.row = i, gathered.col = j, gathered.computed = computed, gathered.expected = expected;
  });
}

}  // namespace ozbound::models
