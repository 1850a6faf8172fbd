// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/host_device.hpp"

namespace ozbound::gpu {

/// The summand of a row or a column for the exponents of its entries. With `special` or `outside`, the sum is the exponent of
/// no double, whatever the other summand is.
struct EntryExponent {
  static constexpr std::int32_t special = -(1 << 21), outside = -(1 << 24);

  OZB_HD static std::int32_t of(std::int32_t exponent, bool is_special, bool is_outside) {
    return is_outside ? outside : is_special ? special : exponent;
  }
};

}  // namespace ozbound::gpu
