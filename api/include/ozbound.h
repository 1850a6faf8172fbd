/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OZBOUND_H
#define OZBOUND_H

/* Ozbound for C, and for every language that calls C: matrix products with proven error bounds.
 *
 * Many threads may call every function at once, and no function throws. On failure, functions that return a status (OZB_SUCCESS
 * is 0) leave a text for ozb_last_error that names the argument, and return null for a handle. Every other handle is freed with
 * its ..._destroy. Handles do not change, so threads may share them. Matrices lie in host memory and products run on
 * the CPU, unless ozb_set_machine says otherwise.
 *
 * Each function has its own floating-point environment. The caller's rounding mode, flush-to-zero and traps affect neither bits
 * nor texts, and are restored afterwards.
 *
 * The first call that chooses by predicted seconds reads the machine's calibration. If memory runs out while it reads, the
 * program ends (the JSON library's destructors allocate).
 */

#include <stdint.h> /* NOLINT(modernize-deprecated-headers): for C too */

/* The version of this header. */
#define OZB_VERSION_MAJOR 0
#define OZB_VERSION_MINOR 2
#define OZB_VERSION_PATCH 0
#define OZB_VERSION "0.2.0"

#ifdef __cplusplus
#define OZB_NOEXCEPT noexcept
extern "C" {
#else
#define OZB_NOEXCEPT
#endif

/* The version of the library at run time, in the form of OZB_VERSION. */
const char* ozb_version(void) OZB_NOEXCEPT;

/* The statuses that functions return. */
enum {
  OZB_SUCCESS = 0,
  OZB_DOES_NOT_HOLD = 1,    /* C is computed, but the target is not proven for it */
  OZB_INVALID_ARGUMENT = 2, /* an unusable argument; nothing is written */
  OZB_CANNOT_CERTIFY = 3,   /* no way certifies the target, which is below the rounding of C; nothing is written */
  OZB_OUT_OF_MEMORY = 4,    /* C may have been written in part */
  OZB_INTERNAL_ERROR = 5,   /* a fault of Ozbound; C may have been written in part */
  OZB_CANCELLED = 6         /* ended by ozb_cancellation_request; ozb_last_error says whether C may have been written in part */
};

/* layout and op_a, op_b: the numbers that CBLAS has for them. For real matrices the conjugate transpose is the transpose. */
enum { OZB_ROW_MAJOR = 101, OZB_COLUMN_MAJOR = 102 };
enum { OZB_NONE = 111, OZB_TRANSPOSE = 112, OZB_CONJUGATE_TRANSPOSE = 113 };

/* Options of the choice in ozb_decide_..., to be added up. By default the functions compare predicted seconds, measured on this
 * machine (`ozbound calibrate`) or shipped with this library. The choice, and with it the bits of C within the target, may
 * differ between machines. With OZB_NO_NATIVE + OZB_COUNT_PRODUCTS it is the same on all of them. */
enum {
  OZB_DEFAULT = 0,
  OZB_NO_NATIVE = 1,      /* never native DGEMM */
  OZB_COUNT_PRODUCTS = 2, /* costs count integer products instead of seconds */
  OZB_NO_RESIDUES = 4     /* integer products only by slices */
};

/* The meaning of a status, in English; never null. */
const char* ozb_status_text(int status) OZB_NOEXCEPT;

/* The error text of this thread's last failed call: at most 511 characters, valid until the next failure; "" if no call
 * failed. */
const char* ozb_last_error(void) OZB_NOEXCEPT;

/* The choice of a way to compute C, made before the product. Saved as JSON and replayed, it gives the same bits of C, except
 * with native DGEMM, whose bits depend on its library. */
typedef struct ozb_decision ozb_decision;

/* The proven error bound of a C. */
typedef struct ozb_certificate ozb_certificate;

/* C = alpha op(A) op(B) + beta C to a target: "dgemm" (as accurate as a conventional DGEMM must be), "dgemm-typical" (as
 * accurate as a conventional DGEMM whose rounding errors have random signs), "cr" (correctly rounded), "componentwise:1e-14",
 * "rowcol:...", "normwise:..." (relative to || |alpha||A||B| + |beta||C| ||_F, not to the norm of the result), "relative:...".
 *
 * op(A) is m x k, op(B) is k x n, C is m x n; lda, ldb, ldc count elements between the starts of rows (OZB_ROW_MAJOR) or
 * columns (OZB_COLUMN_MAJOR) of A, B and C as stored. C is not read if beta = 0; A and B are not read if alpha = 0. Matrices
 * that are not read may be null. C must share no element with A or B; all three may be blocks of one array. `certificate` may
 * be null if it is not wanted. A choice of native DGEMM then costs one sweep over A and B, and on one thread takes no memory.
 * OMP_NUM_THREADS sets the threads; they change no bit, except with native DGEMM.
 */
int ozb_dgemm(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
              const double* b, int64_t ldb, double beta, double* c, int64_t ldc, const char* target,
              ozb_certificate** certificate) OZB_NOEXCEPT;
int ozb_sgemm(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
              const float* b, int64_t ldb, float beta, float* c, int64_t ldc, const char* target,
              ozb_certificate** certificate) OZB_NOEXCEPT;

/* The same over the complex numbers; OZB_CONJUGATE_TRANSPOSE conjugates. Elements are double complex (z) and float complex (c),
 * each real part followed by its imaginary part, as in CBLAS. alpha and beta point to one number. The real and the imaginary
 * parts of C each meet the target by themselves, as sums of 2k real terms. */
int ozb_zgemm(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
              const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc, const char* target,
              ozb_certificate** certificate) OZB_NOEXCEPT;
int ozb_cgemm(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
              const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc, const char* target,
              ozb_certificate** certificate) OZB_NOEXCEPT;

/* The decision of ozb_dgemm, ozb_sgemm, ozb_zgemm and ozb_cgemm (which choose by OZB_DEFAULT), without the product. C is never
 * written, and read only if beta is not 0. */
int ozb_decide_d(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a, int64_t lda,
                 const double* b, int64_t ldb, double beta, const double* c, int64_t ldc, const char* target, int choices,
                 ozb_decision** decision) OZB_NOEXCEPT;
int ozb_decide_s(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                 const float* b, int64_t ldb, float beta, const float* c, int64_t ldc, const char* target, int choices,
                 ozb_decision** decision) OZB_NOEXCEPT;

int ozb_decide_z(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
                 const void* b, int64_t ldb, const void* beta, const void* c, int64_t ldc, const char* target, int choices,
                 ozb_decision** decision) OZB_NOEXCEPT;
int ozb_decide_c(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a, int64_t lda,
                 const void* b, int64_t ldb, const void* beta, const void* c, int64_t ldc, const char* target, int choices,
                 ozb_decision** decision) OZB_NOEXCEPT;

/* The product under a decision, which may have been made for other data of the same sizes. OZB_DOES_NOT_HOLD: C is written, but
 * the decision's target is not proven for these data. `workspace` caps the bytes for slices, and changes no bit; 0 means no
 * cap. */
int ozb_dgemm_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                      int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc,
                      const ozb_decision* decision, int64_t workspace, ozb_certificate** certificate) OZB_NOEXCEPT;
int ozb_sgemm_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                      const float* b, int64_t ldb, float beta, float* c, int64_t ldc, const ozb_decision* decision,
                      int64_t workspace, ozb_certificate** certificate) OZB_NOEXCEPT;
int ozb_zgemm_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                      int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc,
                      const ozb_decision* decision, int64_t workspace, ozb_certificate** certificate) OZB_NOEXCEPT;
int ozb_cgemm_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                      int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc,
                      const ozb_decision* decision, int64_t workspace, ozb_certificate** certificate) OZB_NOEXCEPT;

/* batch_count products of one shape. The operands of product t begin at a + t stride_a, b + t stride_b, c + t stride_c. With a
 * stride of 0 all products share one A or B; a real one is sliced once for all products that need the same slices. Each product
 * has the same bits as in a call of its own. No C may overlap another C, or any A or B. `certificates` is an array of
 * batch_count handles, or null. An error text about one product begins with "product 2: ", counted from 0. */
int ozb_dgemm_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                              int64_t lda, int64_t stride_a, const double* b, int64_t ldb, int64_t stride_b, double beta,
                              double* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                              ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_sgemm_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                              int64_t lda, int64_t stride_a, const float* b, int64_t ldb, int64_t stride_b, float beta,
                              float* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                              ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_zgemm_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                              int64_t lda, int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b, const void* beta,
                              void* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                              ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_cgemm_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                              int64_t lda, int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b, const void* beta,
                              void* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                              ozb_certificate** certificates) OZB_NOEXCEPT;

/* The decision for every product of a batch: `decisions` is an array of batch_count handles. */
int ozb_decide_d_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                                 int64_t lda, int64_t stride_a, const double* b, int64_t ldb, int64_t stride_b, double beta,
                                 const double* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                                 int choices, ozb_decision** decisions) OZB_NOEXCEPT;
int ozb_decide_s_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                                 int64_t lda, int64_t stride_a, const float* b, int64_t ldb, int64_t stride_b, float beta,
                                 const float* c, int64_t ldc, int64_t stride_c, int64_t batch_count, const char* target,
                                 int choices, ozb_decision** decisions) OZB_NOEXCEPT;
int ozb_decide_z_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                 const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b,
                                 const void* beta, const void* c, int64_t ldc, int64_t stride_c, int64_t batch_count,
                                 const char* target, int choices, ozb_decision** decisions) OZB_NOEXCEPT;
int ozb_decide_c_strided_batched(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                 const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb, int64_t stride_b,
                                 const void* beta, const void* c, int64_t ldc, int64_t stride_c, int64_t batch_count,
                                 const char* target, int choices, ozb_decision** decisions) OZB_NOEXCEPT;

/* The batch under one decision for all products, or one for each: decision_count is 1 or batch_count. */
int ozb_dgemm_strided_batched_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, double alpha,
                                      const double* a, int64_t lda, int64_t stride_a, const double* b, int64_t ldb,
                                      int64_t stride_b, double beta, double* c, int64_t ldc, int64_t stride_c,
                                      int64_t batch_count, const ozb_decision* const* decisions, int64_t decision_count,
                                      int64_t workspace, ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_sgemm_strided_batched_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, float alpha,
                                      const float* a, int64_t lda, int64_t stride_a, const float* b, int64_t ldb,
                                      int64_t stride_b, float beta, float* c, int64_t ldc, int64_t stride_c,
                                      int64_t batch_count, const ozb_decision* const* decisions, int64_t decision_count,
                                      int64_t workspace, ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_zgemm_strided_batched_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                      const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                      int64_t stride_b, const void* beta, void* c, int64_t ldc, int64_t stride_c,
                                      int64_t batch_count, const ozb_decision* const* decisions, int64_t decision_count,
                                      int64_t workspace, ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_cgemm_strided_batched_decided(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void* alpha,
                                      const void* a, int64_t lda, int64_t stride_a, const void* b, int64_t ldb,
                                      int64_t stride_b, const void* beta, void* c, int64_t ldc, int64_t stride_c,
                                      int64_t batch_count, const ozb_decision* const* decisions, int64_t decision_count,
                                      int64_t workspace, ozb_certificate** certificates) OZB_NOEXCEPT;

/* The same with arrays: a, b and c hold batch_count pointers. op_a, op_b, m, n, k, alpha, lda, ldb, beta and ldc each hold
 * shape_count values: 1, for all products, or batch_count. Products may share an A or B. An array of pointers to matrices that
 * are not read may be null. */
int ozb_dgemm_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                      const double* alpha, const double* const* a, const int64_t* lda, const double* const* b,
                      const int64_t* ldb, const double* beta, double* const* c, const int64_t* ldc, int64_t batch_count,
                      int64_t shape_count, const char* target, ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_sgemm_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                      const float* alpha, const float* const* a, const int64_t* lda, const float* const* b, const int64_t* ldb,
                      const float* beta, float* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                      const char* target, ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_zgemm_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                      const void* alpha, const void* const* a, const int64_t* lda, const void* const* b, const int64_t* ldb,
                      const void* beta, void* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                      const char* target, ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_cgemm_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                      const void* alpha, const void* const* a, const int64_t* lda, const void* const* b, const int64_t* ldb,
                      const void* beta, void* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                      const char* target, ozb_certificate** certificates) OZB_NOEXCEPT;

/* The decision for every product, and the batch under one decision for all products, or one for each. */
int ozb_decide_d_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                         const double* alpha, const double* const* a, const int64_t* lda, const double* const* b,
                         const int64_t* ldb, const double* beta, const double* const* c, const int64_t* ldc,
                         int64_t batch_count, int64_t shape_count, const char* target, int choices,
                         ozb_decision** decisions) OZB_NOEXCEPT;
int ozb_decide_s_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                         const float* alpha, const float* const* a, const int64_t* lda, const float* const* b,
                         const int64_t* ldb, const float* beta, const float* const* c, const int64_t* ldc, int64_t batch_count,
                         int64_t shape_count, const char* target, int choices, ozb_decision** decisions) OZB_NOEXCEPT;
int ozb_decide_z_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                         const void* alpha, const void* const* a, const int64_t* lda, const void* const* b, const int64_t* ldb,
                         const void* beta, const void* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                         const char* target, int choices, ozb_decision** decisions) OZB_NOEXCEPT;
int ozb_decide_c_batched(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n, const int64_t* k,
                         const void* alpha, const void* const* a, const int64_t* lda, const void* const* b, const int64_t* ldb,
                         const void* beta, const void* const* c, const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                         const char* target, int choices, ozb_decision** decisions) OZB_NOEXCEPT;
int ozb_dgemm_batched_decided(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n,
                              const int64_t* k, const double* alpha, const double* const* a, const int64_t* lda,
                              const double* const* b, const int64_t* ldb, const double* beta, double* const* c,
                              const int64_t* ldc, int64_t batch_count, int64_t shape_count,
                              const ozb_decision* const* decisions, int64_t decision_count, int64_t workspace,
                              ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_sgemm_batched_decided(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n,
                              const int64_t* k, const float* alpha, const float* const* a, const int64_t* lda,
                              const float* const* b, const int64_t* ldb, const float* beta, float* const* c, const int64_t* ldc,
                              int64_t batch_count, int64_t shape_count, const ozb_decision* const* decisions,
                              int64_t decision_count, int64_t workspace, ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_zgemm_batched_decided(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n,
                              const int64_t* k, const void* alpha, const void* const* a, const int64_t* lda,
                              const void* const* b, const int64_t* ldb, const void* beta, void* const* c, const int64_t* ldc,
                              int64_t batch_count, int64_t shape_count, const ozb_decision* const* decisions,
                              int64_t decision_count, int64_t workspace, ozb_certificate** certificates) OZB_NOEXCEPT;
int ozb_cgemm_batched_decided(int layout, const int* op_a, const int* op_b, const int64_t* m, const int64_t* n,
                              const int64_t* k, const void* alpha, const void* const* a, const int64_t* lda,
                              const void* const* b, const int64_t* ldb, const void* beta, void* const* c, const int64_t* ldc,
                              int64_t batch_count, int64_t shape_count, const ozb_decision* const* decisions,
                              int64_t decision_count, int64_t workspace, ozb_certificate** certificates) OZB_NOEXCEPT;

/* Converts a decision to JSON (docs/records.md), and back. The text is UTF-8, ends with 0, and lives as long as the handle. */
int ozb_decision_json(const ozb_decision* decision, const char** json) OZB_NOEXCEPT;
int ozb_decision_from_json(const char* json, ozb_decision** decision) OZB_NOEXCEPT;

/* Bytes that a product under this decision takes for slices: the smallest accepted cap, and the size without a cap. The second
 * function is for complex products, including those of ozb_cgemm: alpha and beta are two double complex numbers. */
int ozb_decision_workspace(const ozb_decision* decision, int64_t* least, int64_t* full) OZB_NOEXCEPT;
int ozb_decision_workspace_z(const ozb_decision* decision, const void* alpha, const void* beta, int64_t* least,
                             int64_t* full) OZB_NOEXCEPT;

/* Null is allowed. */
void ozb_decision_destroy(ozb_decision* decision) OZB_NOEXCEPT;

/* 1 if the target is proven for every entry, except those that NaN and infinities of the inputs decide; otherwise 0. */
int ozb_certificate_holds(const ozb_certificate* certificate, int* holds) OZB_NOEXCEPT;

/* The largest error bound over the error that the target allows, rounded up: at most 1 if it holds; may be infinite. */
int ozb_certificate_ratio(const ozb_certificate* certificate, double* ratio) OZB_NOEXCEPT;

/* The largest bound of an entry's absolute error (in a complex C, of a part's), in the unit of C, rounded up. */
int ozb_certificate_largest_bound(const ozb_certificate* certificate, double* bound) OZB_NOEXCEPT;

/* The bound of the absolute error of entry (i, j), counted from 0, with computed value c. The second function is for complex
 * products, including those of ozb_cgemm: c is a double complex number, bound[0] is for its real part, bound[1] for its
 * imaginary part. Each function refuses certificates of the other kind. */
int ozb_certificate_bound(const ozb_certificate* certificate, int64_t i, int64_t j, double c, double* bound) OZB_NOEXCEPT;
int ozb_certificate_bound_z(const ozb_certificate* certificate, int64_t i, int64_t j, const void* c,
                            double* bound) OZB_NOEXCEPT;

/* The certificate as JSON (docs/records.md), which `ozbound verify --certificate` recomputes. The text lives as long as the
 * handle. */
int ozb_certificate_json(const ozb_certificate* certificate, const char** json) OZB_NOEXCEPT;

/* Null is allowed. */
void ozb_certificate_destroy(ozb_certificate* certificate) OZB_NOEXCEPT;

/* A machine on which products run: the CPU; the first CUDA device (OZB_INVALID_ARGUMENT if there is none); or both. With both,
 * each product runs where it is predicted to be faster, if the speed of the device is known. `threads` counts host threads; 0:
 * OpenMP's number. */
typedef struct ozb_machine ozb_machine;

int ozb_machine_cpu(int threads, ozb_machine** machine) OZB_NOEXCEPT;
int ozb_machine_cuda(int threads, ozb_machine** machine) OZB_NOEXCEPT;
int ozb_machine_detect(int threads, ozb_machine** machine) OZB_NOEXCEPT;

/* The machine's backends, as records name them, one per line: "cpu\ncuda: NVIDIA H200\n". The text lives as long as the
 * handle. */
int ozb_machine_backends(const ozb_machine* machine, const char** text) OZB_NOEXCEPT;

/* Sets the machine of the calling thread's later decisions and products, and the memory of A, B and C: OZB_HOST or the number
 * of a CUDA device. A null machine is the CPU. Calls take no stream: each waits for its result on a stream of its own, and work
 * of other streams on the matrices must be finished before. The machine may be destroyed while it is set. OZB_INVALID_ARGUMENT:
 * nothing on the machine reaches matrices there; the setting is unchanged. */
enum { OZB_HOST = -1 };
int ozb_set_machine(const ozb_machine* machine, int place) OZB_NOEXCEPT;

/* Null is allowed. */
void ozb_machine_destroy(ozb_machine* machine) OZB_NOEXCEPT;

/* A handle to end calls early. After ozb_set_cancellation, the calling thread's products and decisions end with OZB_CANCELLED
 * about 20 ms after ozb_cancellation_request, or at once if the request came first. The thread's other calls, and other
 * threads, are not affected. A native DGEMM that has begun runs to its end. A request is permanent: for later calls, set
 * another handle, or null for no cancellation. */
typedef struct ozb_cancellation ozb_cancellation;

int ozb_cancellation_create(ozb_cancellation** cancellation) OZB_NOEXCEPT;

/* May be called from any thread, and from a signal handler. Null is allowed. */
void ozb_cancellation_request(ozb_cancellation* cancellation) OZB_NOEXCEPT;

/* Sets the handle for the calling thread. It may be destroyed while it is set; then no request can come. */
void ozb_set_cancellation(const ozb_cancellation* cancellation) OZB_NOEXCEPT;

/* Null is allowed. Do not call it while another thread or a signal handler may request. */
void ozb_cancellation_destroy(ozb_cancellation* cancellation) OZB_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
