// SPDX-License-Identifier: BSD-3-Clause
// Ends the process as the kernel does when memory runs out.

#include <csignal>

#include "blas.hpp"

void multiply(const Call&) { std::raise(SIGKILL); }
