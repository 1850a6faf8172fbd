// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/core/matrix.hpp"

namespace ozbound::bench {

/// True if this system has BLIS, with OpenMP or without. It is loaded when first asked for, and shares no symbol with OpenBLAS.
bool have_blis();

/// `BLIS 0.9.0 haswell`: the version, and the kernels that it uses here; empty without BLIS.
std::string blis_core();

/// C = A B by BLIS's DGEMM on that many threads. @pre have_blis()
void blis_dgemm(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c, int threads);

}  // namespace ozbound::bench
