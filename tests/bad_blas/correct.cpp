// SPDX-License-Identifier: BSD-3-Clause
// Nothing is wrong with this one.

#include "blas.hpp"

void multiply(const Call& call) { multiply_plainly(call); }
