/* SPDX-License-Identifier: BSD-3-Clause */
/* No exception leaves libozbound.so, as a C program could not catch it. Tests exceptions of many kinds, and calls that work
 * after them. */

#include <ozbound.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failures, printf("line %d: %s; last error: %s\n", __LINE__, #condition, ozb_last_error())))

static int multiply(int64_t size, const char* target) {
  static const double a[] = {1, 2, 3, 4};
  static double c[4];
  return ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, size, size, size, 1, a, size, a, size, 0, c, size, target, NULL);
}

int main(void) {
  static const char zero_batch[] = "{\"schema\": 7}";
  const double one = 1;
  ozb_decision* decision = NULL;
  ozb_machine* machine = NULL;
  ozb_cancellation* cancellation = NULL;
  ozb_certificate* certificate = NULL;
  const char* json = NULL;
  double bound;
  float c;
  const float single = 1;

  CHECK(strcmp(ozb_version(), OZB_VERSION) == 0);
  CHECK(multiply(2, "cr") == OZB_SUCCESS);
  CHECK(multiply(-1, "cr") == OZB_INVALID_ARGUMENT);
  CHECK(multiply(2, "no target") == OZB_INVALID_ARGUMENT);
  CHECK(multiply(2, NULL) == OZB_INVALID_ARGUMENT);
  CHECK(multiply((int64_t)1 << 40, "cr") == OZB_INVALID_ARGUMENT); /* beyond the address space */
  CHECK(ozb_sgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, 1, &single, 1, &single, 1, 0, &c, 1, "componentwise:1e-12",
                  NULL) != OZB_SUCCESS);
  CHECK(ozb_decision_from_json(zero_batch, &decision) == OZB_INVALID_ARGUMENT && decision == NULL);
  CHECK(ozb_decision_from_json("[", &decision) == OZB_INVALID_ARGUMENT);
  CHECK(ozb_decision_from_json(NULL, &decision) == OZB_INVALID_ARGUMENT);
  CHECK(ozb_certificate_json(NULL, &json) == OZB_INVALID_ARGUMENT);
  CHECK(ozb_machine_cpu(-1, &machine) == OZB_INVALID_ARGUMENT);
  CHECK(ozb_machine_cpu(1, NULL) == OZB_INVALID_ARGUMENT);
  CHECK(ozb_decide_d(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, 1, &one, 1, &one, 1, 0, NULL, 1, "cr", 64, &decision) ==
        OZB_INVALID_ARGUMENT);

  CHECK(ozb_cancellation_create(&cancellation) == OZB_SUCCESS);
  ozb_set_cancellation(cancellation);
  ozb_cancellation_request(cancellation);
  CHECK(multiply(2, "cr") == OZB_CANCELLED);
  ozb_set_cancellation(NULL);
  ozb_cancellation_destroy(cancellation);

  bound = -1;
  c = 0;
  CHECK(ozb_sgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, 2, &single, 1, &single, 1, 0, &c, 1, "cr", &certificate) ==
            OZB_SUCCESS &&
        c == 2);
  CHECK(ozb_certificate_bound(certificate, 1, 0, 2, &bound) == OZB_INVALID_ARGUMENT);
  CHECK(ozb_certificate_bound(certificate, 0, 0, 2, &bound) == OZB_SUCCESS && bound >= 0);
  ozb_certificate_destroy(certificate);
  return failures == 0 ? 0 : 1;
}
