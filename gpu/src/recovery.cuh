// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "combine_entry.cuh"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/detail/residue_constants.hpp"

// C' from its residues, by doubles that hold integers, exact in any order below 2^53 (docs/derivations/residues.md, R6, R7).

namespace ozbound::gpu {

/// RN(x) for |x| < 2^51.
__device__ inline double nearest_integer(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/// z - p RN(z / p), for |z| < 2^46: the balanced residue, except that for p = 256 a tie may give +128.
__device__ inline double rest_of(double z, double p, double reciprocal) { return z - nearest_integer(z * reciprocal) * p; }

/// True if an integer of limbs in radix 2^bits, most significant first and each below 2^53, is above 0.
template <int Limbs>
__device__ bool is_positive(const std::int64_t (&limbs)[Limbs], int bits) {
  std::int64_t carry = 0;
  bool rest = false;
  for (int g = Limbs - 1; g > 0; --g) {
    carry += limbs[g];
    rest = rest || (carry & ((std::int64_t{1} << bits) - 1)) != 0;
    carry >>= bits;
  }
  carry += limbs[0];
  return carry > 0 || (carry == 0 && rest);
}

/// The largest number of moduli whose C' has this many limbs (residue_limbs_of).
template <int Limbs>
constexpr int max_moduli_of = 5 * Limbs;

/// True if C is C' rounded: nothing is scaled or added, and no entry stays open.
__device__ inline bool is_plain(const DeviceEpilogue& epilogue) {
  return epilogue.bound == nullptr && epilogue.c.is_double && epilogue.alpha_value() == 1 && is_zero(epilogue.beta_value());
}

struct TwoSum {
  double sum, error;

  __device__ TwoSum(double x, double y) : sum(x + y) {
    const double of_y = sum - x;
    error = (x - (sum - of_y)) + (y - of_y);
  }
};

/// x + y + z, rounded once. The sum of the small parts is rounded to odd (Boldo, Melquiond, IEEE TC 2008, algorithm of figure
/// 4). @pre no intermediate overflows or falls below the normal range, except for 0.
__device__ inline double sum_of_three(double x, double y, double z) {
  const TwoSum lower(y, z), upper(x, lower.sum), rest(upper.error, lower.error);
  auto odd = static_cast<std::uint64_t>(__double_as_longlong(rest.sum));
  if (rest.error != 0 && (odd & 1) == 0) odd += ((rest.error > 0) == (rest.sum > 0)) ? 1 : -1;
  return upper.sum + __longlong_as_double(static_cast<long long>(odd));
}

template <int Limbs>
struct DoubleLimbs {
  double of[Limbs];
};

/// C' as limbs in radix 2^limb_bits, most significant first: integers below 2^51, not carried.
template <int Limbs>
class RecoveredInteger {
 public:
  __device__ RecoveredInteger(const ResidueConstants& moduli, const DoubleLimbs<Limbs>& limbs) : moduli_(moduli) {
#pragma unroll
    for (int g = 0; g < Limbs; ++g) limbs_[g] = limbs.of[g];
  }

  [[nodiscard]] __device__ DoubleLimbs<Limbs> limbs() const {
    DoubleLimbs<Limbs> copy;
#pragma unroll
    for (int g = 0; g < Limbs; ++g) copy.of[g] = limbs_[g];
    return copy;
  }

  /// @param digit_of returns c_t = C' (P / p)^-1 mod p of a modulus, at most 128 in magnitude.
  template <class DigitOf>
  __device__ RecoveredInteger(const ResidueConstants& moduli, const DigitOf& digit_of) : moduli_(moduli) {
#pragma unroll
    for (int t = 0; t < max_moduli_of<Limbs>; ++t) {
      if (t >= moduli.count) break;
      const double c = digit_of(t);
#pragma unroll
      for (int g = 0; g < Limbs; ++g) limbs_[g] = __fma_rn(c, moduli.weight[t][g], limbs_[g]);
    }
    const double share = limbs_[0] * moduli.reciprocal_product, quotient = nearest_integer(share);
#pragma unroll
    for (int g = 0; g < Limbs; ++g) limbs_[g] = __fma_rn(-quotient, moduli.product[g], limbs_[g]);
    if (fabs(share - quotient) > 0.5 - 0x1p-8) take_nearest();
  }

  /// C' 2^exponent, rounded once to binary64. Returns false if the result may not be normal, or if this function does not
  /// handle the case.
  [[nodiscard]] __device__ bool round(int exponent, double& rounded) const {
    const double radix = power_of_two(moduli_.limb_bits);
    double value = limbs_[0];
    if constexpr (Limbs == 2) value = __fma_rn(limbs_[0], radix, limbs_[1]);
    if constexpr (Limbs == 3)
      value =
          moduli_.count <= 13 ? rounded_by_two(radix) : sum_of_three(limbs_[0] * (radix * radix), limbs_[1] * radix, limbs_[2]);
    if constexpr (Limbs > 3) {
      const int bits = moduli_.groups == 3 ? 48 : 52;  // of each of three groups, which doubles hold
      std::int64_t groups[3];
      to_three_groups(bits, groups, 1);
      const double unit = power_of_two(bits), top = static_cast<double>(groups[0]) * (unit * unit);
      value = sum_of_three(top, static_cast<double>(groups[1]) * unit, static_cast<double>(groups[2]));
    }
    if (value == 0) return false;
    const int top = static_cast<int>(__double_as_longlong(value) >> 52 & 0x7ff) - 1023 + exponent;
    if (top < -1022 || top > 1022) return false;
    const int half = exponent / 2;  // each power is normal
    rounded = value * power_of_two(half) * power_of_two(exponent - half);
    return true;
  }

  /// Stores the groups of residue_layout at groups[g * stride]. `carried`: all except the first are from 0 to the radix less 1.
  __device__ void to_groups(bool carried, std::int64_t* groups, Index stride) const {
    if constexpr (Limbs == 4)
      if (moduli_.groups == 3) return to_three_groups(48, groups, stride);
    std::int64_t limbs[Limbs];
    to_integers(limbs);
    if (carried) carry(limbs, moduli_.limb_bits);
#pragma unroll
    for (int g = 0; g < Limbs; ++g) groups[g * stride] = limbs[g];
  }

 private:
  /// C' of at most 102 bits, rounded once: as H 2^52 + L, with integers that doubles hold.
  [[nodiscard]] __device__ double rounded_by_two(double radix) const {
    static_assert(Limbs == 3);
    const int r = moduli_.limb_bits;  // below 36
    const double from_last = nearest_integer(limbs_[2] * power_of_two(-r)), last = __fma_rn(-from_last, radix, limbs_[2]);
    const double middle = limbs_[1] + from_last, from_middle = nearest_integer(middle * power_of_two(r - 52));
    const double high = __fma_rn(limbs_[0], power_of_two(2 * r - 52), from_middle);
    const double low = __fma_rn(__fma_rn(-from_middle, power_of_two(52 - r), middle), radix, last);
    return __fma_rn(high, 0x1p52, low);
  }

  __device__ void to_integers(std::int64_t (&limbs)[Limbs]) const {
#pragma unroll
    for (int g = 0; g < Limbs; ++g) limbs[g] = __double2ll_rn(limbs_[g]);
  }

  /// Three groups of this many bits, carried, from four limbs of r bits. @pre r <= bits <= 3 r / 2, and the first group has at
  /// most 53 bits.
  __device__ void to_three_groups(int bits, std::int64_t* groups, Index stride) const {
    const int r = moduli_.limb_bits, a = bits - r, b = 2 * a;
    std::int64_t limbs[Limbs];
    to_integers(limbs);
    carry(limbs, r);
    groups[2 * stride] = limbs[3] | (limbs[2] & ((std::int64_t{1} << a) - 1)) << r;
    groups[stride] = limbs[2] >> a | (limbs[1] & ((std::int64_t{1} << b) - 1)) << (r - a);
    groups[0] = (limbs[1] >> b) + limbs[0] * (std::int64_t{1} << (r - b));
  }

  __device__ static void carry(std::int64_t (&limbs)[Limbs], int bits) {
#pragma unroll
    for (int g = Limbs - 1; g > 0; --g) {
      limbs[g - 1] += limbs[g] >> bits;
      limbs[g] &= (std::int64_t{1} << bits) - 1;
    }
  }

  /// Adds or subtracts P until 2 |C'| < P, which holds for exactly one of these numbers. Next to a half, the nearest multiple
  /// may be off by one.
  __device__ void take_nearest() {
    for (const int sign : {1, -1}) {
      std::int64_t beyond[Limbs];  // 2 sign C' - P
#pragma unroll
      for (int g = 0; g < Limbs; ++g) beyond[g] = __double2ll_rn(2 * sign * limbs_[g] - moduli_.product[g]);
      if (!is_positive(beyond, moduli_.limb_bits)) continue;
#pragma unroll
      for (int g = 0; g < Limbs; ++g) limbs_[g] -= sign * moduli_.product[g];
    }
  }

  const ResidueConstants& moduli_;
  double limbs_[Limbs] = {};
};

/// Finishes entry (i, j) of C from its integer C', in all cases. @param more exponent to add to those of the layout. Not
/// inline, because it takes many registers that most entries do not need.
template <int Limbs>
__device__ __noinline__ void combine_recovered(Index i, Index j, DoubleLimbs<Limbs> limbs, const ResidueConstants& moduli,
                                               const SumLayout& layout, const DeviceSlices& a, const DeviceSlices& b,
                                               const DeviceEpilogue& epilogue, int more = 0) {
  finish_entry(i, j, a, b, epilogue, [&](int scale, Dyadic c0, double error) {
    std::int64_t groups[Limbs];
    RecoveredInteger<Limbs>(moduli, limbs).to_groups(false, groups, 1);
    return combine(groups, 1, layout, scale + more, epilogue.scalars(), c0, error);
  });
}

/// Finishes an entry, inline if C is C' rounded. @param plain is_plain(epilogue)
template <int Limbs>
__device__ void finish_recovered(Index i, Index j, const RecoveredInteger<Limbs>& integer, const ResidueConstants& moduli,
                                 const SumLayout& layout, const DeviceSlices& a, const DeviceSlices& b,
                                 const DeviceEpilogue& epilogue, bool plain) {
  if (plain) {
    if (a.special[i] != 0 || b.special[j] != 0) return;
    double rounded;
    if (integer.round(a.exponents[i] + b.exponents[j] + layout.weight_exponent[layout.count - 1], rounded))
      return epilogue.c.set_bits(i, j, bits_of(rounded));
  }
  combine_recovered(i, j, integer.limbs(), moduli, layout, a, b, epilogue);
}

/// Calls launch(std::integral_constant<int, limbs>) for the limbs of this many moduli.
template <class Launch>
void with_limbs(int moduli, const Launch& launch) {
  switch (residue_limbs_of(moduli)) {
    case 1: return launch(std::integral_constant<int, 1>());
    case 2: return launch(std::integral_constant<int, 2>());
    case 3: return launch(std::integral_constant<int, 3>());
    default: return launch(std::integral_constant<int, 4>());
  }
}

}  // namespace ozbound::gpu
