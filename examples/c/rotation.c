/* SPDX-License-Identifier: BSD-3-Clause */
/* Two rotations, by 30 and by 60 degrees, make one by 90 degrees. Shows how far the product of their matrices is from it, and
 * how much of the difference may be the product's own error. */

#include <math.h>
#include <ozbound.h>
#include <stdio.h>

int main(void) {
  const double h = sqrt(0.75);
  const double by_30[] = {h, -0.5, 0.5, h}, by_60[] = {0.5, -h, h, 0.5}, by_90[] = {0, -1, 1, 0};
  double product[4];
  ozb_certificate* certificate;
  int i, j, holds;

  const int status =
      ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 2, 2, 1, by_30, 2, by_60, 2, 0, product, 2, "cr", &certificate);
  if (status != OZB_SUCCESS) {
    fprintf(stderr, "%s: %s\n", ozb_status_text(status), ozb_last_error());
    return 1;
  }
  ozb_certificate_holds(certificate, &holds);
  printf("Ozbound %s: %s\n", ozb_version(), holds ? "correctly rounded" : "not proven");
  for (i = 0; i < 2; ++i)
    for (j = 0; j < 2; ++j) {
      const double c = product[2 * i + j];
      double bound;
      ozb_certificate_bound(certificate, i, j, c, &bound);
      printf("C(%d, %d) = %4.1f, off by %8.2g, of which the product's error is at most %.2g\n", i, j, c, c - by_90[2 * i + j],
             bound);
    }
  ozb_certificate_destroy(certificate);
  return 0;
}
