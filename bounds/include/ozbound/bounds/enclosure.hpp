// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/engine.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Two-sided enclosure of |A||B|; docs/derivations/enclosure.md. Rigorous; the same bits on every engine and thread count.
///
/// lower(i, j) * 2^e <= (|A||B|)_ij <= upper(i, j) * 2^e with e = row_exponents[i] + column_exponents[j]. `upper` is 0 exactly
/// in two cases: no product a_il b_lj is non-zero, or the row or the column holds a NaN or an infinity, so that no bound is
/// needed.
struct Enclosure {
  Matrix<double> lower;                        ///< m x n
  Matrix<double> upper;                        ///< m x n
  std::vector<std::int32_t> row_exponents;     ///< 2^e = 2 ufp(max |a_i|)
  std::vector<std::int32_t> column_exponents;  ///< the same of B's columns
  int levels = 1;                              ///< number of levels that were needed
};

/// Level 1: one INT8 product of the first-slice magnitudes, L = 2^-14 floor(2^7 |A|) floor(2^7 |B|), U = L plus row sums,
/// column sums and k. Level 2, if the upper bound is more than twice the lower one for some entry: one FP32 product of the
/// magnitudes scaled by row and column and rounded towards zero, deflated and inflated by its own error. Level 3, for entries
/// whose lower bound is still 0: the largest product of the leading bits.
Enclosure enclose_product(InputView a, InputView b, const Engine& engine);

}  // namespace ozbound
