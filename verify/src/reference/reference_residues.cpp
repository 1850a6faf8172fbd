// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include "../uint128.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/verify/reference_product.hpp"
#include "plan_arithmetic.hpp"

namespace ozbound::reference {
namespace {

constexpr std::array<int, most_moduli> moduli{256, 253, 251, 249, 247, 241, 239, 235, 233, 229,
                                              227, 223, 217, 211, 199, 197, 193, 191, 181, 179};

cpp_int wide(RoundedVectors::Integer x) {
  const auto magnitude = static_cast<VerifyUint128>(x < 0 ? -x : x);
  cpp_int number = static_cast<std::uint64_t>(magnitude >> 64);
  number = (number << 64) | static_cast<std::uint64_t>(magnitude);
  return x < 0 ? cpp_int(-number) : number;
}

RoundedVectors::Integer narrow(const cpp_int& magnitude, bool negative) {
  const auto high = static_cast<std::uint64_t>(cpp_int(magnitude >> 64));
  const auto low = static_cast<std::uint64_t>(cpp_int(magnitude & ~std::uint64_t{0}));
  const auto integer = static_cast<RoundedVectors::Integer>((VerifyUint128{high} << 64) | low);
  return negative ? -integer : integer;
}

/// floor(log2 max |x_l|) + 1; 0 for a vector of zeros.
int scale_of(MatrixView<const double> vectors, Index i) {
  int scale = 0;
  bool any = false;
  for (Index l = 0; l < vectors.cols(); ++l) {
    if (vectors(i, l) == 0) continue;
    const auto own = static_cast<int>(leading_exponent(exact(vectors(i, l)))) + 1;
    scale = any ? std::max(scale, own) : own;
    any = true;
  }
  return scale;
}

}  // namespace

int modulus(int t) { return moduli[static_cast<std::size_t>(t - 1)]; }

int balanced_residue(int remainder, int p) {
  const int residue = ((remainder % p) + p) % p;
  return 2 * residue < p ? residue : residue - p;
}

cpp_int largest_told(int count) {
  cpp_int product = 1;
  for (int t = 1; t <= count; ++t) product *= modulus(t);
  return (product - 1) / 2;
}

/// Uses halves of 60 bits, such that sums of 32 products fit 128 bits.
cpp_int integer_dot(const RoundedVectors::Integer* x, const RoundedVectors::Integer* y, Index length, bool magnitudes) {
  constexpr int half = 60;
  constexpr Index block = 32;
  const auto taken = [magnitudes](RoundedVectors::Integer z) { return magnitudes && z < 0 ? -z : z; };
  cpp_int total = 0;
  for (Index start = 0; start < length; start += block) {
    RoundedVectors::Integer high = 0, middle = 0, low = 0;
    for (Index l = start; l < std::min(length, start + block); ++l) {
      const auto a = taken(x[l]), b = taken(y[l]);
      const auto a_high = a >> half, b_high = b >> half;
      const auto a_low = a - a_high * (RoundedVectors::Integer{1} << half);
      const auto b_low = b - b_high * (RoundedVectors::Integer{1} << half);
      high += a_high * b_high;
      middle += a_high * b_low + a_low * b_high;
      low += a_low * b_low;
    }
    total += (wide(high) << (2 * half)) + (wide(middle) << half) + wide(low);
  }
  return total;
}

RoundedVectors::RoundedVectors(MatrixView<const double> vectors, int bits)
    : bits_(bits),
      inner_(vectors.cols()),
      finite_(static_cast<std::size_t>(vectors.rows()), 1),
      exact_(static_cast<std::size_t>(vectors.rows()), 1),
      exponents_(static_cast<std::size_t>(vectors.rows())),
      integers_(static_cast<std::size_t>(vectors.rows() * vectors.cols())) {
  [[maybe_unused]] const bool large = integers_.size() > 10000;  // threads pay off
  FirstException failure;
#pragma omp parallel for schedule(static) if (large)
  for (Index i = 0; i < count(); ++i) failure.run([&] { round(vectors, i); });
  failure.rethrow();
}

void RoundedVectors::round(MatrixView<const double> vectors, Index i) {
  const auto at = static_cast<std::size_t>(i);
  for (Index l = 0; l < inner_; ++l)
    if (!std::isfinite(vectors(i, l))) finite_[at] = 0;
  if (!finite(i)) return;
  exponents_[at] = scale_of(vectors, i);
  const std::int64_t unit = std::int64_t{exponents_[at]} - bits_;
  for (Index l = 0; l < inner_; ++l) {
    if (l % 1024 == 0) poll_cancelled();
    const auto x = ozbound::exact(vectors(i, l));
    if (x.number == 0) continue;
    const auto magnitude = nearest_multiple(x, unit);
    integers_[static_cast<std::size_t>(i * inner_ + l)] = narrow(magnitude, x.number < 0);
    if ((absolute(x) + -ExactNumber{magnitude, unit}).number != 0) exact_[at] = 0;
  }
}

std::string RoundedVectors::text(Index i, Index l) const { return wide(integer(i, l)).str(); }

int RoundedVectors::residue(Index i, Index l, int t) const {
  return balanced_residue(static_cast<int>(integer(i, l) % modulus(t)), modulus(t));
}

ResidueProduct::ResidueProduct(const Operands& operands, const ResiduePlan& plan, Index inner_repeat)
    : plan_(plan), inner_repeat_(inner_repeat), a_(operands.a, plan.bits_a), b_(operands.b.transposed(), plan.bits_b) {}

ExactNumber ResidueProduct::sum(Index i, Index j) const {
  return {integer_dot(a_.integers(i), b_.integers(j), a_.inner(), false) * inner_repeat_,
          std::int64_t{a_.exponent(i)} + b_.exponent(j) - plan_.bits_a - plan_.bits_b};
}

ExactNumber ResidueProduct::magnitude(Index i, Index j) const {
  return {integer_dot(a_.integers(i), b_.integers(j), a_.inner(), true) * inner_repeat_,
          std::int64_t{a_.exponent(i)} + b_.exponent(j) - plan_.bits_a - plan_.bits_b};
}

bool ResidueProduct::held(Index i, Index j) const { return magnitude(i, j).number <= largest_told(plan_.moduli); }

std::string ResidueProduct::integer_text(Index i, Index j) const { return sum(i, j).number.str(); }

std::int64_t ResidueProduct::residue_sum(Index i, Index j, int t) const {
  std::int64_t sum = 0;
  for (Index l = 0; l < a_.inner(); ++l) sum += std::int64_t{a_.residue(i, l, t)} * b_.residue(j, l, t);
  return sum * inner_repeat_;
}

}  // namespace ozbound::reference
