// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/digits.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/matrix.hpp"

// Code shared by slicing an operand and measuring its slices.

namespace ozbound {

/// Elements of a vector between checks of CancelScope, if each takes about 50 ns.
inline constexpr Index elements_of_poll = 4096;

inline Slicing checked(Slicing slicing) {
  if (slicing.slices < 1 || slicing.slices > max_slices)
    throw std::invalid_argument("slices must be 1 … " + std::to_string(max_slices) + ": " + std::to_string(slicing.slices));
  return slicing;
}

/// Exponents of the weights of nearest_adaptive's digits over the vector's scale. The exponent of slice p, before its beta - 1
/// bits, is ceil(log2 max |T_(p-1)|) (Uchino, Ozaki, Imamura, Algorithm 5). If nothing remains, it is beta below the one
/// before. The tails are computed again for each slice, which takes no memory.
template <class T>
void adaptive_weights(MatrixView<const T> vectors, Index i, Slicing slicing, int scale, std::int16_t* weights) {
  const int beta = slicing.encoding.beta;
  std::array<std::int8_t, max_slices> digits{};
  for (int slice = 1; slice <= slicing.slices; ++slice) {
    bool left = false;
    int top = std::numeric_limits<int>::min();
    for (Index l = 0; l < vectors.cols(); ++l) {
      if (l % elements_of_poll == 0) poll_cancelled();
      const auto tail = split(to_dyadic(vectors(i, l)), slice - 1, scale, weights, digits.data());
      if (tail.rest == 0) continue;
      left = true;
      top = std::max(top, tail.ceil_log2());
    }
    const int before = slice == 1 ? 1 : weights[slice - 2];
    weights[slice - 1] = static_cast<std::int16_t>(left ? top - scale + 1 - beta : before - beta);
  }
}

}  // namespace ozbound
