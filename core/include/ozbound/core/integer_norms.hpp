// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// Exact integer norms of a vector of non-negative integers; the unit is stated where they are kept.
struct IntegerNorms {
  /// Bits below a weight (below rho for a vector itself) at which magnitudes are rounded up to integers.
  static constexpr int fraction_bits = 16;

  std::uint64_t sum = 0;          ///< ||.||_1
  std::uint64_t sum_squares = 0;  ///< ||.||_2^2; stays at 2^64 - 1 once it would pass
  std::uint64_t max = 0;          ///< ||.||_inf

  void add(std::uint64_t x);
  void add(const IntegerNorms& other);  ///< of further elements
  [[nodiscard]] OZB_HD constexpr bool zero() const { return max == 0; }
};

}  // namespace ozbound
