// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"

namespace ozbound {

/// Exact integer norms of a vector of non-negative integers. The unit is documented with each use.
struct IntegerNorms {
  /// Magnitudes are rounded up to integers at this many bits below a weight (below rho for a vector itself).
  static constexpr int fraction_bits = 16;

  std::uint64_t sum = 0;          ///< ||.||_1
  std::uint64_t sum_squares = 0;  ///< ||.||_2^2; saturates at 2^64 - 1
  std::uint64_t max = 0;          ///< ||.||_inf

  void add(std::uint64_t x);
  void add(const IntegerNorms& other);  ///< adds the norms of further elements
  [[nodiscard]] OZB_HD constexpr bool zero() const { return max == 0; }
};

}  // namespace ozbound
