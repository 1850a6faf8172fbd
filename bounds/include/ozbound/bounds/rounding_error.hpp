// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace ozbound {

/// The part of an ErrorBound for the rounding. The error before the rounding is relative to a power of two and to |alpha|.
struct RoundingError {
  double alpha = 1;
  double result_factor = 0x1p-53;  ///< u of C's format if C^ is rounded once
  double underflow = 0x1p-1074;    ///< eta/2 of C's format, rounded up to a double
  bool rounded_once = true;
};

}  // namespace ozbound
