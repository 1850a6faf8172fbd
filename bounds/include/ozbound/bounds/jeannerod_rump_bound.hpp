// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// Jeannerod, Rump: "Improved error bounds for inner products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34,
/// 2013: |fl(AB) - AB| <= k u |A||B| for k rounded products summed in any order, for any k u. No product may underflow, and
/// nothing may overflow. u = 2^-53. Returns the multiple of |A||B|, rounded up.
double jeannerod_rump_upper(Index k);

}  // namespace ozbound
