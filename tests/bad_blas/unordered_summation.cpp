// Where a sum begins depends on how many calls there were, and in which process: nothing is reproducible.

#include <unistd.h>

#include "blas.hpp"

void multiply(const Call& call) {
  static unsigned calls = static_cast<unsigned>(getpid());
  const int start = call.k > 0 ? static_cast<int>(++calls % static_cast<unsigned>(call.k)) : 0;
  for_each_entry(call, [&](int i, int j) {
    double sum = 0;
    for (int l = start; l < call.k; ++l) sum += call.a_at(i, l) * call.b_at(l, j);
    for (int l = 0; l < start; ++l) sum += call.a_at(i, l) * call.b_at(l, j);
    return sum;
  });
}
