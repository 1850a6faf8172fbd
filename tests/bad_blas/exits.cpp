// SPDX-License-Identifier: BSD-3-Clause
// Ends the program, and successfully.

#include <cstdlib>

#include "blas.hpp"

void multiply(const Call&) { std::exit(0); }
