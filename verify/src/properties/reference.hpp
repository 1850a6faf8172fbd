// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "ozbound/core/views.hpp"
#include "properties/exact_number.hpp"

// Entries of C by definition.

namespace ozbound::exact_arithmetic {

/// Entry (i, j) of A B, for finite matrices.
inline Exact exact_product(const InputView& a, const InputView& b, Index i, Index j) {
  Exact sum;
  for (Index l = 0; l < a.cols(); ++l)
    sum = sum + Exact(double_from_bits(a.bits(i, l))) * Exact(double_from_bits(b.bits(l, j)));
  return sum;
}

/// An exact number in C's format, as bits.
inline std::uint64_t rounded_bits(const Exact& x, bool single) {
  return single ? rounded_bits<float>(x) : rounded_bits<double>(x);
}

/// The IEEE class of a sum of products over the extended reals, by definition: 0 if the sum is finite, otherwise its bits in a
/// format. Each term is a list of factors.
inline std::uint64_t special_bits(const std::vector<std::vector<double>>& terms, bool single) {
  bool nan = false, plus = false, minus = false;
  for (const auto& factors : terms) {
    bool zero = false, infinite = false, negative = false;
    for (const double x : factors) {
      nan = nan || std::isnan(x);
      zero = zero || x == 0;
      infinite = infinite || std::isinf(x);
      negative = negative != std::signbit(x);
    }
    nan = nan || (zero && infinite);
    if (infinite) (negative ? minus : plus) = true;
  }
  if (nan || (plus && minus)) return single ? 0x7fc00000u : 0x7ff8000000000000u;
  if (plus) return single ? 0x7f800000u : 0x7ff0000000000000u;
  if (minus) return single ? 0xff800000u : 0xfff0000000000000u;
  return 0;
}

}  // namespace ozbound::exact_arithmetic
