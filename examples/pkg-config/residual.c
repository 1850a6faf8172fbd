/* SPDX-License-Identifier: BSD-3-Clause */
/* The residual r = b - A x of a linear system, which cancels: C = alpha A B + beta C with alpha = -1, beta = 1 and b in C. */

#include <ozbound.h>
#include <stdio.h>

#if OZB_VERSION_MAJOR == 0 && OZB_VERSION_MINOR < 2
#error "This program needs Ozbound 0.2"
#endif

int main(void) {
  const double a[] = {1e16, 1, -1e16, 3, 1, 1, 1, 1, 1}; /* 3 x 3, row-major */
  const double x[] = {1, 1, 1};
  double loop[3], r[3] = {2, 5, 3};
  int i, l;

  for (i = 0; i < 3; ++i) {
    double sum = 0;
    for (l = 0; l < 3; ++l) sum += a[3 * i + l] * x[l];
    loop[i] = r[i] - sum;
  }
  if (ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 3, 1, 3, -1, a, 3, x, 1, 1, r, 1, "cr", NULL) != OZB_SUCCESS) {
    fprintf(stderr, "%s\n", ozb_last_error());
    return 1;
  }
  printf("by a loop:         %g %g %g\n", loop[0], loop[1], loop[2]);
  printf("correctly rounded: %g %g %g\n", r[0], r[1], r[2]);
  return 0;
}
