// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// Jeannerod, Rump: "Improved error bounds for inner products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34,
/// 2013: |fl(AB) - AB| <= k u |A||B| for k rounded products summed in any order, whatever k u is; no product may underflow,
/// nothing overflow. u = 2^-53. The multiple of |A||B|, rounded up.
double jeannerod_rump_upper(Index k);

}  // namespace ozbound
