#pragma once

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound {

enum class Layout : char { row_major = 'R', column_major = 'C' };

/// op(X) = X or X^T; for real matrices the conjugate transpose is the transpose.
enum class Op : char { none = 'N', transpose = 'T', conjugate_transpose = 'C' };

/// C = alpha op(A) op(B) + beta C to a target accuracy, on the CPU engine or native DGEMM, whichever `decide` finds cheaper.
///
/// op(A) is m x k, op(B) is k x n, C is m x n; lda, ldb, ldc count elements between the starts of rows (row_major) or columns
/// (column_major) of A, B and C as stored. beta = 0 never reads C, alpha = 0 never reads A or B.
/// @throws std::invalid_argument naming the argument: a negative size, a leading dimension that is too small, null data of a
/// matrix that is not empty, C overlapping A or B; CannotCertify for a target that rounding alone cannot meet.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                 const double* b, Index ldb, double beta, double* c, Index ldc, const Target& target);

/// The same for binary32 operands and result: u = 2^-24. alpha and beta are rounded nowhere.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc, const Target& target);

}  // namespace ozbound
