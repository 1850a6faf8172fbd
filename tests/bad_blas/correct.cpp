// SPDX-License-Identifier: BSD-3-Clause
// A correct library.

#include "blas.hpp"

void multiply(const Call& call) { multiply_plainly(call); }
