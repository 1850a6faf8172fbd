// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/wide_integer.hpp"
#include "ozbound/core/digits.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/host_device.hpp"
#include "ozbound/core/residue_plan.hpp"
#include "ozbound/core/residues.hpp"

// The exact arithmetic of residues (docs/derivations/residues.md): integers from doubles, their residues, and the recovery of
// an integer from its residues.

namespace ozbound {

/// 2^shift mod p. @pre shift >= 0, 2 <= p <= 256.
OZB_HD constexpr std::int32_t power_mod(int shift, std::int32_t p) {
  std::int32_t power = 1;
  for (int s = 0; s < shift; ++s) power = 2 * power % p;
  return power;
}

/// The residue of x (mod p) in [-floor(p / 2), ceil(p / 2) - 1]: [-128, 127] for 256, symmetric for odd p (R3).
OZB_HD constexpr std::int32_t balanced(std::int64_t x, std::int32_t p) {
  auto rest = static_cast<std::int32_t>(x % p);
  if (rest < 0) rest += p;
  return 2 * rest >= p ? rest - p : rest;
}

/// x rounded to a multiple of 2^unit, to nearest, ties to even: magnitude * 2^shift units.
struct RoundedInteger {
  std::uint64_t magnitude;  ///< < 2^53 + 1
  int shift;                ///< >= 0
  bool negative;

  OZB_HD static constexpr RoundedInteger of(Dyadic x, int unit) {
    const int up = x.exponent - unit;
    return {up >= 0 ? x.magnitude : shift_right_to_nearest(x.magnitude, -up), up >= 0 ? up : 0, x.negative};
  }

  [[nodiscard]] OZB_HD constexpr std::int32_t residue(std::int32_t p) const {
    if (magnitude == 0) return 0;
    const auto rest = static_cast<std::int64_t>(magnitude % static_cast<std::uint64_t>(p)) * power_mod(shift, p);
    return balanced(negative ? -rest : rest, p);
  }
};

/// x^-1 mod p, in [1, p). @pre x and p are coprime, 0 < x < p <= 256.
OZB_HD constexpr std::int32_t inverse_mod(std::int32_t x, std::int32_t p) {
  for (std::int32_t y = 1; y < p; ++y)
    if (x % p * y % p == 1) return y;
  return 0;
}

inline constexpr int residue_limbs = 3;  ///< 64-bit words: N P < 2^161

/// H = floor((P - 1) / 2), the largest |C'| that can be recovered, from the product P of the moduli. @pre P > 0.
OZB_HD constexpr WideInteger<residue_limbs> residue_half(WideInteger<residue_limbs> product) {
  product.subtract(WideInteger<residue_limbs>{{1}});
  return shifted<residue_limbs>(product, -1);
}

/// The constants that recover an integer C' from its residues modulo the first N moduli, by the Chinese remainder theorem (R5).
struct ResidueBase {
  int count = 0;                                         ///< N
  WideInteger<residue_limbs> product = {};               ///< P, the product of the moduli
  WideInteger<residue_limbs> half = {};                  ///< H, the largest recoverable |C'|
  WideInteger<residue_limbs> cofactor[max_moduli] = {};  ///< P / p_t
  std::int32_t inverse[max_moduli] = {};                 ///< (P / p_t)^-1 mod p_t, in [1, p_t)

  OZB_HD static constexpr ResidueBase of(int moduli_count) {
    ResidueBase base;
    base.count = moduli_count;
    base.product.limb[0] = 1;
    for (int t = 0; t < moduli_count; ++t) base.product = times(base.product, residue_moduli[t]);
    base.half = residue_half(base.product);
    for (int t = 0; t < moduli_count; ++t) {
      base.cofactor[t].limb[0] = 1;
      std::int32_t rest = 1;
      for (int s = 0; s < moduli_count; ++s) {
        if (s == t) continue;
        base.cofactor[t] = times(base.cofactor[t], residue_moduli[s]);
        rest = rest * (residue_moduli[s] % residue_moduli[t]) % residue_moduli[t];
      }
      base.inverse[t] = inverse_mod(rest, residue_moduli[t]);
    }
    return base;
  }

  /// c_t = C' (P / p_t)^-1 mod p_t in [0, p_t), from the integer sum of modulus t or any number congruent to it.
  [[nodiscard]] OZB_HD constexpr std::int32_t digit(std::int64_t sum, int t) const {
    auto rest = static_cast<std::int32_t>(sum % residue_moduli[t]);
    if (rest < 0) rest += residue_moduli[t];
    return rest * inverse[t] % residue_moduli[t];
  }

  /// C' with |C'| <= half, from the N sums: X = sum_t c_t P / p_t < N P, C' = X - Q P. Two's complement.
  [[nodiscard]] OZB_HD constexpr WideInteger<residue_limbs> reconstruct(const std::int64_t* sums, Index stride) const {
    WideInteger<residue_limbs> x;
    for (int t = 0; t < count; ++t) {
      const auto term = multiply(cofactor[t], static_cast<std::uint64_t>(digit(sums[t * stride], t)));
      x.add(shifted<residue_limbs>(term, 0));
    }
    while (!x.less_than(product)) x.subtract(product);  // at most N - 1 times
    if (half.less_than(x)) x.subtract(product);         // wraps to two's complement
    return x;
  }

 private:
  OZB_HD static constexpr WideInteger<residue_limbs> times(const WideInteger<residue_limbs>& x, std::int32_t y) {
    return shifted<residue_limbs>(multiply(x, static_cast<std::uint64_t>(y)), 0);
  }
};

/// H of ResidueBase for every number of moduli from 1 on.
struct ResidueHalves {
  WideInteger<residue_limbs> of[max_moduli + 1] = {};

  constexpr ResidueHalves() {
    WideInteger<residue_limbs> product{{1}};
    for (int n = 1; n <= max_moduli; ++n) {
      product = shifted<residue_limbs>(multiply(product, static_cast<std::uint64_t>(residue_moduli[n - 1])), 0);
      of[n] = residue_half(product);
    }
  }
};
inline constexpr ResidueHalves residue_halves;

/// guard_limit, from H and the bits of both operands together.
OZB_HD constexpr std::uint64_t guard_limit(const WideInteger<residue_limbs>& half, int bits) {
  const int unit = bits - 2 * IntegerNorms::fraction_bits;
  return half.bits() - unit > 64 ? ~std::uint64_t{0} : half.word_at(unit);
}

/// The largest FirstDigitSums::largest_units that is held, from H and the bits of both operands together (R9).
OZB_HD constexpr std::uint64_t first_digits_limit(const WideInteger<residue_limbs>& half, int bits) {
  return guard_limit(half, bits) >> (2 * (IntegerNorms::fraction_bits - 7));
}

/// Number of limbs into which kernels cut P and P / p_t, and bits of each: P < 2^(limbs * bits). N * 128 * 2^bits + (N / 2 + 1)
/// * 2^bits < 2^51. Sums of N products of a balanced residue and a limb, less a multiple of P, are therefore exact in doubles
/// (R6).
OZB_HD constexpr int residue_limbs_of(int moduli_count) {
  return moduli_count <= 5 ? 1 : moduli_count <= 10 ? 2 : moduli_count <= 15 ? 3 : 4;
}
OZB_HD constexpr int residue_limb_bits(int moduli_count) {
  const int limbs = residue_limbs_of(moduli_count);
  return (ResidueBase::of(moduli_count).product.bits() + limbs - 1) / limbs;
}

/// Number of carry-chain groups that hold C' of N moduli, and bits of their radix. These are the limbs, except for 16 to 18
/// moduli: three groups of 48 bits, which kernels round in one step.
OZB_HD constexpr int residue_groups(int moduli_count) {
  return moduli_count >= 16 && moduli_count <= 18 ? 3 : residue_limbs_of(moduli_count);
}
OZB_HD constexpr int residue_radix(int moduli_count) {
  return moduli_count >= 16 && moduli_count <= 18 ? 48 : residue_limb_bits(moduli_count);
}

/// Writes C', in two's complement, as the sums of a carry chain: group g at sums[g * stride], most significant first.
OZB_HD constexpr void to_groups(const WideInteger<residue_limbs>& x, int groups, int radix, std::int64_t* sums, Index stride) {
  const bool negative = (x.limb[residue_limbs - 1] >> 63) != 0;
  const auto word = [&](int low) {
    auto bits = x.word_at(low);
    if (negative && low > 64 * (residue_limbs - 1)) bits |= ~std::uint64_t{0} << (64 * residue_limbs - low);
    return bits;
  };
  for (int g = 0; g < groups; ++g) {
    const int low = radix * (groups - 1 - g);
    const auto bits = word(low);
    sums[g * stride] = static_cast<std::int64_t>(g == 0 ? bits : bits & ((std::uint64_t{1} << radix) - 1));
  }
}

/// Number of residue products whose sum fits INT32: floor((2^31 - 1) / 128^2) (docs/derivations/residues.md, R4).
inline constexpr Index residue_int32_terms = ((Index{1} << 31) - 1) / (128 * 128);

/// One product per layer: layer t of A with layer t of B.
inline std::vector<ProductGroup> residue_products(int layers) {
  std::vector<ProductGroup> groups;
  for (int t = 1; t <= layers; ++t) groups.push_back({2 * t, t, t});
  return groups;
}

/// The layout of C' as groups of a carry chain (to_groups). The unit of C' is rho_i sigma_j 2^-(bits_a + bits_b).
SumLayout residue_layout(const ResiduePlan& plan);

/// A bound of the most significant of these groups after carries, if |C'| <= H.
std::int64_t residue_head_upper(int moduli);

}  // namespace ozbound
