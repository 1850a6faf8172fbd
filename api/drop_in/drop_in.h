/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OZBOUND_DROP_IN_H
#define OZBOUND_DROP_IN_H

/* The boundary between the hook, libozbound_blas.so, which has BLAS's names and needs libc alone, and the engine,
 * libozbound_drop_in.so, which the hook opens at the first call that is not `off`. Both are of one version. */

#include "hook/names.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of OZBOUND_MODE. */
enum ozd_mode { OZD_OFF = 1, OZD_SHADOW = 2 };

enum ozd_convention { OZD_FORTRAN, OZD_CBLAS };

/* A routine by one of its names. */
struct ozd_name {
  const char* name;
  enum ozd_convention convention;
  int single; /* of float, else of double */
  int wide;   /* its integers have 64 bits by its name; else the library decides */
};

/* A place in the program that calls a routine: one for each return address and name. It is never freed. */
struct ozd_site {
  const void* from; /* the return address */
  const struct ozd_name* name;
  void (*native)(void); /* the program's own routine */
  const char* object;   /* the file of the library or program that calls */
  unsigned long offset; /* of `from` in it */
  /* What follows belongs to the engine, which changes it atomically. */
  struct ozd_site* next; /* in the list of those that it has seen */
  int seen;
  int bits; /* of the native library's integers: 32 or 64; 0: not asked yet */
  long calls, small, empty, bad_arguments;
};

/* One call. A routine that takes its arguments by value has copies of them here, its integers 64 bits wide each. */
struct ozd_call {
  struct ozd_site* site;
  int layout;              /* CblasRowMajor or CblasColMajor; 102 of Fortran's */
  const void *op_a, *op_b; /* of Fortran's a char each, of CBLAS's an int */
  const void *m, *n, *k;
  const void *alpha, *a, *lda, *b, *ldb, *beta;
  void* c;
  const void* ldc;
  void (*native)(const struct ozd_call*); /* repeats the call as the program made it */
};

/* Answers a call. 1: the library will refuse its arguments, and nothing was done. The hook then calls the library, from which
 * an xerbla of the program's may not come back. */
typedef int (*ozd_run)(const struct ozd_call*);

/* The engine's only symbol. What it returns answers the calls of all threads from then on. Where a variable of the environment
 * has a bad value it writes one line to stderr and ends the process with 2. */
ozd_run ozd_engine(enum ozd_mode mode);

#ifdef __cplusplus
}
#endif

#endif
