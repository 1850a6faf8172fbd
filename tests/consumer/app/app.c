/* SPDX-License-Identifier: BSD-3-Clause */
#include <ozbound.h>
#include <stdio.h>

int main(void) {
  const double a[] = {1, 2, 3, 4};
  const double b[] = {5, 6, 7, 8};
  double c[4];
  const int status = ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_TRANSPOSE, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2, "cr", NULL);
  if (status != OZB_SUCCESS) printf("%s: %s\n", ozb_status_text(status), ozb_last_error());
  return status == OZB_SUCCESS && c[0] == 17 && c[1] == 23 && c[2] == 39 && c[3] == 53 ? 0 : 1;
}
