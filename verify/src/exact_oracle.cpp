// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/exact_oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "exact_number.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "uint128.hpp"

namespace ozbound {
namespace {

using Uint128 = VerifyUint128;
using Kind = OracleEntry::Kind;

constexpr std::int64_t exponents_per_slot = 4;        // coarse slots keep the number of sums by exponent small
constexpr std::int64_t terms_before_carry = 1 << 16;  // products stay below 2^112, sums in 128 bits

/// |x| rounded down to 53 bits, and the next number above if that is not exact.
std::pair<Magnitude, Magnitude> enclosed(const ExactNumber& x) {
  if (x.number == 0) return {};
  const cpp_int number = abs(x.number);
  const auto top = static_cast<std::int64_t>(msb(number));
  const auto excess = std::max<std::int64_t>(0, top - 52);
  const auto kept = static_cast<std::uint64_t>(number >> static_cast<unsigned>(excess));
  const auto normal = kept << std::max<std::int64_t>(0, 52 - top);
  const Magnitude lower{static_cast<double>(normal) * 0x1p-52, x.exponent + top};
  if (static_cast<std::int64_t>(lsb(number)) >= excess) return {lower, lower};
  return {lower, add_upper(lower, Magnitude::power_of_two(lower.exponent - 52))};
}

/// |computed - c|. A computed infinity stands for all numbers that round to it.
ExactNumber error(const ExactNumber& c, double computed, ResultFormat format) {
  if (std::isfinite(computed)) return absolute(exact(computed) + -c);
  const int precision = format == ResultFormat::of_double ? 53 : 24;
  const int top = largest_exponent(format) + 1;
  const ExactNumber threshold = power_of_two(top) + -power_of_two(top - 1 - precision);
  const ExactNumber gap = threshold + (computed > 0 ? -c : c);
  return gap.number > 0 ? gap : ExactNumber{};
}

/// Sets the error of an entry to `error`, which is not negative.
void set_error(OracleEntry& entry, const ExactNumber& error, ResultFormat format) {
  constexpr unsigned most_bits = 53;
  entry.error_upper = enclosed(error).second;
  const std::int64_t units = error.exponent - (smallest_exponent(format) - 1);  // of error.number, as a power of two of eta/2
  const cpp_int most = cpp_int(1) << most_bits;
  const bool large = error.number != 0 && units + static_cast<std::int64_t>(msb(error.number)) >= most_bits;
  const cpp_int whole = large        ? most
                        : units >= 0 ? cpp_int(error.number << static_cast<unsigned>(units))
                                     : cpp_int(error.number >> static_cast<unsigned>(-units));
  entry.error_halves = static_cast<std::uint64_t>(whole);
  const auto rest = error + -(ExactNumber{whole, 0} * power_of_two(smallest_exponent(format) - 1));
  entry.error_rest_upper = enclosed(rest).second;
}

Kind joined(Kind x, Kind y) {
  if (x == Kind::finite || x == y) return y;
  return y == Kind::finite ? x : Kind::nan;
}

Kind kind_of(double x) {
  if (std::isnan(x)) return Kind::nan;
  return std::isfinite(x) ? Kind::finite : x > 0 ? Kind::positive_infinity : Kind::negative_infinity;
}

/// The kind of x * y * z over the extended reals.
Kind kind_of_product(double x, double y, double z) {
  bool zero = false;
  bool infinite = false;
  for (const double factor : {x, y, z}) {
    if (std::isnan(factor)) return Kind::nan;
    zero = zero || factor == 0;
    infinite = infinite || std::isinf(factor);
  }
  if (!infinite) return Kind::finite;
  if (zero) return Kind::nan;
  const bool negative = (std::signbit(x) != std::signbit(y)) != std::signbit(z);
  return negative ? Kind::negative_infinity : Kind::positive_infinity;
}

Kind kind_of_entry(const Operands& in, Index i, Index j) {
  Kind kind = Kind::finite;
  for (const auto& [beta, row] : c0_terms(in, i)) kind = joined(kind, kind_of_product(beta, in.c0(row, j), 1));
  for (const auto& [alpha, row] : product_terms(in, i))
    for (Index l = 0; l < in.a.cols(); ++l) kind = joined(kind, kind_of_product(alpha, in.a(row, l), in.b(l, j)));
  return kind;
}

double value_of(Kind kind) {
  using Limits = std::numeric_limits<double>;
  if (kind == Kind::nan) return Limits::quiet_NaN();
  return kind == Kind::positive_infinity ? Limits::infinity() : -Limits::infinity();
}

OracleEntry special_entry(Kind kind, double computed) {
  const auto infinite = Magnitude::infinity();
  const auto error = kind_of(computed) == kind ? Magnitude{} : infinite;
  return {kind, value_of(kind), true, error, infinite, infinite, infinite, infinite, 0, error};
}

/// limbs += value * 2^position. @pre the sum fits.
void add_shifted(std::vector<std::uint64_t>& limbs, Uint128 value, std::size_t position) {
  const auto shift = position % 64;
  const auto low = static_cast<std::uint64_t>(value);
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const std::uint64_t parts[] = {low << shift, shift == 0 ? high : (high << shift) | (low >> (64 - shift)),
                                 shift == 0 ? 0 : high >> (64 - shift)};
  auto limb = position / 64;
  std::uint64_t carry = 0;
  for (const auto part : parts) {
    const auto sum = Uint128{limbs[limb]} + part + carry;
    limbs[limb++] = static_cast<std::uint64_t>(sum);
    carry = static_cast<std::uint64_t>(sum >> 64);
  }
  while (carry != 0) carry = ++limbs[limb++] == 0 ? 1 : 0;
}

/// Limbs for a sum of up to 2^63 terms below 2^(bits + 128).
std::vector<std::uint64_t> limbs_for(std::size_t bits) { return std::vector<std::uint64_t>(bits / 64 + 5); }

struct Anatomy {
  std::uint64_t magnitude;
  std::int64_t slot;
};

/// Tests the bits, because comparing a subnormal number as a double may raise an exception that the caller traps.
bool finite(double x) { return (std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) != 0x7ff; }

/// |x| = magnitude * 2^(4 slot - 1074); the magnitude is 0 if x is not finite.
Anatomy anatomy(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto field = (bits >> 52) & 0x7ff;
  const auto fraction = bits & 0xfffffffffffffU;
  if (field == 0x7ff) return {0, 0};
  const auto units = field == 0 ? 0 : field - 1;  // the exponent above -1074
  const auto magnitude = field == 0 ? fraction : fraction | (std::uint64_t{1} << 52);
  return {magnitude << (units % exponents_per_slot), static_cast<std::int64_t>(units / exponents_per_slot)};
}

}  // namespace

ExactOracle::Lines::Lines(MatrixView<const double> matrix)
    : elements(static_cast<std::size_t>(matrix.rows() * matrix.cols())), lines(static_cast<std::size_t>(matrix.rows())) {
  [[maybe_unused]] const bool large = elements.size() > 10000;  // threads pay off
  FirstException failure;
#pragma omp parallel for if (large)
  for (Index i = 0; i < matrix.rows(); ++i)
    failure.run([&] {
      auto& line = lines[static_cast<std::size_t>(i)];
      std::int64_t first = std::numeric_limits<std::int64_t>::max();
      std::int64_t last = 0;
      for (Index l = 0; l < matrix.cols(); ++l) {
        line.finite = line.finite && finite(matrix(i, l));
        const auto [magnitude, slot] = anatomy(matrix(i, l));
        if (magnitude == 0) continue;
        first = std::min(first, slot);
        last = std::max(last, slot);
      }
      if (first > last) return;  // zeros only
      line.first_slot = first;
      line.slots = static_cast<std::size_t>(last - first + 1);
    });
#pragma omp parallel for if (large)
  for (Index i = 0; i < matrix.rows(); ++i)
    failure.run([&] {
      for (Index l = 0; l < matrix.cols(); ++l) {
        const double x = matrix(i, l);
        const auto [magnitude, slot] = anatomy(x);
        const auto offset = magnitude == 0 ? 0 : slot - lines[static_cast<std::size_t>(i)].first_slot;
        elements[static_cast<std::size_t>(i * matrix.cols() + l)] = {magnitude, static_cast<std::uint32_t>(offset),
                                                                     std::signbit(x) ? 1U : 0U};
      }
    });
  failure.rethrow();
}

ExactOracle::ExactOracle(const Operands& operands) : Oracle(operands), rows_(operands.a), columns_(operands.b.transposed()) {}

bool ExactOracle::all_finite(Index i, Index j) const {
  const auto products = product_terms(operands(), i), c0 = c0_terms(operands(), i);
  const auto finite_product = [&](const RowTerm& term) {
    return std::isfinite(term.factor) && rows_.lines[static_cast<std::size_t>(term.row)].finite &&
           columns_.lines[static_cast<std::size_t>(j)].finite;
  };
  const auto finite_c0 = [&](const RowTerm& term) {
    return std::isfinite(term.factor) && std::isfinite(operands().c0(term.row, j));
  };
  return std::all_of(products.begin(), products.end(), finite_product) && std::all_of(c0.begin(), c0.end(), finite_c0);
}

ExactOracle::Sums ExactOracle::dot(Index i, Index j) const {
  const auto& row = rows_.lines[static_cast<std::size_t>(i)];
  const auto& column = columns_.lines[static_cast<std::size_t>(j)];
  const auto* x = rows_.elements.data() + i * inner();
  const auto* y = columns_.elements.data() + j * inner();
  const auto slots = row.slots + column.slots;
  const auto bits = slots * static_cast<std::size_t>(exponents_per_slot);
  Sums sums{limbs_for(bits), limbs_for(bits), exponents_per_slot * (row.first_slot + column.first_slot) - 2 * 1074};
  std::vector<Uint128> by_slot(2 * slots);  // positive and negative sums alternate
  for (Index begin = 0; begin < inner(); begin += terms_before_carry) {
    const auto end = std::min(inner(), begin + terms_before_carry);
    for (Index l = begin; l < end; ++l)
      by_slot[2 * std::size_t{x[l].slot + y[l].slot} + (x[l].negative ^ y[l].negative)] +=
          Uint128{x[l].magnitude} * y[l].magnitude;
    for (std::size_t s = 0; s < by_slot.size(); ++s) {
      if (by_slot[s] == 0) continue;
      add_shifted(s % 2 == 0 ? sums.positive : sums.negative, by_slot[s], s / 2 * static_cast<std::size_t>(exponents_per_slot));
      by_slot[s] = 0;
    }
  }
  return sums;
}

OracleEntry ExactOracle::judge(Index i, Index j, double computed, ResultFormat format) const {
  if (!all_finite(i, j)) {
    const auto kind = kind_of_entry(operands(), i, j);
    if (kind != Kind::finite) return special_entry(kind, computed);
  }
  const auto& in = operands();
  ExactNumber c;
  ExactNumber scale;
  for (const auto& [alpha, row] : product_terms(in, i)) {
    const auto sums = dot(row, j);
    const auto positive = from_limbs(sums.positive);
    const auto negative = from_limbs(sums.negative);
    c = c + exact(alpha) * ExactNumber{positive - negative, sums.exponent};
    scale = scale + absolute(exact(alpha)) * ExactNumber{positive + negative, sums.exponent};
  }
  for (const auto& [beta, row] : c0_terms(in, i)) {
    const auto term = exact(beta) * exact(in.c0(row, j));
    c = c + term;
    scale = scale + absolute(term);
  }
  OracleEntry entry;
  entry.rounded = rounded_to(c, format);
  if (std::isnan(computed))
    entry.error_upper = entry.error_rest_upper = Magnitude::infinity();
  else
    set_error(entry, error(c, computed, format), format);
  std::tie(entry.value_lower, entry.value_upper) = enclosed(c);
  std::tie(entry.scale_lower, entry.scale_upper) = enclosed(scale);
  return entry;
}

}  // namespace ozbound
