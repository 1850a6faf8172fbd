// SPDX-License-Identifier: BSD-3-Clause
// Crashes when it is loaded.

#include <cstdlib>

#include "blas.hpp"

namespace {

[[gnu::constructor]] void check_processor() { std::abort(); }

}  // namespace

void multiply(const Call& call) { multiply_plainly(call); }
