// SPDX-License-Identifier: BSD-3-Clause
// Ends the program with exit status 0.

#include <cstdlib>

#include "blas.hpp"

void multiply(const Call&) { std::exit(0); }
