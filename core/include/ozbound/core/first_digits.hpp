// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/engine.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The product of the first digits d = floor(2^7 |x| / 2^e) of |A| and |B|, where e is a vector's scale: one INT8 product,
/// exact. It encloses |A||B| entry by entry, level 1 of docs/derivations/enclosure.md. With S = sum d_A d_B and U = S + sum d_A
/// + sum d_B + k, an entry lies between S and U, in units of 2^(e_i + e_j - 14); it is 0 if either vector is zero. A vector
/// with a NaN or an infinity counts as a zero vector.
struct FirstDigitSums {
  std::vector<VectorScale> row_scales, column_scales;
  Matrix<std::int64_t> sums;                        ///< S, m x n
  std::vector<std::int64_t> row_sums, column_sums;  ///< of first digits; 0 only for a zero vector
  bool loose = false;                               ///< S < U / 2 for some entry
  std::uint64_t largest_units = 0;                  ///< the largest U

  FirstDigitSums(InputView a, InputView b, const Engine& engine);

 private:
  void compare(Index k, int threads);
};

}  // namespace ozbound
