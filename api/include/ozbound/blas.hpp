// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <optional>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/place.hpp"
#include "ozbound/machine.hpp"

namespace ozbound {

enum class Layout : char { row_major = 'R', column_major = 'C' };

/// op(X) = X, X^T or X^H; for real matrices the conjugate transpose is the transpose.
enum class Op : char { none = 'N', transpose = 'T', conjugate_transpose = 'C' };

/// Options of a call. Under a decision, no option changes a bit of C, except that native DGEMM's bits may depend on its
/// threads.
struct BlasOptions {
  int threads = 0;                              ///< 0: OpenMP's number of threads; unused if a machine is given
  double workspace = unlimited_workspace;       ///< cap in bytes for slices or residues (workspace_of)
  bool native = true;                           ///< `decide` may choose native DGEMM (whose bits are its library's)
  bool residues = true;                         ///< `decide` may choose residues
  const CostModel* costs = nullptr;             ///< costs for comparing ways (CostModel); null: machine_costs, read once
  const PreparedOperand* prepared_a = nullptr;  ///< prepared op(A), for the decision; null: prepared in the call
  const PreparedOperand* prepared_b = nullptr;  ///< prepared op(B), likewise
  const Machine* machine = nullptr;             ///< machine of the call; null: the CPU
  Place place = {};                             ///< memory of A, B and C, which the machine must reach
};

/// C = alpha op(A) op(B) + beta C to a target accuracy, by slices, residues or native DGEMM, on the cheapest backend for
/// `decide`.
///
/// op(A) is m x k, op(B) is k x n, C is m x n; lda, ldb, ldc count elements between the starts of rows (row_major) or columns
/// (column_major) of A, B and C as stored. C is not read if beta = 0; A and B are not read if alpha = 0.
///
/// Do not pass lda = m for a column-major A that op_a transposes: the stored matrix is k x m, and lda >= max(1, k).
/// Do not pass c == a for A <- A B: a C that shares memory with A or B is refused. The product needs a matrix of its own.
/// @throws std::invalid_argument naming the argument: a negative size, a leading dimension that is too small, null data of a
/// matrix that is not empty, a matrix beyond the address space, C overlapping A or B, an option that does not fit;
/// CannotCertify for a target below the rounding of C. Nothing is written then.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                 const double* b, Index ldb, double beta, double* c, Index ldc, const Target& target,
                 const BlasOptions& options = {});

/// The same for binary32 operands and result: u = 2^-24. alpha and beta are used exactly.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc, const Target& target,
                 const BlasOptions& options = {});

/// Computes the C of gemm for callers that want no record: multiply_without_record.
/// @return the certificate, if one was made anyway; nothing if the target is met without one
/// @throws as gemm.
std::optional<Certificate> gemm_without_record(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                               const double* a, Index lda, const double* b, Index ldb, double beta, double* c,
                                               Index ldc, const Target& target, const BlasOptions& options = {});
std::optional<Certificate> gemm_without_record(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                               const float* a, Index lda, const float* b, Index ldb, float beta, float* c,
                                               Index ldc, const Target& target, const BlasOptions& options = {});
std::optional<Certificate> gemm_without_record(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                               std::complex<double> alpha, const std::complex<double>* a, Index lda,
                                               const std::complex<double>* b, Index ldb, std::complex<double> beta,
                                               std::complex<double>* c, Index ldc, const Target& target,
                                               const BlasOptions& options = {});
std::optional<Certificate> gemm_without_record(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                               std::complex<float> alpha, const std::complex<float>* a, Index lda,
                                               const std::complex<float>* b, Index ldb, std::complex<float> beta,
                                               std::complex<float>* c, Index ldc, const Target& target,
                                               const BlasOptions& options = {});

/// The choice that gemm makes for a target, without the product. C is never written, and read only if beta is not 0.
/// @throws as gemm.
Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                const double* b, Index ldb, double beta, const double* c, Index ldc, const Target& target,
                const BlasOptions& options = {});
Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                const float* b, Index ldb, float beta, const float* c, Index ldc, const Target& target,
                const BlasOptions& options = {});

/// gemm under a decision, made for this call or for another of the same sizes. The certificate is about this call, and says if
/// the decision's target does not hold for it.
/// @throws std::invalid_argument as gemm, and for a decision that cannot be carried out.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                 const double* b, Index ldb, double beta, double* c, Index ldc, const Decision& decision,
                 const BlasOptions& options = {});
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc, const Decision& decision,
                 const BlasOptions& options = {});

/// The same over the complex numbers, stored as in C and Fortran; Op::conjugate_transpose conjugates. The real and the
/// imaginary parts of C each meet the target by themselves, as sums of 2k real terms (bounds/decide.hpp). Prepared operands are
/// only for real products.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<double> alpha,
                 const std::complex<double>* a, Index lda, const std::complex<double>* b, Index ldb, std::complex<double> beta,
                 std::complex<double>* c, Index ldc, const Target& target, const BlasOptions& options = {});
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<float> alpha,
                 const std::complex<float>* a, Index lda, const std::complex<float>* b, Index ldb, std::complex<float> beta,
                 std::complex<float>* c, Index ldc, const Target& target, const BlasOptions& options = {});
Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<double> alpha,
                const std::complex<double>* a, Index lda, const std::complex<double>* b, Index ldb, std::complex<double> beta,
                const std::complex<double>* c, Index ldc, const Target& target, const BlasOptions& options = {});
Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<float> alpha,
                const std::complex<float>* a, Index lda, const std::complex<float>* b, Index ldb, std::complex<float> beta,
                const std::complex<float>* c, Index ldc, const Target& target, const BlasOptions& options = {});
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<double> alpha,
                 const std::complex<double>* a, Index lda, const std::complex<double>* b, Index ldb, std::complex<double> beta,
                 std::complex<double>* c, Index ldc, const Decision& decision, const BlasOptions& options = {});
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<float> alpha,
                 const std::complex<float>* a, Index lda, const std::complex<float>* b, Index ldb, std::complex<float> beta,
                 std::complex<float>* c, Index ldc, const Decision& decision, const BlasOptions& options = {});

}  // namespace ozbound
