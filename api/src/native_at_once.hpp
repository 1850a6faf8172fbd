// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/blas.hpp"
#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound {

/// gemm on the CPU by a library's DGEMM, where that is what gemm would decide, and certify: the same bits, without decision,
/// record or certificate. One sweep over the operands finds it out; what ways cost is looked up once for a size, by each
/// thread. False, with nothing written, where it may be otherwise: then gemm decides.
/// @pre a FloatEnvironment; `native` lives as long as the process. @throws as gemm of the arguments.
bool dgemm_at_once(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                   const double* b, Index ldb, double beta, double* c, Index ldc, const Target& target,
                   const NativeGemm& native);

}  // namespace ozbound
