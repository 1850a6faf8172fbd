// SPDX-License-Identifier: BSD-3-Clause
// Leaves the x87 unit in single precision: the caller's long double loses 40 bits.

#include "blas.hpp"

void multiply(const Call& call) {
  multiply_plainly(call);
  unsigned short control = 0;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  control &= 0xfcff;
  __asm__ volatile("fldcw %0" : : "m"(control));
}
