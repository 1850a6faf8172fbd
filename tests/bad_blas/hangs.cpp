// Waits for a thread that never comes, where the inner dimension is 64 or more.

#include <unistd.h>

#include "blas.hpp"

void multiply(const Call& call) {
  while (call.k >= 64) pause();
  multiply_plainly(call);
}
