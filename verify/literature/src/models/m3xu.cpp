// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/m3xu.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/rounded.hpp"
#include "ozbound/core/float_environment.hpp"
#include "uint128.hpp"

namespace ozbound::models::m3xu {
namespace {

using Complex = std::complex<double>;

const WordFormat& operand_format(Mode mode) {
  static constexpr std::array<WordFormat, 4> formats{binary16_word, bfloat16_word, binary32_word, binary64_word};
  return formats.at(static_cast<std::size_t>(mode));
}
const WordFormat& result_format(Mode mode) { return mode == Mode::fp64 ? binary64_word : binary32_word; }

/// The exponent of the smallest normal number.
int least_normal(const WordFormat& format) { return format.least_exponent + format.precision - 1; }

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void check(const Unit& unit) {
  require(unit.piece_bits >= 1 && unit.piece_bits <= 27, "piece_bits must be from 1 to 27");
  require(unit.multipliers >= 1, "multipliers must be positive");
  require(unit.width >= 1 && unit.width <= 1 << 16, "width must be from 1 to 65536");
  require(unit.headroom >= 0 && unit.headroom < unit.width, "headroom must be from 0 to width - 1");
  const int shift = unit.second_step_shift.value_or(0);
  require(shift >= 0 && shift <= 63, "second_step_shift must be from 0 to 63");
}

/// A finite number as the unit reads it, (negative ? -1 : 1) significand 2^unit. `exponent` is that of its field: for zeros and
/// subnormal numbers, whose hidden bit is 0, the smallest normal one.
struct Operand {
  std::uint64_t significand = 0;
  int exponent = 0;
  int unit = 0;
  bool negative = false;
};

Operand operand(double x, const WordFormat& format) {
  const double size = std::abs(x);
  const int exponent = size == 0 ? least_normal(format) : std::max(std::ilogb(size), least_normal(format));
  const int unit = exponent - format.precision + 1;
  const double significand = std::ldexp(size, -unit);
  if (exponent > format.largest_exponent || significand != std::floor(significand))
    throw std::invalid_argument("not a number of " + std::string(format.name) + ": " + std::to_string(x));
  return {static_cast<std::uint64_t>(significand), exponent, unit, std::signbit(x)};
}

/// The largest `limit`, by fields, of a product with a zero or a subnormal number.
int hidden_limit(const WordFormat& format) { return least_normal(format) + format.largest_exponent + 2; }

/// E such that 2^E exceeds the absolute value of a term (for `leading`, the least such E); empty if the term does not count.
std::optional<int> limit(const Operand& a, const Operand& b, Alignment alignment) {
  if (alignment == Alignment::fields) return a.exponent + b.exponent + 2;
  const auto product = VerifyUint128{a.significand} * b.significand;
  if (product == 0) return std::nullopt;
  return a.unit + b.unit + bits_of_integer(product);
}

/// The accumulator of an instruction: a whole number of 2^quantum.
class Register {
 public:
  Register(const Unit& unit, int limit) : unit_(unit), sum_(limit + unit.headroom - unit.width, unit.aligned) {}

  void add(bool negative, std::uint64_t magnitude, int exponent) { sum_.add(negative, Whole(magnitude), exponent); }

  [[nodiscard]] bool overflows() const { return wrapped() != whole(); }
  [[nodiscard]] bool loses() const { return sum_.has_lost(); }

  /// The contents of the register, rounded to a format.
  [[nodiscard]] double value(const WordFormat& format) const {
    const auto held = wrapped();
    return rounded<Whole>(abs(held), sum_.grid(), held < 0, format, unit_.result);
  }

 private:
  [[nodiscard]] Whole whole() const { return sum_.negative() ? Whole(-sum_.magnitude()) : sum_.magnitude(); }

  /// The sum modulo 2^(width + 1), as a signed number.
  [[nodiscard]] Whole wrapped() const {
    const Whole modulus = Whole(1) << static_cast<unsigned>(unit_.width + 1);
    Whole rest = whole() % modulus;
    if (2 * rest >= modulus) rest -= modulus;
    if (2 * rest < -modulus) rest += modulus;
    return rest;
  }

  const Unit& unit_;
  AlignedSum<Whole> sum_;
};

/// One product of two elements in an instruction. A `flipped` product is subtracted.
struct Term {
  double a, b;
  bool flipped = false;
};

class DotProductUnit {
 public:
  DotProductUnit(Mode mode, const Unit& unit) : mode_(mode), unit_(unit), pieces_(pieces(mode, unit)) {}

  /// Adds the terms of one instruction to the running sum and its flags.
  void run(std::span<const Term> terms, Sum& running) const {
    bool finite = std::isfinite(running.value);
    for (const auto& term : terms) finite = finite && std::isfinite(term.a) && std::isfinite(term.b);
    running.value = finite ? finite_sum(terms, running) : special_sum(terms, running.value);
  }

 private:
  struct Pair {
    Operand a, b;
    bool negative;
  };

  /// The sum of terms of which some are infinite or NaN. Only these count.
  [[nodiscard]] double special_sum(std::span<const Term> terms, double sum) const {
    double special = std::isfinite(sum) ? 0 : sum;
    for (const auto& [a, b, flipped] : terms) {
      for (const double x : {a, b})
        if (std::isfinite(x)) (void)operand(x, operand_format(mode_));
      if (!std::isfinite(a) || !std::isfinite(b)) special += (flipped ? -a : a) * b;
    }
    return special;
  }

  [[nodiscard]] double finite_sum(std::span<const Term> terms, Sum& flags) const {
    std::vector<Pair> pairs;
    for (const auto& [a, b, flipped] : terms) {
      const auto x = operand(a, operand_format(mode_));
      const auto y = operand(b, operand_format(mode_));
      pairs.push_back({x, y, (x.negative != y.negative) != flipped});
    }
    const auto running = operand(flags.value, result_format(mode_));
    const auto top = common_limit(pairs, running);
    if (!top) return 0;
    Register accumulator(unit_, *top);
    accumulator.add(running.negative, running.significand, running.unit);
    for (int step = 0; step < pieces_; ++step)
      for (const auto& pair : pairs) multiply(pair, step, accumulator);
    flags.overflows += accumulator.overflows() ? 1 : 0;
    flags.losses += accumulator.loses() ? 1 : 0;
    return accumulator.value(result_format(mode_));
  }

  [[nodiscard]] std::optional<int> common_limit(const std::vector<Pair>& pairs, const Operand& running) const {
    constexpr Operand one{.significand = 1, .exponent = -1, .unit = 0};  // its field stands for 2^0, since 1 has no carry
    auto top = limit(running, one, unit_.alignment);
    for (const auto& [a, b, negative] : pairs) top = std::max(top, limit(a, b, unit_.alignment));
    return top;
  }

  /// Piece p of an operand, from the least significant on.
  [[nodiscard]] std::uint64_t piece(const Operand& x, int p) const {
    return (x.significand >> (unit_.piece_bits * p)) & ((std::uint64_t{1} << unit_.piece_bits) - 1);
  }

  [[nodiscard]] int shift(int step, int p, int q) const {
    if (pieces_ == 2 && step == 1) return unit_.second_step_shift.value_or(unit_.piece_bits);
    return unit_.piece_bits * (p + q);
  }

  /// Multiplies every piece of a by the piece of b that is `step` positions further, cyclically.
  void multiply(const Pair& pair, int step, Register& accumulator) const {
    for (int p = 0; p < pieces_; ++p) {
      const int q = (p + step) % pieces_;
      accumulator.add(pair.negative, piece(pair.a, p) * piece(pair.b, q), pair.a.unit + pair.b.unit + shift(step, p, q));
    }
  }

  Mode mode_;
  const Unit& unit_;
  int pieces_;
};

/// Runs a sum instruction by instruction, with this number of terms in each.
Sum run(Mode mode, const Unit& unit, std::span<const Term> terms, Index terms_each, double sum) {
  const DotProductUnit dot_product(mode, unit);
  Sum result{sum};
  for (Index l = 0; l < std::ssize(terms); l += terms_each) {
    const auto count = std::min(terms_each, std::ssize(terms) - l);
    dot_product.run(terms.subspan(static_cast<std::size_t>(l), static_cast<std::size_t>(count)), result);
  }
  return result;
}

void check_length(std::size_t a, std::size_t b) {
  if (a != b) throw std::invalid_argument("a and b must have the same length: " + std::to_string(a) + ", " + std::to_string(b));
}

void add_flags(auto& product, const Sum& entry) {
  product.overflows += entry.overflows;
  product.losses += entry.losses;
}

template <class T>
std::vector<T> copied(MatrixView<const T> row) {
  std::vector<T> elements;
  for (Index l = 0; l < row.cols(); ++l) elements.push_back(row(0, l));
  return elements;
}

/// Checks every element, even for an empty C.
template <class T>
void check_elements(Mode mode, MatrixView<const T> matrix) {
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index l = 0; l < matrix.cols(); ++l)
      for (const double x : {std::real(matrix(i, l)), std::imag(matrix(i, l))})
        if (std::isfinite(x)) (void)operand(x, operand_format(mode));
}

/// Calls entry(row of A, column of B, product) for every entry.
template <class T, class Entry>
GemmResult<T> product(Mode mode, const Unit& unit, MatrixView<const T> a, MatrixView<const T> b, Entry entry) {
  const FloatEnvironment environment;
  check(unit);
  if (a.cols() != b.rows())
    throw std::invalid_argument("a must have as many columns as b has rows: " + std::to_string(a.cols()) + ", " +
                                std::to_string(b.rows()));
  check_elements(mode, a), check_elements(mode, b);
  GemmResult<T> result{Matrix<T>(a.rows(), b.cols())};
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j)
      result.c(i, j) = entry(copied(a.block(i, 0, 1, a.cols())), copied(b.transposed().block(j, 0, 1, b.rows())), result);
  return result;
}

}  // namespace

int pieces(Mode mode, const Unit& unit) {
  check(unit);
  return (operand_format(mode).precision + unit.piece_bits - 1) / unit.piece_bits;
}

Index elements(Mode mode, const Unit& unit, bool complex) {
  return std::max(1, unit.multipliers / (pieces(mode, unit) * (complex ? 2 : 1)));
}

Sum dot(Mode mode, const Unit& unit, std::span<const double> a, std::span<const double> b, double sum) {
  const FloatEnvironment environment;
  check_length(a.size(), b.size());
  std::vector<Term> terms;
  for (std::size_t l = 0; l < a.size(); ++l) terms.push_back({a[l], b[l]});
  return run(mode, unit, terms, elements(mode, unit), sum);
}

ComplexSum dot(Mode mode, const Unit& unit, std::span<const Complex> a, std::span<const Complex> b) {
  const FloatEnvironment environment;
  check_length(a.size(), b.size());
  std::vector<Term> real, imaginary;
  for (std::size_t l = 0; l < a.size(); ++l) {
    real.push_back({a[l].real(), b[l].real()});
    real.push_back({a[l].imag(), b[l].imag(), true});
    imaginary.push_back({a[l].real(), b[l].imag()});
    imaginary.push_back({a[l].imag(), b[l].real()});
  }
  const Index terms_each = 2 * elements(mode, unit, true);
  return {run(mode, unit, real, terms_each, 0), run(mode, unit, imaginary, terms_each, 0)};
}

GemmResult<double> gemm(Mode mode, const Unit& unit, MatrixView<const double> a, MatrixView<const double> b) {
  return product(mode, unit, a, b, [&](const auto& row, const auto& column, auto& flags) {
    const auto entry = dot(mode, unit, row, column);
    add_flags(flags, entry);
    return entry.value;
  });
}

GemmResult<Complex> gemm(Mode mode, const Unit& unit, MatrixView<const Complex> a, MatrixView<const Complex> b) {
  return product(mode, unit, a, b, [&](const auto& row, const auto& column, auto& flags) {
    const auto [real, imaginary] = dot(mode, unit, std::span<const Complex>(row), std::span<const Complex>(column));
    add_flags(flags, real);
    add_flags(flags, imaginary);
    return Complex(real.value, imaginary.value);
  });
}

Bound error_bound_upper(Mode mode, const Unit& unit, Index k) {
  const FloatEnvironment environment;
  const auto terms = elements(mode, unit);
  const auto piece_count = pieces(mode, unit);
  require(k >= 0, "k must not be negative");
  require(piece_count != 2 || unit.second_step_shift.value_or(unit.piece_bits) == unit.piece_bits,
          "a second step shifted by other than piece_bits has no such bound");
  require(unit.headroom >= 62 || terms + 2 <= Index{1} << unit.headroom, "the headroom must hold elements + 2 terms");
  const auto& format = result_format(mode);
  const auto instructions = static_cast<double>(k / terms + (k % terms != 0 ? 1 : 0));
  const double losses = static_cast<double>(terms * piece_count * piece_count + 1);
  const bool fields = unit.alignment == Alignment::fields;
  const int bits = unit.width - unit.headroom;
  const double alignment = losses * std::ldexp(1.0, (fields ? 2 : 1) - bits);
  const double rounding = std::ldexp(1.0, (unit.result == Rounding::toward_zero ? 1 : 0) - format.precision);
  const double each = alignment + rounding + alignment * rounding;
  const double all = instructions * each;
  if (!(all <= 0.5)) return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double outward = 1 + 0x1p-49;  // eight roundings, of 2^-53 each
  const double hidden = fields ? losses * std::ldexp(1.0, hidden_limit(operand_format(mode)) - bits) + 0x1p-1074 : 0;
  const double underflow = 2 * instructions * (std::ldexp(1.0, format.least_exponent) + (1 + rounding) * hidden);
  return {all / (1 - all) * outward, underflow * outward};
}

}  // namespace ozbound::models::m3xu
