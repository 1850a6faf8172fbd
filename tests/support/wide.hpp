// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/wide_integer.hpp"
#include "support/exact.hpp"

namespace ozbound::test {

template <int Limbs>
cpp_int exact(const WideInteger<Limbs>& x) {
  cpp_int result = 0;
  for (int i = Limbs - 1; i >= 0; --i) result = (result << 64) + x.limb[i];
  return result;
}

template <int Limbs>
Exact exact(const WideDyadic<Limbs>& x) {
  return {x.negative ? -exact(x.magnitude) : exact(x.magnitude), x.exponent};
}

inline Exact exact(const Dyadic& x) { return {x.negative ? -cpp_int(x.magnitude) : cpp_int(x.magnitude), x.exponent}; }

/// A random integer whose limbs are runs of zeros, ones, single bits and noise, of any length: carries and borrows run through
/// them.
template <int Limbs>
WideInteger<Limbs> sample_wide(RandomBits& random) {
  WideInteger<Limbs> result;
  const int used = random.between(0, Limbs);
  for (int i = 0; i < used; ++i) {
    switch (random.below(5)) {
      case 0: break;
      case 1: result.limb[i] = ~std::uint64_t{0}; break;
      case 2: result.limb[i] = std::uint64_t{1} << random.below(64); break;
      case 3: result.limb[i] = ~std::uint64_t{0} << random.below(64); break;
      default: result.limb[i] = random(); break;
    }
  }
  return result;
}

}  // namespace ozbound::test
