/* SPDX-License-Identifier: BSD-3-Clause */
/* libozbound_blas.so: BLAS's names in front of the program's own BLAS. It has no constructor and no lock, and needs only libc:
 * for a program that never multiplies, its only cost is a mapped file, and a line at the end if `ozbound run` started it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sites.h"

#define EXPORT __attribute__((visibility("default")))

static _Atomic(int) mode_is; /* 0: unknown yet */
static _Atomic(ozd_run) engine;

/* Above 0 while a call of this thread is being answered: the native BLAS may itself call names of this library. */
static __thread int depth __attribute__((tls_model("initial-exec")));

/* Opens the engine. Prints one line and returns null if it cannot be opened. */
static ozd_run open_engine(enum ozd_mode mode) {
  char path[4096];
  ozd_beside("libozbound_drop_in.so", path, sizeof path);
  ozd_run (*start)(enum ozd_mode) = NULL;
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const found = handle != NULL ? dlsym(handle, "ozd_engine") : NULL;
  if (found != NULL) memcpy(&start, &found, sizeof found);
  if (start != NULL) return start(mode);
  fprintf(stderr, "ozbound: off, since the engine does not load: %s\n", dlerror());
  return NULL;
}

/* Two threads may run this at once; the engine gives both the same answer. */
static enum ozd_mode read_mode(void) {
  const char* const text = secure_getenv("OZBOUND_MODE");
  enum ozd_mode mode = OZD_OFF;
  if (text != NULL && strcmp(text, "shadow") == 0) {
    mode = OZD_SHADOW;
  } else if (text != NULL && text[0] != 0 && strcmp(text, "off") != 0) {
    fprintf(stderr, "ozbound: OZBOUND_MODE must be off or shadow: %s\n", text);
    _exit(2);
  }
  if (mode != OZD_OFF) {
    ++depth; /* products of the engine's start are not the program's */
    const ozd_run run = open_engine(mode);
    --depth;
    if (run == NULL) mode = OZD_OFF;
    atomic_store_explicit(&engine, run, memory_order_release);
  }
  atomic_store_explicit(&mode_is, mode, memory_order_release);
  return mode;
}

/* Has the engine say that no product was seen, at the end of the process that `ozbound run` started, and of no child of it. */
__attribute__((destructor)) static void say_unseen(void) {
  const char* const root = secure_getenv("OZBOUND_ROOT");
  const char* const text = secure_getenv("OZBOUND_MODE");
  if (atomic_load_explicit(&mode_is, memory_order_acquire) != 0 || root == NULL || text == NULL) return;
  if (strcmp(text, "shadow") != 0 || strtol(root, NULL, 10) != (long)getpid()) return;
  ++depth;
  open_engine(OZD_UNSEEN);
  --depth;
}

static inline int is_off(void) {
  const int mode = atomic_load_explicit(&mode_is, memory_order_acquire);
  return (__builtin_expect(mode != 0, 1) ? mode : (int)read_mode()) == OZD_OFF;
}

static void answer(const struct ozd_call* call) {
  ++depth;
  const int error = errno;
  const int refused = atomic_load_explicit(&engine, memory_order_acquire)(call);
  --depth;
  if (refused) errno = error, call->native(call);
}

/* Names with Fortran's convention, with the lengths of both texts. Integers are passed on by address, so their width does not
 * matter. */
typedef void (*fortran_gemm)(const char*, const char*, const void*, const void*, const void*, const void*, const void*,
                             const void*, const void*, const void*, const void*, void*, const void*, size_t, size_t);

static void native_fortran(const struct ozd_call* x) {
  ((fortran_gemm)x->site->native)(x->op_a, x->op_b, x->m, x->n, x->k, x->alpha, x->a, x->lda, x->b, x->ldb, x->beta, x->c,
                                  x->ldc, 1, 1);
}

#define DEFINE_FORTRAN(NAME, T, SINGLE, WIDE)                                                                           \
  static const struct ozd_name name_of_##NAME = {#NAME, OZD_FORTRAN, SINGLE, WIDE};                                     \
  EXPORT void NAME(const char* op_a, const char* op_b, const void* m, const void* n, const void* k, const T* alpha,     \
                   const T* a, const void* lda, const T* b, const void* ldb, const T* beta, T* c, const void* ldc) {    \
    struct ozd_site* const site = ozd_site_of(&name_of_##NAME, __builtin_return_address(0));                            \
    const struct ozd_call call = {site, 102, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, native_fortran}; \
    if (depth > 0 || is_off())                                                                                          \
      native_fortran(&call);                                                                                            \
    else                                                                                                                \
      answer(&call);                                                                                                    \
  }
OZD_FORTRAN_NAMES(DEFINE_FORTRAN)

/* Names with CBLAS's convention. Integers have 64 bits here, as in registers and on the stack. Integers of an ILP64 caller thus
 * stay complete; for other callers, the upper halves are never read. */
#define DEFINE_CBLAS(NAME, T, SINGLE, WIDE)                                                                                \
  static const struct ozd_name name_of_##NAME = {#NAME, OZD_CBLAS, SINGLE, WIDE};                                          \
  typedef void (*type_of_##NAME)(int, int, int, int64_t, int64_t, int64_t, T, const T*, int64_t, const T*, int64_t, T, T*, \
                                 int64_t);                                                                                 \
  static void native_##NAME(const struct ozd_call* x) {                                                                    \
    ((type_of_##NAME)x->site->native)(x->layout, *(const int*)x->op_a, *(const int*)x->op_b, *(const int64_t*)x->m,        \
                                      *(const int64_t*)x->n, *(const int64_t*)x->k, *(const T*)x->alpha, x->a,             \
                                      *(const int64_t*)x->lda, x->b, *(const int64_t*)x->ldb, *(const T*)x->beta, x->c,    \
                                      *(const int64_t*)x->ldc);                                                            \
  }                                                                                                                        \
  EXPORT void NAME(int layout, int op_a, int op_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,      \
                   const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {                                                   \
    struct ozd_site* const site = ozd_site_of(&name_of_##NAME, __builtin_return_address(0));                               \
    if (depth > 0 || is_off()) {                                                                                           \
      ((type_of_##NAME)site->native)(layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                    \
      return;                                                                                                              \
    }                                                                                                                      \
    const struct ozd_call call = {site, layout, &op_a, &op_b, &m,    &n, &k,   &alpha,                                     \
                                  a,    &lda,   b,     &ldb,  &beta, c,  &ldc, native_##NAME};                             \
    answer(&call);                                                                                                         \
  }
OZD_CBLAS_NAMES(DEFINE_CBLAS)
