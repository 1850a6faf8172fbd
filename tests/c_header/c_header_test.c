/* SPDX-License-Identifier: BSD-3-Clause */
#include "ozbound.h" /* first: it needs nothing before it */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls every function of the header once, compiled as C99. */

static int failures = 0;

#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failures, printf("line %d: %s; last error: %s\n", __LINE__, #condition, ozb_last_error())))

enum { M = 2, N = 3, K = 2, LD = 4 };

/* Row-major with a leading dimension larger than a row; elements beside the matrices must stay. */
static const double a[M * LD] = {1, 2, -1, -1, 3, 4, -1, -1};
static const double b[K * LD] = {5, 6, 7, -1, 8, 9, 10, -1};
static const double expected[M * LD] = {21, 24, 27, 0.5, 47, 54, 61, 0.5};

static void reset(double* c) {
  int t;
  for (t = 0; t < M * LD; ++t) c[t] = t % LD == N ? 0.5 : NAN;
}

static void certificate_functions(const ozb_certificate* certificate) {
  int holds = 0;
  double ratio = -1, largest = -1, bound = -1;
  const char* json = NULL;
  CHECK(ozb_certificate_holds(certificate, &holds) == OZB_SUCCESS && holds == 1);
  CHECK(ozb_certificate_ratio(certificate, &ratio) == OZB_SUCCESS && ratio >= 0 && ratio <= 1);
  CHECK(ozb_certificate_largest_bound(certificate, &largest) == OZB_SUCCESS && largest >= 0);
  CHECK(ozb_certificate_bound(certificate, 1, 2, 61, &bound) == OZB_SUCCESS && bound >= 0 && bound <= largest);
  CHECK(ozb_certificate_json(certificate, &json) == OZB_SUCCESS && strstr(json, "ozbound-certificate-") != NULL);
}

static void machines(void) {
  ozb_machine* machine = NULL;
  const char* backends = NULL;
  CHECK(ozb_machine_detect(0, &machine) == OZB_SUCCESS);
  CHECK(ozb_machine_backends(machine, &backends) == OZB_SUCCESS && strncmp(backends, "cpu\n", 4) == 0);
  CHECK(ozb_set_machine(machine, OZB_HOST) == OZB_SUCCESS);
  ozb_machine_destroy(machine);
  CHECK(ozb_machine_cpu(1, &machine) == OZB_SUCCESS);
  CHECK(ozb_set_machine(NULL, OZB_HOST) == OZB_SUCCESS);
  ozb_machine_destroy(machine);
}

static void doubles(void) {
  double c[M * LD];
  ozb_certificate* certificate = NULL;
  ozb_decision* decision = NULL;
  ozb_decision* read = NULL;
  const char* json = NULL;
  int64_t least = -1, full = -1;

  reset(c);
  CHECK(ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, M, N, K, 1, a, LD, b, LD, 0, c, LD, "cr", &certificate) == OZB_SUCCESS);
  CHECK(memcmp(c, expected, sizeof c) == 0);
  certificate_functions(certificate);
  ozb_certificate_destroy(certificate);

  CHECK(ozb_decide_d(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, M, N, K, 1, a, LD, b, LD, 0, NULL, LD, "dgemm",
                     OZB_NO_NATIVE + OZB_COUNT_PRODUCTS, &decision) == OZB_SUCCESS);
  CHECK(ozb_decision_json(decision, &json) == OZB_SUCCESS);
  CHECK(ozb_decision_from_json(json, &read) == OZB_SUCCESS);
  CHECK(ozb_decision_workspace(read, &least, &full) == OZB_SUCCESS && 0 <= least && least <= full);
  reset(c);
  CHECK(ozb_dgemm_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, M, N, K, 1, a, LD, b, LD, 0, c, LD, read, full, NULL) ==
        OZB_SUCCESS);
  CHECK(memcmp(c, expected, sizeof c) == 0);
  ozb_decision_destroy(decision);
  ozb_decision_destroy(read);
}

static void floats(void) {
  const float x[4] = {1, 2, 3, 4};
  float c[4] = {0, 0, 0, 0};
  ozb_decision* decision = NULL;
  CHECK(ozb_sgemm(OZB_COLUMN_MAJOR, OZB_TRANSPOSE, OZB_NONE, 2, 2, 2, 1, x, 2, x, 2, 0, c, 2, "dgemm", NULL) == OZB_SUCCESS);
  CHECK(c[0] == 5 && c[1] == 11 && c[2] == 11 && c[3] == 25);
  CHECK(ozb_decide_s(OZB_COLUMN_MAJOR, OZB_TRANSPOSE, OZB_NONE, 2, 2, 2, 1, x, 2, x, 2, 1, c, 2, "dgemm", OZB_DEFAULT,
                     &decision) == OZB_SUCCESS);
  CHECK(ozb_sgemm_decided(OZB_COLUMN_MAJOR, OZB_TRANSPOSE, OZB_NONE, 2, 2, 2, 1, x, 2, x, 2, 1, c, 2, decision, 0, NULL) ==
        OZB_SUCCESS);
  CHECK(c[0] == 10 && c[3] == 50);
  ozb_decision_destroy(decision);
}

/* Parts lie in memory as in a double complex: (1 + 2i)(3 - 4i)* = -5 + 10i, times i. */
static void complexes(void) {
  const double x[2] = {1, 2}, y[2] = {3, -4}, i[2] = {0, 1}, zero[2] = {0, 0};
  const float xs[2] = {1, 2}, ys[2] = {3, -4}, is[2] = {0, 1}, zeros[2] = {0, 0};
  double c[2] = {NAN, NAN};
  float cs[2] = {NAN, NAN};
  double bounds[2] = {0, 0};
  ozb_certificate* certificate = NULL;
  ozb_decision* decision = NULL;
  int64_t least = 0, full = 0;
  CHECK(ozb_zgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_CONJUGATE_TRANSPOSE, 1, 1, 1, i, x, 1, y, 1, zero, c, 1, "cr", &certificate) ==
        OZB_SUCCESS);
  CHECK(c[0] == -10 && c[1] == -5);
  CHECK(ozb_certificate_bound_z(certificate, 0, 0, c, bounds) == OZB_SUCCESS);
  CHECK(0 < bounds[1] && bounds[1] < bounds[0] && bounds[0] < 1e-14);
  CHECK(ozb_certificate_bound(certificate, 0, 0, c[0], bounds) == OZB_INVALID_ARGUMENT);
  ozb_certificate_destroy(certificate);
  CHECK(ozb_decide_z(OZB_ROW_MAJOR, OZB_NONE, OZB_CONJUGATE_TRANSPOSE, 1, 1, 1, i, x, 1, y, 1, i, c, 1, "dgemm",
                     OZB_NO_NATIVE + OZB_COUNT_PRODUCTS, &decision) == OZB_SUCCESS);
  CHECK(ozb_decision_workspace_z(decision, i, i, &least, &full) == OZB_SUCCESS && 0 <= least && least <= full);
  CHECK(ozb_zgemm_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_CONJUGATE_TRANSPOSE, 1, 1, 1, i, x, 1, y, 1, i, c, 1, decision, full,
                          NULL) == OZB_SUCCESS);
  CHECK(c[0] == -5 && c[1] == -15);
  ozb_decision_destroy(decision);

  CHECK(ozb_cgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_CONJUGATE_TRANSPOSE, 1, 1, 1, is, xs, 1, ys, 1, zeros, cs, 1, "cr", NULL) ==
        OZB_SUCCESS);
  CHECK(cs[0] == -10 && cs[1] == -5);
  CHECK(ozb_decide_c(OZB_ROW_MAJOR, OZB_NONE, OZB_CONJUGATE_TRANSPOSE, 1, 1, 1, is, xs, 1, ys, 1, is, cs, 1, "dgemm",
                     OZB_DEFAULT, &decision) == OZB_SUCCESS);
  CHECK(ozb_cgemm_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_CONJUGATE_TRANSPOSE, 1, 1, 1, is, xs, 1, ys, 1, is, cs, 1, decision, 0,
                          NULL) == OZB_SUCCESS);
  CHECK(cs[0] == -5 && cs[1] == -15);
  ozb_decision_destroy(decision);
}

/* Three products with one A. */
static void batches(void) {
  const double one_a[4] = {1, 2, 3, 4};
  const double bs[12] = {1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3};
  const float narrow_a[4] = {1, 2, 3, 4};
  const float narrow_bs[12] = {1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3};
  double c[12];
  float narrow_c[12];
  ozb_certificate* certificates[3] = {NULL, NULL, NULL};
  ozb_decision* decisions[3] = {NULL, NULL, NULL};
  const ozb_decision* all[3];
  int t;
  CHECK(ozb_dgemm_strided_batched(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 2, 2, 1, one_a, 2, 0, bs, 2, 4, 0, c, 2, 4, 3, "cr",
                                  certificates) == OZB_SUCCESS);
  for (t = 0; t < 12; ++t) CHECK(c[t] == (t / 4 + 1) * one_a[t % 4]);
  for (t = 0; t < 3; ++t) ozb_certificate_destroy(certificates[t]);

  CHECK(ozb_decide_d_strided_batched(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 2, 2, 1, one_a, 2, 0, bs, 2, 4, 0, c, 2, 4, 3,
                                     "dgemm", OZB_DEFAULT, decisions) == OZB_SUCCESS);
  for (t = 0; t < 3; ++t) all[t] = decisions[t];
  CHECK(ozb_dgemm_strided_batched_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 2, 2, 1, one_a, 2, 0, bs, 2, 4, 0, c, 2, 4, 3,
                                          all, 3, 0, NULL) == OZB_SUCCESS);
  for (t = 0; t < 3; ++t) ozb_decision_destroy(decisions[t]);

  CHECK(ozb_sgemm_strided_batched(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 2, 2, 1, narrow_a, 2, 0, narrow_bs, 2, 4, 0, narrow_c,
                                  2, 4, 3, "cr", NULL) == OZB_SUCCESS);
  CHECK(narrow_c[11] == 12);
  CHECK(ozb_decide_s_strided_batched(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 2, 2, 1, narrow_a, 2, 0, narrow_bs, 2, 4, 0,
                                     narrow_c, 2, 4, 3, "dgemm", OZB_DEFAULT, decisions) == OZB_SUCCESS);
  all[0] = decisions[0];
  CHECK(ozb_sgemm_strided_batched_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 2, 2, 2, 1, narrow_a, 2, 0, narrow_bs, 2, 4, 0,
                                          narrow_c, 2, 4, 3, all, 1, 0, NULL) == OZB_SUCCESS);
  for (t = 0; t < 3; ++t) ozb_decision_destroy(decisions[t]);
}

/* Batches by arrays of pointers, with C's in an order other than memory's: one shape for all, then one for each. The second
 * batch has products of 2 x 2 and 1 x 1 in the same memory, which are added to the first batch's results. */
static void batches_by_pointers(void) {
  const int none = OZB_NONE, transpose = OZB_TRANSPOSE;
  const int64_t two = 2;
  const int ops[2] = {OZB_NONE, OZB_NONE};
  const int64_t sizes[2] = {2, 1}, lds[2] = {2, 2};
  const double ones_d[2] = {1, 1};
  const float ones_s[2] = {1, 1};
  ozb_certificate* certificates[2] = {NULL, NULL};
  ozb_decision* decisions[2] = {NULL, NULL};
  const ozb_decision* all[2];
  int t;

  {
    const double x[4] = {1, 2, 3, 4}, one = 1, zero = 0;
    const double* as[2];
    const double* bs[2];
    double c[8];
    double* cs[2];
    as[0] = as[1] = bs[1] = x, bs[0] = x, cs[0] = c + 4, cs[1] = c;
    CHECK(ozb_dgemm_batched(OZB_ROW_MAJOR, &none, &transpose, &two, &two, &two, &one, as, &two, bs, &two, &zero, cs, &two, 2, 1,
                            "cr", certificates) == OZB_SUCCESS);
    CHECK(c[0] == 5 && c[3] == 25 && c[4] == 5 && c[5] == 11 && c[7] == 25);
    for (t = 0; t < 2; ++t) ozb_certificate_destroy(certificates[t]);
    CHECK(ozb_decide_d_batched(OZB_ROW_MAJOR, ops, ops, sizes, sizes, sizes, ones_d, as, lds, bs, lds, ones_d,
                               (const double* const*)cs, lds, 2, 2, "dgemm", OZB_DEFAULT, decisions) == OZB_SUCCESS);
    for (t = 0; t < 2; ++t) all[t] = decisions[t];
    CHECK(ozb_dgemm_batched_decided(OZB_ROW_MAJOR, ops, ops, sizes, sizes, sizes, ones_d, as, lds, bs, lds, ones_d, cs, lds, 2,
                                    2, all, 2, 0, NULL) == OZB_SUCCESS);
    CHECK(c[4] == 12 && c[5] == 21 && c[7] == 47 && c[0] == 6 && c[3] == 25);
    for (t = 0; t < 2; ++t) ozb_decision_destroy(decisions[t]);
  }

  {
    const float x[4] = {1, 2, 3, 4}, one = 1, zero = 0;
    const float* as[2];
    const float* bs[2];
    float c[8];
    float* cs[2];
    as[0] = as[1] = bs[1] = x, bs[0] = x, cs[0] = c + 4, cs[1] = c;
    CHECK(ozb_sgemm_batched(OZB_ROW_MAJOR, &none, &transpose, &two, &two, &two, &one, as, &two, bs, &two, &zero, cs, &two, 2, 1,
                            "cr", certificates) == OZB_SUCCESS);
    CHECK(c[0] == 5 && c[3] == 25 && c[4] == 5 && c[5] == 11 && c[7] == 25);
    for (t = 0; t < 2; ++t) ozb_certificate_destroy(certificates[t]);
    CHECK(ozb_decide_s_batched(OZB_ROW_MAJOR, ops, ops, sizes, sizes, sizes, ones_s, as, lds, bs, lds, ones_s,
                               (const float* const*)cs, lds, 2, 2, "dgemm", OZB_DEFAULT, decisions) == OZB_SUCCESS);
    for (t = 0; t < 2; ++t) all[t] = decisions[t];
    CHECK(ozb_sgemm_batched_decided(OZB_ROW_MAJOR, ops, ops, sizes, sizes, sizes, ones_s, as, lds, bs, lds, ones_s, cs, lds, 2,
                                    2, all, 2, 0, NULL) == OZB_SUCCESS);
    CHECK(c[4] == 12 && c[5] == 21 && c[7] == 47 && c[0] == 6 && c[3] == 25);
    for (t = 0; t < 2; ++t) ozb_decision_destroy(decisions[t]);
  }
}

static void complex_batches(void) {
  const int none = OZB_NONE, adjoint = OZB_CONJUGATE_TRANSPOSE;
  const int64_t one = 1;
  ozb_certificate* certificates[2] = {NULL, NULL};
  ozb_decision* decisions[2] = {NULL, NULL};
  const ozb_decision* all[2];
  int t;

  { /* (1 + 2i), (3 + 4i) and i */
    const double x[4] = {1, 2, 3, 4}, i[2] = {0, 1}, zero[2] = {0, 0};
    const void* as[2];
    void* cs[2];
    double c[4] = {NAN, NAN, NAN, NAN};
    as[0] = x, as[1] = x + 2, cs[0] = c + 2, cs[1] = c;
    CHECK(ozb_zgemm_strided_batched(OZB_ROW_MAJOR, OZB_NONE, OZB_CONJUGATE_TRANSPOSE, 1, 1, 1, i, x, 1, 1, x, 1, 1, zero, c, 1,
                                    1, 2, "cr", certificates) == OZB_SUCCESS);
    CHECK(c[0] == 0 && c[1] == 5 && c[2] == 0 && c[3] == 25);
    for (t = 0; t < 2; ++t) ozb_certificate_destroy(certificates[t]);
    CHECK(ozb_decide_z_strided_batched(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, i, x, 1, 1, x, 1, 0, zero, NULL, 1, 1, 2,
                                       "dgemm", OZB_DEFAULT, decisions) == OZB_SUCCESS);
    for (t = 0; t < 2; ++t) all[t] = decisions[t];
    CHECK(ozb_zgemm_strided_batched_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, i, x, 1, 1, x, 1, 0, zero, c, 1, 1, 2,
                                            all, 2, 0, NULL) == OZB_SUCCESS);
    CHECK(c[0] == -4 && c[1] == -3 && c[2] == -10 && c[3] == -5); /* i (1 + 2i)^2, i (3 + 4i) (1 + 2i) */
    for (t = 0; t < 2; ++t) ozb_decision_destroy(decisions[t]);

    CHECK(ozb_zgemm_batched(OZB_ROW_MAJOR, &none, &adjoint, &one, &one, &one, i, as, &one, as, &one, zero, cs, &one, 2, 1, "cr",
                            certificates) == OZB_SUCCESS);
    CHECK(c[0] == 0 && c[1] == 25 && c[2] == 0 && c[3] == 5);
    for (t = 0; t < 2; ++t) ozb_certificate_destroy(certificates[t]);
    CHECK(ozb_decide_z_batched(OZB_ROW_MAJOR, &none, &adjoint, &one, &one, &one, i, as, &one, as, &one, zero, NULL, &one, 2, 1,
                               "dgemm", OZB_DEFAULT, decisions) == OZB_SUCCESS);
    for (t = 0; t < 2; ++t) all[t] = decisions[t];
    CHECK(ozb_zgemm_batched_decided(OZB_ROW_MAJOR, &none, &adjoint, &one, &one, &one, i, as, &one, as, &one, i, cs, &one, 2, 1,
                                    all, 2, 0, NULL) == OZB_SUCCESS);
    CHECK(c[0] == -25 && c[1] == 25 && c[2] == -5 && c[3] == 5);
    for (t = 0; t < 2; ++t) ozb_decision_destroy(decisions[t]);
  }

  { /* (1 + 2i), (3 + 4i) and i */
    const float x[4] = {1, 2, 3, 4}, i[2] = {0, 1}, zero[2] = {0, 0};
    const void* as[2];
    void* cs[2];
    float c[4] = {NAN, NAN, NAN, NAN};
    as[0] = x, as[1] = x + 2, cs[0] = c + 2, cs[1] = c;
    CHECK(ozb_cgemm_strided_batched(OZB_ROW_MAJOR, OZB_NONE, OZB_CONJUGATE_TRANSPOSE, 1, 1, 1, i, x, 1, 1, x, 1, 1, zero, c, 1,
                                    1, 2, "cr", certificates) == OZB_SUCCESS);
    CHECK(c[0] == 0 && c[1] == 5 && c[2] == 0 && c[3] == 25);
    for (t = 0; t < 2; ++t) ozb_certificate_destroy(certificates[t]);
    CHECK(ozb_decide_c_strided_batched(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, i, x, 1, 1, x, 1, 0, zero, NULL, 1, 1, 2,
                                       "dgemm", OZB_DEFAULT, decisions) == OZB_SUCCESS);
    for (t = 0; t < 2; ++t) all[t] = decisions[t];
    CHECK(ozb_cgemm_strided_batched_decided(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, 1, 1, 1, i, x, 1, 1, x, 1, 0, zero, c, 1, 1, 2,
                                            all, 2, 0, NULL) == OZB_SUCCESS);
    CHECK(c[0] == -4 && c[1] == -3 && c[2] == -10 && c[3] == -5); /* i (1 + 2i)^2, i (3 + 4i) (1 + 2i) */
    for (t = 0; t < 2; ++t) ozb_decision_destroy(decisions[t]);

    CHECK(ozb_cgemm_batched(OZB_ROW_MAJOR, &none, &adjoint, &one, &one, &one, i, as, &one, as, &one, zero, cs, &one, 2, 1, "cr",
                            certificates) == OZB_SUCCESS);
    CHECK(c[0] == 0 && c[1] == 25 && c[2] == 0 && c[3] == 5);
    for (t = 0; t < 2; ++t) ozb_certificate_destroy(certificates[t]);
    CHECK(ozb_decide_c_batched(OZB_ROW_MAJOR, &none, &adjoint, &one, &one, &one, i, as, &one, as, &one, zero, NULL, &one, 2, 1,
                               "dgemm", OZB_DEFAULT, decisions) == OZB_SUCCESS);
    for (t = 0; t < 2; ++t) all[t] = decisions[t];
    CHECK(ozb_cgemm_batched_decided(OZB_ROW_MAJOR, &none, &adjoint, &one, &one, &one, i, as, &one, as, &one, i, cs, &one, 2, 1,
                                    all, 2, 0, NULL) == OZB_SUCCESS);
    CHECK(c[0] == -25 && c[1] == 25 && c[2] == -5 && c[3] == 5);
    for (t = 0; t < 2; ++t) ozb_decision_destroy(decisions[t]);
  }
}

static void refusals(void) {
  double c[M * LD];
  ozb_certificate* certificate = NULL;
  reset(c);
  CHECK(ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, M, N, K, 1, a, 1, b, LD, 0, c, LD, "dgemm", &certificate) ==
        OZB_INVALID_ARGUMENT);
  CHECK(strcmp(ozb_last_error(), "lda must be at least 2: 1") == 0);
  CHECK(certificate == NULL);
  CHECK(ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, M, N, K, 1, a, LD, b, LD, 0, c, LD, "relative:1e-30", NULL) ==
        OZB_CANNOT_CERTIFY);
  CHECK(strcmp(ozb_status_text(OZB_CANNOT_CERTIFY), "the target cannot be certified") == 0);
  CHECK(isnan(c[0]));
}

static void cancelling(void) {
  double c[M * LD];
  ozb_cancellation* cancellation = NULL;
  reset(c);
  CHECK(ozb_cancellation_create(&cancellation) == OZB_SUCCESS);
  ozb_cancellation_request(cancellation);
  ozb_set_cancellation(cancellation);
  CHECK(ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, M, N, K, 1, a, LD, b, LD, 0, c, LD, "dgemm", NULL) == OZB_CANCELLED);
  CHECK(isnan(c[0]));
  ozb_set_cancellation(NULL);
  ozb_cancellation_destroy(cancellation);
  CHECK(ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, M, N, K, 1, a, LD, b, LD, 0, c, LD, "dgemm", NULL) == OZB_SUCCESS);
}

int main(void) {
  machines();
  doubles();
  floats();
  complexes();
  batches();
  batches_by_pointers();
  complex_batches();
  refusals();
  cancelling();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
