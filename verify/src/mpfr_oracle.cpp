// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/mpfr_oracle.hpp"

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace ozbound {
namespace {

using Kind = OracleEntry::Kind;

/// Owns one mpfr_t, initially +0.
class Real {
 public:
  explicit Real(long bits) {
    mpfr_init2(value_, bits);
    mpfr_set_zero(value_, 1);
  }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }

  operator mpfr_ptr() { return value_; }           // NOLINT(google-explicit-constructor): stands where MPFR expects its own
  operator mpfr_srcptr() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  mpfr_t value_;
};

/// A real number between two numbers of `bits` bits. lower is rounded down, upper up.
struct Enclosure {
  explicit Enclosure(long bits) : lower(bits), upper(bits), product(bits), factor(53) {}

  Real lower, upper;

  /// Adds x y z, over the extended reals: NaN for 0 * Inf and Inf - Inf.
  void add_product(double x, double y, double z) {
    add_one_side(lower, x, y, z, MPFR_RNDD);
    add_one_side(upper, x, y, z, MPFR_RNDU);
  }

 private:
  /// Rounds both products and the sum in the direction of the sum. From 106 bits on, the first product is exact.
  void add_one_side(mpfr_ptr sum, double x, double y, double z, mpfr_rnd_t rounding) {
    const bool third_negative = std::signbit(z);
    const auto first_rounding = !third_negative ? rounding : rounding == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
    mpfr_set_d(factor, y, MPFR_RNDN);
    mpfr_mul_d(product, factor, x, first_rounding);
    mpfr_mul_d(product, product, z, rounding);
    mpfr_add(sum, sum, product, rounding);
  }

  Real product, factor;
};

Magnitude magnitude(mpfr_srcptr x, mpfr_rnd_t rounding) {
  if (!mpfr_number_p(x)) return Magnitude::infinity();
  if (mpfr_zero_p(x)) return {};
  long exponent = 0;
  const double significand = std::abs(mpfr_get_d_2exp(&exponent, x, rounding));  // in [1/2, 1)
  return {2 * significand, exponent - 1};
}

/// The least and the greatest |x| for x in the enclosure.
Magnitude least_magnitude(const Enclosure& x) {
  const int low = mpfr_sgn(static_cast<mpfr_srcptr>(x.lower));
  const int high = mpfr_sgn(static_cast<mpfr_srcptr>(x.upper));
  if (low <= 0 && high >= 0) return {};
  return magnitude(low > 0 ? x.lower : x.upper, MPFR_RNDZ);
}

Magnitude greatest_magnitude(const Enclosure& x) {
  return std::max(magnitude(x.lower, MPFR_RNDA), magnitude(x.upper, MPFR_RNDA));
}

/// x rounded once to the format; an exact zero is +0.
double rounded_to(mpfr_srcptr x, ResultFormat format) {
  if (mpfr_zero_p(x)) return 0;
  return format == ResultFormat::of_double ? mpfr_get_d(x, MPFR_RNDN) : static_cast<double>(mpfr_get_flt(x, MPFR_RNDN));
}

/// 2^1024 - 2^970, or 2^128 - 2^103: the least number that rounds to infinity.
void set_overflow_threshold(mpfr_ptr threshold, ResultFormat format) {
  const int digits = format == ResultFormat::of_double ? 53 : 24;
  mpfr_set_ui_2exp(threshold, 1, digits + 1, MPFR_RNDN);
  mpfr_sub_ui(threshold, threshold, 1, MPFR_RNDN);
  mpfr_mul_2si(threshold, threshold, largest_exponent(format) - digits, MPFR_RNDN);
}

/// The greatest |computed - c| for c in the enclosure, rounded upward. An infinite `computed` stands for all numbers that round
/// to it. @pre computed is no NaN.
void set_greatest_error(Real& error, const Enclosure& c, double computed, ResultFormat format) {
  if (std::isfinite(computed)) {
    Real below(mpfr_get_prec(static_cast<mpfr_srcptr>(error)));
    mpfr_d_sub(error, computed, c.lower, MPFR_RNDU);
    mpfr_sub_d(below, c.upper, computed, MPFR_RNDU);
    mpfr_max(error, error, below, MPFR_RNDU);
    return;
  }
  Real bound(64);
  set_overflow_threshold(bound, format);
  if (computed > 0)
    mpfr_sub(error, bound, c.lower, MPFR_RNDU);
  else
    mpfr_add(error, bound, c.upper, MPFR_RNDU);
  if (mpfr_sgn(static_cast<mpfr_srcptr>(error)) < 0) mpfr_set_zero(error, 1);
}

/// Sets the error of a finite entry. @param error its upper bound, which is overwritten
void set_error(OracleEntry& entry, Real& error, ResultFormat format) {
  entry.error_upper = magnitude(error, MPFR_RNDA);
  const int half = smallest_exponent(format) - 1;
  mpfr_mul_2si(error, error, -half, MPFR_RNDU);
  constexpr double most = 0x1p53;
  const double whole = mpfr_cmp_d(static_cast<mpfr_srcptr>(error), most) >= 0 ? most : std::floor(mpfr_get_d(error, MPFR_RNDD));
  entry.error_halves = static_cast<std::uint64_t>(whole);
  mpfr_sub_d(error, error, whole, MPFR_RNDU);
  mpfr_mul_2si(error, error, half, MPFR_RNDU);
  entry.error_rest_upper = magnitude(error, MPFR_RNDA);
}

Kind kind_of(mpfr_srcptr x) {
  if (mpfr_nan_p(x)) return Kind::nan;
  if (!mpfr_inf_p(x)) return Kind::finite;
  return mpfr_sgn(x) > 0 ? Kind::positive_infinity : Kind::negative_infinity;
}

bool same_kind(double x, mpfr_srcptr y) { return std::isnan(x) ? mpfr_nan_p(y) != 0 : mpfr_cmp_d(y, x) == 0 && !mpfr_nan_p(y); }

bool same_bits(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

OracleEntry special_entry(mpfr_srcptr c, double computed) {
  const auto infinite = Magnitude::infinity();
  const auto error = same_kind(computed, c) ? Magnitude{} : infinite;
  return {kind_of(c), mpfr_get_d(c, MPFR_RNDN), true, error, infinite, infinite, infinite, infinite, 0, error};
}

}  // namespace

MpfrOracle::MpfrOracle(const Operands& operands, long precision_bits) : Oracle(operands), precision_bits_(precision_bits) {
  if (precision_bits < 2 || precision_bits > (1L << 20))
    throw std::invalid_argument("precision_bits must be from 2 to 2^20: " + std::to_string(precision_bits));
}

long MpfrOracle::exact_bits(Index k) {
  return 3222 + 3072 + static_cast<long>(std::bit_width(2 * (static_cast<std::uint64_t>(k) + 1)));
}

OracleEntry MpfrOracle::judge(Index i, Index j, double computed, ResultFormat format) const {
  const auto& in = operands();
  Enclosure c(precision_bits_);
  Enclosure scale(precision_bits_);
  for (const auto& [alpha, row] : product_terms(in, i))
    for (Index l = 0; l < inner(); ++l) {
      c.add_product(in.a(row, l), in.b(l, j), alpha);
      scale.add_product(std::abs(in.a(row, l)), std::abs(in.b(l, j)), std::abs(alpha));
    }
  for (const auto& [beta, row] : c0_terms(in, i)) {
    c.add_product(in.c0(row, j), 1, beta);
    scale.add_product(std::abs(in.c0(row, j)), 1, std::abs(beta));
  }
  if (!mpfr_number_p(static_cast<mpfr_srcptr>(c.lower))) return special_entry(c.lower, computed);
  OracleEntry entry;
  entry.rounded = rounded_to(c.lower, format);
  entry.rounding_known = same_bits(entry.rounded, rounded_to(c.upper, format));
  if (std::isnan(computed)) {
    entry.error_upper = entry.error_rest_upper = Magnitude::infinity();
  } else {
    Real error(precision_bits_ + 64);
    set_greatest_error(error, c, computed, format);
    set_error(entry, error, format);
  }
  entry.value_lower = least_magnitude(c);
  entry.value_upper = greatest_magnitude(c);
  entry.scale_lower = magnitude(scale.lower, MPFR_RNDZ);
  entry.scale_upper = magnitude(scale.upper, MPFR_RNDA);
  return entry;
}

}  // namespace ozbound
