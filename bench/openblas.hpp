// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/core/matrix.hpp"

namespace ozbound::bench {

/// Whether this build found OpenBLAS, called here without the adapter behind NativeGemm, which copies C.
bool have_openblas();

/// Version and kernels, as the library tells them; empty without it.
std::string openblas_name();

/// C = A B on as many threads as OpenMP would use. @pre have_openblas(); sizes below 2^31.
void openblas_dgemm(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c);

}  // namespace ozbound::bench
