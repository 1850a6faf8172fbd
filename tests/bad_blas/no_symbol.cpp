// SPDX-License-Identifier: BSD-3-Clause
// A library without any BLAS function.

extern "C" int answer();
extern "C" int answer() { return 42; }
