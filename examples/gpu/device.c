/* SPDX-License-Identifier: BSD-3-Clause */
/* One product on the CPU and on the first CUDA device, with the same bits. Without a device it prints the reason in one line,
 * and exits with 2. */

#include <ozbound.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 128 };

static double a[N * N], b[N * N], on_cpu[N * N], on_device[N * N];

/* C = A B on the machine that is set for this thread. */
static void multiply(double* c) {
  int holds;
  ozb_certificate* certificate;
  if (ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, N, N, N, 1, a, N, b, N, 0, c, N, "cr", &certificate) != OZB_SUCCESS) {
    fprintf(stderr, "%s\n", ozb_last_error());
    exit(1);
  }
  ozb_certificate_holds(certificate, &holds);
  ozb_certificate_destroy(certificate);
  if (!holds) exit(1);
}

int main(void) {
  ozb_machine* machine;
  const char* backends;
  int i;

  if (ozb_machine_cuda(0, &machine) != OZB_SUCCESS) {
    fprintf(stderr, "%s\n", ozb_last_error());
    return 2;
  }
  for (i = 0; i < N * N; ++i) a[i] = 1.0 / (i % 97 + 1), b[i] = 1.0 / (i % 89 + 1);

  multiply(on_cpu);
  ozb_set_machine(machine, OZB_HOST); /* the device, with matrices in host memory; for device memory: 0, the device's number */
  multiply(on_device);
  ozb_set_machine(NULL, OZB_HOST);

  ozb_machine_backends(machine, &backends);
  printf("%s", backends);
  printf("correctly rounded on both, %s bits\n", memcmp(on_cpu, on_device, sizeof on_cpu) == 0 ? "the same" : "other");
  ozb_machine_destroy(machine);
  return 0;
}
