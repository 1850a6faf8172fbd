/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OZBOUND_DROP_IN_H
#define OZBOUND_DROP_IN_H

/* The boundary between the hook, libozbound_blas.so, which has BLAS's names and needs only libc, and the engine,
 * libozbound_drop_in.so, which the hook opens at the first call that is not `off`. Both have the same version. */

#include "hook/names.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of OZBOUND_MODE. OZD_UNSEEN: the process that `ozbound run` started ends, and made no call in another mode than
 * off; the engine says so, and answers no call. */
enum ozd_mode { OZD_OFF = 1, OZD_SHADOW = 2, OZD_UNSEEN = 3 };

enum ozd_convention { OZD_FORTRAN, OZD_CBLAS };

/* A routine by one of its names. */
struct ozd_name {
  const char* name;
  enum ozd_convention convention;
  int single; /* 1: float; 0: double */
  int wide;   /* 1: the name implies 64-bit integers; 0: the library decides */
};

/* A place in the program that calls a routine: one for each return address and name. It is never freed. */
struct ozd_site {
  const void* from; /* the return address */
  const struct ozd_name* name;
  void (*native)(void); /* the program's own routine */
  const char* object;   /* the file of the library or program that calls */
  unsigned long offset; /* offset of `from` in that file */
  /* The engine owns the following members and changes them atomically. */
  struct ozd_site* next; /* next site in the engine's list */
  int seen;
  int bits; /* of the native library's integers: 32 or 64; 0: unknown yet; -1: nobody can tell */
  long calls, small, empty, bad_arguments, unknown_width, other_mode; /* other_mode: large, and not to nearest or flushing */
};

/* One call. For a routine that takes arguments by value, it holds copies, with 64-bit integers. */
struct ozd_call {
  struct ozd_site* site;
  int layout;              /* CblasRowMajor or CblasColMajor; 102 for Fortran */
  const void *op_a, *op_b; /* a char each for Fortran, an int each for CBLAS */
  const void *m, *n, *k;
  const void *alpha, *a, *lda, *b, *ldb, *beta;
  void* c;
  const void* ldc;
  void (*native)(const struct ozd_call*); /* repeats the call as the program made it */
};

/* Answers a call. Returns 1 if the library will refuse the arguments; nothing was done then. The hook then calls the library,
 * whose call of the program's xerbla may not return. */
typedef int (*ozd_run)(const struct ozd_call*);

/* The engine's only symbol. Its result answers the calls of all threads from then on; it is null for OZD_UNSEEN. If an
 * environment variable has a bad value, it writes one line to stderr and ends the process with 2. */
ozd_run ozd_engine(enum ozd_mode mode);

#ifdef __cplusplus
}
#endif

#endif
