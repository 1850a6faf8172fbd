// SPDX-License-Identifier: BSD-3-Clause
// The inequalities of docs/derivations/residues.md, R1 to R11, in integers and fractions: exhaustively where the cases are
// finite, otherwise on samples. Only tables and constants of the project take part, no code that multiplies or judges.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "ozbound/verify/reference_product.hpp"

namespace ozbound::residue_inequalities_test {
namespace {

namespace mp = boost::multiprecision;
using cpp_int = mp::number<mp::cpp_int_backend<>, mp::et_off>;
using cpp_rational = mp::number<mp::rational_adaptor<mp::cpp_int_backend<>>, mp::et_off>;
using Fixed = mp::uint256_t;

cpp_rational power(int exponent) {
  const cpp_int two_to = cpp_int(1) << static_cast<unsigned>(std::abs(exponent));
  return exponent >= 0 ? cpp_rational(two_to) : cpp_rational(1, two_to);
}

cpp_int floor_of(const cpp_rational& x) {
  const cpp_int quotient = numerator(x) / denominator(x);
  return x < 0 && quotient * denominator(x) != numerator(x) ? cpp_int(quotient - 1) : quotient;
}

cpp_int ceiling_of(const cpp_rational& x) { return -floor_of(-x); }

/// x rounded to nearest, ties to even.
cpp_int nearest(const cpp_rational& x) {
  const cpp_int below = floor_of(x);
  const cpp_rational rest = x - below, half(1, 2);
  const bool up = rest > half || (rest == half && (below & 1) != 0);
  return below + (up ? 1 : 0);
}

int modulus(int t) { return residue_moduli[t]; }

/// The product P of the first N moduli.
cpp_int product_of(int moduli) {
  cpp_int p = 1;
  for (int t = 0; t < moduli; ++t) p *= modulus(t);
  return p;
}

cpp_int most_told(int moduli) { return (product_of(moduli) - 1) / 2; }

double log2_of(const cpp_int& x) {
  const auto top = static_cast<int>(msb(x));
  return top <= 60 ? std::log2(static_cast<double>(x)) : top - 60 + std::log2(static_cast<double>(cpp_int(x >> (top - 60))));
}

// --- R1, R3, R4 ---

bool is_prime(int n) {
  for (int d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}

TEST(ResidueInequalities, TheTablesAreOfCoprimeNumbersAndTheSame) {
  for (int t = 0; t < max_moduli; ++t) {
    EXPECT_EQ(modulus(t), reference::modulus(t + 1)) << "of those who judge";
    for (int s = 0; s < t; ++s) EXPECT_EQ(std::gcd(modulus(s), modulus(t)), 1);
  }
}

/// The largest product of N pairwise coprime numbers up to 256, for every N: all sets of coprime composites above 130, filled
/// up with the largest primes above 130 that are coprime to all of them. A set of 20 omits at least one of these 23 primes,
/// which in place of a number up to 130 would make a larger product.
struct LargestProducts {
  LargestProducts() {
    for (int n = 256; n > 128; --n) (is_prime(n) ? primes : composites).push_back(n);
    std::erase_if(composites, [](int n) { return n < 131; });
    look_from(0);
  }

  void look_from(std::size_t first) {
    auto all = chosen;
    all.insert(all.end(), primes.begin(), primes.begin() + max_moduli);
    std::sort(all.begin(), all.end(), std::greater<>());
    Fixed product = 1;
    for (std::size_t n = 0; n < max_moduli; ++n) {
      product *= static_cast<unsigned>(all[n]);
      best[n + 1] = std::max(best[n + 1], product);
    }
    for (std::size_t t = first; t < composites.size(); ++t) {
      const int c = composites[t];
      if (!std::all_of(chosen.begin(), chosen.end(), [c](int other) { return std::gcd(c, other) == 1; })) continue;
      chosen.push_back(c);
      look_from(t + 1);
      chosen.pop_back();
    }
  }

  std::vector<int> primes, composites, chosen;
  std::array<Fixed, max_moduli + 1> best{};
};

TEST(ResidueInequalities, NoOtherModuliHoldMuchMore) {
  const LargestProducts largest;
  for (int n = 2; n <= max_moduli; ++n) {
    const cpp_int best(largest.best[static_cast<std::size_t>(n)]);
    EXPECT_TRUE(n < 14 || best == product_of(n)) << n;
    EXPECT_LT(log2_of(best) - log2_of(product_of(n)), 0.07) << n;
  }
}

TEST(ResidueInequalities, ResiduesAreBytesAndTheOnlyOnes) {
  for (int t = 0; t < max_moduli; ++t) {
    const int p = modulus(t);
    for (int z = -3 * p; z <= 3 * p; ++z) {
      const int r = balanced(z, p);
      EXPECT_TRUE(-(p / 2) <= r && r <= (p + 1) / 2 - 1 && (z - r) % p == 0) << z << " mod " << p;
      EXPECT_TRUE(p == 256 ? r >= -128 && r <= 127 : std::abs(r) <= 126);
      EXPECT_EQ(r, reference::balanced_residue(z, p));
    }
  }
}

TEST(ResidueInequalities, Int32And64HoldSumsOfResidues) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  EXPECT_LE(std::int64_t{131071} * 128 * 128 + 128, most) << "a residue beside it too";
  EXPECT_GT(std::int64_t{131072} * 128 * 128, most);
  EXPECT_LE(std::int64_t{135266} * 126 * 126, most) << "of odd moduli";
  EXPECT_GT(std::int64_t{135267} * 126 * 126, most);
  EXPECT_LT(cpp_int(longest_residue_inner) * 128 * 128, cpp_int(1) << 46);
}

// --- R5, R6, R7 ---

TEST(ResidueInequalities, RecoveryIsExact) {
  RandomStream random(1);
  for (int n = 2; n <= max_moduli; ++n) {
    const auto base = ResidueBase::of(n);
    const cpp_int p = product_of(n), most = most_told(n);
    EXPECT_LT(n * p, cpp_int(1) << 161);
    std::vector<cpp_int> integers = {0, 1, -1, most, -most, most - 1, 1 - most};
    for (int s = 0; s < 50; ++s) {
      cpp_int z = 0;
      for (int word = 0; word < 3; ++word) z = (z << 60) + static_cast<std::int64_t>(random.signed_unit() * 0x1p59);
      integers.push_back(z % most);
    }
    for (const auto& z : integers) {
      cpp_int unsigned_sum = 0, signed_sum = 0;
      for (int t = 0; t < n; ++t) {
        const cpp_int cofactor = p / modulus(t);
        const auto rest = static_cast<std::int64_t>(cpp_int(z % modulus(t)));
        EXPECT_EQ(cofactor * base.inverse[t] % modulus(t), 1);
        const std::int64_t c = ((rest * base.inverse[t]) % modulus(t) + modulus(t)) % modulus(t);
        unsigned_sum += cofactor * c;
        const std::int64_t centred = balanced(balanced(rest, modulus(t)) * std::int64_t{base.inverse[t]}, modulus(t));
        signed_sum += cofactor * centred;
        EXPECT_LE(2 * std::abs(centred), modulus(t));
      }
      EXPECT_TRUE(0 <= unsigned_sum && unsigned_sum < n * p) << n;
      const cpp_int rest = unsigned_sum % p;
      EXPECT_EQ(rest > most ? cpp_int(rest - p) : rest, z) << n;
      const cpp_int quotient = nearest(cpp_rational(signed_sum, p));
      EXPECT_EQ(signed_sum - quotient * p, z) << n;
      EXPECT_LE(2 * abs(signed_sum), n * p) << n;
      EXPECT_LE(abs(quotient), n / 2 + 1) << n;
    }
  }
}

TEST(ResidueInequalities, DoublesHoldTheLimbsAndTheirSums) {
  for (int n = 2; n <= max_moduli; ++n) {
    const int limbs = residue_limbs_of(n), bits = residue_limb_bits(n);
    const cpp_int p = product_of(n), radix = cpp_int(1) << static_cast<unsigned>(bits);
    EXPECT_LT(p, cpp_int(1) << static_cast<unsigned>(limbs * bits)) << n;
    EXPECT_LT(n * 128 * radix + (n / 2 + 1) * radix, cpp_int(1) << 51) << n;
    cpp_rational left_out = 0;  // the share of X / P in the limbs below the top one
    for (int l = 0; l < limbs - 1; ++l) left_out += n * 128 * (radix - 1) * power(bits * l) / p;
    const cpp_rational rounding = (n / 2 + 1) * power(-51);  // P's head, its reciprocal, the product
    EXPECT_LT(left_out + rounding, power(-9)) << n;
  }
}

TEST(ResidueInequalities, FloatingPointQuotientsAreTheNearestIntegers) {
  for (int t = 1; t < max_moduli; ++t) {
    const int p = modulus(t);
    const cpp_rational exact(1, p), from_tie(1, 2 * p);
    const auto reciprocal = cpp_rational(1.0 / p);
    EXPECT_LT(power(46) * abs(reciprocal - exact) + power(46) * reciprocal * power(-53), from_tie) << p;
    const auto narrow = cpp_rational(static_cast<double>(static_cast<float>(1.0 / p)));
    EXPECT_LT(power(19) * abs(narrow - exact) + power(19) * narrow * power(-24), from_tie) << p;
  }
  EXPECT_LT(power(31) + 2 * power(31) * 128 + power(32) * 128, power(46)) << "words times the residues of 2^32, 2^64, 2^96";
  EXPECT_LT(16 * 255 * 126 + 126, 1 << 19) << "bytes times the residues of their weights, of odd moduli";
}

// --- R2, R8 … R11 ---

/// A row or a column after rounding.
struct Rounded {
  Rounded(std::vector<cpp_rational> x, int p) : elements(std::move(x)), bits(p), k(static_cast<std::int64_t>(elements.size())) {
    cpp_rational top = 0;
    for (const auto& e : elements) top = std::max<cpp_rational>(top, abs(e));
    if (top != 0) {
      while (power(scale) > top) --scale;
      while (power(scale) <= top) ++scale;
    }
    for (const auto& e : elements) {
      integers.push_back(nearest(e * power(bits - scale)));
      exact = exact && integers.back() == e * power(bits - scale);
      const cpp_int unit = ceiling_of(abs(e) * power(16 - scale));
      sum += unit, squares += unit * unit, max = std::max(max, unit);
      digits.push_back(floor_of(abs(e) * power(7 - scale)));
    }
    zero = top == 0;
    one_norm = cpp_rational(sum) * power(-16);
  }

  /// ||a'||_1, ||a'||_2^2, ||a'||_inf in units of 2^(bits - 16), by R8.
  [[nodiscard]] std::array<cpp_int, 3> limits() const {
    if (bits >= 16 || zero) return {sum, squares, max};
    const cpp_int h = cpp_int(1) << static_cast<unsigned>(15 - bits);
    return {sum + k * h, squares + 2 * h * sum + k * h * h, max + h};
  }

  std::vector<cpp_rational> elements;
  int bits, scale = 0;
  std::int64_t k;
  std::vector<cpp_int> integers, digits;
  cpp_int sum = 0, squares = 0, max = 0;
  cpp_rational one_norm;
  bool exact = true, zero = false;
};

/// A vector that is difficult in the given way.
std::vector<cpp_rational> sample(RandomStream& random, int k, int kind) {
  const int below = static_cast<int>(std::abs(random.signed_unit()) * 50) + 1;
  std::vector<cpp_rational> x;
  for (int l = 0; l < k; ++l) {
    const double u = random.signed_unit();
    switch (kind) {
      case 0: x.emplace_back(u); break;
      case 1: x.emplace_back(std::abs(u)); break;
      case 2: x.push_back(cpp_rational(u) * power(-static_cast<int>(std::abs(random.signed_unit()) * 80))); break;
      case 3: x.emplace_back(0x1.fffffffffffffp0); break;  // rounds up to 2^p
      case 4: x.push_back(1 + power(-below)); break;       // ties of p = below
      case 5: x.emplace_back(std::round(7 * u)); break;    // exact
      case 6: x.push_back(cpp_rational(std::round(2 * std::abs(u))) * power(-1074)); break;
      default: x.emplace_back(0);
    }
  }
  return x;
}

void check_guard(const Rounded& a, const Rounded& b, const cpp_int& magnitude) {
  const auto x = a.limits(), y = b.limits();
  const cpp_rational unit = power(a.bits + b.bits - 32), w(magnitude);
  EXPECT_LE(w, unit * cpp_rational(x[0] * y[2]));
  EXPECT_LE(w, unit * cpp_rational(x[2] * y[0]));
  EXPECT_LE(w * w, unit * unit * cpp_rational(x[1] * y[1]));
  const bool floors = (a.bits >= 7 || a.exact) && (b.bits >= 7 || b.exact);
  if (!floors) return;
  cpp_int level = a.zero || b.zero ? 0 : a.k;
  for (std::size_t l = 0; l < a.digits.size() && level != 0; ++l)
    level += a.digits[l] * b.digits[l] + a.digits[l] + b.digits[l];
  EXPECT_LE(w, power(a.bits + b.bits - 14) * cpp_rational(level)) << a.bits << 'x' << b.bits;
}

/// The error over its bound; 0 if the bound is 0.
cpp_rational check_bound(const Rounded& a, const Rounded& b) {
  cpp_rational exact = 0, rounded = 0;
  for (std::size_t l = 0; l < a.elements.size(); ++l) {
    exact += a.elements[l] * b.elements[l];
    rounded += cpp_rational(a.integers[l] * b.integers[l]);
  }
  const cpp_rational error = abs(exact * power(-a.scale - b.scale) - rounded * power(-a.bits - b.bits));
  const cpp_rational s = a.exact ? cpp_rational(0) : power(-a.bits - 1), t = b.exact ? cpp_rational(0) : power(-b.bits - 1);
  const cpp_rational bound = s * b.one_norm + t * (a.one_norm + a.k * s);
  EXPECT_LE(error, bound) << a.bits << 'x' << b.bits;
  const cpp_rational half_a = power(-a.bits - 1), half_b = power(-b.bits - 1);
  EXPECT_LE(error, a.k * (half_a + half_b * (1 + half_a))) << "a priori";
  return bound == 0 ? cpp_rational(0) : cpp_rational(error / bound);
}

cpp_rational check_pair(const Rounded& a, const Rounded& b) {
  cpp_int magnitude = 0;
  for (const auto* const of : {&a, &b})
    for (const auto& x : of->integers) EXPECT_LE(abs(x), cpp_int(1) << static_cast<unsigned>(of->bits));
  for (std::size_t l = 0; l < a.integers.size(); ++l) magnitude += abs(a.integers[l] * b.integers[l]);
  check_guard(a, b, magnitude);
  return check_bound(a, b);
}

TEST(ResidueInequalities, GuardsAndBoundsHold) {
  RandomStream random(2);
  const auto bits = [&random] { return 1 + static_cast<int>(std::abs(random.signed_unit()) * 119); };
  for (const int k : {1, 2, 5, 16, 40})
    for (int kind_a = 0; kind_a < 8; ++kind_a)
      for (int kind_b = 0; kind_b < 8; ++kind_b)
        for (int trial = 0; trial < 4; ++trial)
          check_pair(Rounded(sample(random, k, kind_a), bits()), Rounded(sample(random, k, kind_b), bits()));
}

/// The bound is attained if all errors are a half with one sign: elements half a unit above even integers, times ones.
TEST(ResidueInequalities, TheBoundIsAttained) {
  RandomStream random(3);
  for (const int bits : {5, 20, 40}) {
    std::vector<cpp_rational> a, ones;
    for (int l = 0; l < 40; ++l) {
      const cpp_int even = (cpp_int(1) << static_cast<unsigned>(bits - 1)) + 2 * (l % 3);
      a.push_back(even + cpp_rational(1, 2));
      ones.emplace_back(1);
    }
    const Rounded x(a, bits), y(ones, 2);
    EXPECT_GT(check_pair(x, y), cpp_rational(999, 1000)) << bits;
  }
}

}  // namespace
}  // namespace ozbound::residue_inequalities_test
