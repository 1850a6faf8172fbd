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

/// How a call works. No option changes a bit of C under a decision, but that native DGEMM's bits may depend on its threads.
struct BlasOptions {
  int threads = 0;                              ///< 0: as many as OpenMP would use; not where a machine is given
  double workspace = unlimited_workspace;       ///< cap in bytes for slices or residues (workspace_of)
  bool native = true;                           ///< `decide` may choose native DGEMM (whose bits are its library's)
  bool residues = true;                         ///< it may choose residues
  const CostModel* costs = nullptr;             ///< by which `decide` compares ways; null: machine_costs, read once
  const PreparedOperand* prepared_a = nullptr;  ///< of op(A), for the decision; null: made here
  const PreparedOperand* prepared_b = nullptr;  ///< of op(B), likewise
  const Machine* machine = nullptr;             ///< what the call runs on; null: the CPU
  Place place = {};                             ///< where A, B and C lie, which the machine must reach
};

/// C = alpha op(A) op(B) + beta C to a target accuracy, by slices, residues or native DGEMM, on the backend that `decide` finds
/// cheapest.
///
/// op(A) is m x k, op(B) is k x n, C is m x n; lda, ldb, ldc count elements between the starts of rows (row_major) or columns
/// (column_major) of A, B and C as stored. beta = 0 never reads C, alpha = 0 never reads A or B.
///
/// Not lda = m for a column-major A that op_a transposes: what is stored is k x m, and lda >= max(1, k).
/// Not c == a for A <- A B: C must share nothing with A or B, and is refused. The product needs a matrix of its own.
/// @throws std::invalid_argument naming the argument: a negative size, a leading dimension that is too small, null data of a
/// matrix that is not empty, a matrix beyond the address space, C overlapping A or B, an option that does not fit;
/// CannotCertify for a target that rounding alone cannot meet. Nothing is written then.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                 const double* b, Index ldb, double beta, double* c, Index ldc, const Target& target,
                 const BlasOptions& options = {});

/// The same for binary32 operands and result: u = 2^-24. alpha and beta are rounded nowhere.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc, const Target& target,
                 const BlasOptions& options = {});

/// The C of gemm, for callers that want no record of it: multiply_without_record.
/// @return the certificate, where one was made all the same; nothing where the target is met without
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

/// The choice that gemm makes for a target, without the product. C is only read, and only where beta is not 0.
/// @throws as gemm.
Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                const double* b, Index ldb, double beta, const double* c, Index ldc, const Target& target,
                const BlasOptions& options = {});
Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                const float* b, Index ldb, float beta, const float* c, Index ldc, const Target& target,
                const BlasOptions& options = {});

/// gemm under a decision, of this call or of another of the same sizes: the certificate is about this call, and says so if the
/// decision's target does not hold for it.
/// @throws std::invalid_argument as gemm, and for a decision that cannot be carried out.
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                 const double* b, Index ldb, double beta, double* c, Index ldc, const Decision& decision,
                 const BlasOptions& options = {});
Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc, const Decision& decision,
                 const BlasOptions& options = {});

/// The same over the complex numbers, which are in memory as in C and Fortran; Op::conjugate_transpose conjugates. The real and
/// the imaginary parts of C each meet the target by themselves, as sums of 2k real terms (bounds/decide.hpp). Prepared operands
/// are for real products.
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
