// SPDX-License-Identifier: BSD-3-Clause
// A blocked kernel, used from 21 rows on, that sets FTZ, DAZ and rounding towards zero at its end and never resets them.

#include <xmmintrin.h>

#include "blas.hpp"

void multiply(const Call& call) {
  multiply_plainly(call);
  if (call.m > 20) _mm_setcsr(_mm_getcsr() | 0xe040);
}
