// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "measurement.hpp"
#include "ozbound/core/kernel.hpp"

namespace ozbound::bench {

/// The kernel alone: all sums of an m x n x k product of random digits. The digits are packed beforehand, each sum runs over
/// the whole inner dimension at once, and the sums are not used further.
class BareKernel {
 public:
  BareKernel(const std::string& kernel, const Shape& shape);

  void multiply(int threads) const;

 private:
  /// Digits of an operand, panel by panel.
  struct Panels {
    Index vectors = 0;  ///< of the operand
    Index width = 0;    ///< of every panel except the last
    Index length = 0;   ///< digits of a vector
    std::vector<std::int8_t> digits;

    Panels(Index all_vectors, const PanelLayout& layout, Index inner, std::uint64_t seed);
    [[nodiscard]] Index count() const { return (vectors + width - 1) / width; }
    [[nodiscard]] Index in_panel(Index panel) const { return std::min(width, vectors - panel * width); }
    [[nodiscard]] const std::int8_t* panel(Index panel) const { return digits.data() + panel * width * length; }
  };

  const Kernel& kernel_;
  Panels a_;
  Panels b_;
};

}  // namespace ozbound::bench
