// SPDX-License-Identifier: BSD-3-Clause
// A library, but no BLAS.

extern "C" int answer();
extern "C" int answer() { return 42; }
