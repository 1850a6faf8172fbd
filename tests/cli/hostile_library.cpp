// SPDX-License-Identifier: BSD-3-Clause
// A library loaded before the command that leaves its own floating-point environment behind, as one built with -ffast-math may.

#include <cfenv>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace {

[[gnu::constructor]] void disturb() {
  std::fesetround(FE_UPWARD);
#ifdef __SSE2__
  _mm_setcsr(_mm_getcsr() | 0x8040);  // subnormal results are 0, and so are subnormal operands
#endif
}

}  // namespace
