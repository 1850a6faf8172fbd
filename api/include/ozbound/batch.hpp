// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "ozbound/blas.hpp"

namespace ozbound {

/// batch_count products of one shape, C_t = alpha op(A_t) op(B_t) + beta C_t, where A_t begins at a + t stride_a, and B_t and
/// C_t likewise. A stride of 0 is one operand of all products: it is sliced once for all that take the same slices of it, where
/// the workspace has the room.
///
/// Every product is decided for by itself, and has the bits and the certificate that gemm gives it alone.
/// @throws as gemm, and std::invalid_argument for a negative stride or count, and for C's that overlap another C or any A or
/// B. Nothing is written then.
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                              const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                              Index stride_b, double beta, double* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options = {});
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                              const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                              Index stride_b, float beta, float* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options = {});

/// The decision for every product, without the products.
std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                             const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                             Index stride_b, double beta, const double* c, Index ldc, Index stride_c,
                                             Index batch_count, const Target& target, const BlasOptions& options = {});
std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                             const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                             Index stride_b, float beta, const float* c, Index ldc, Index stride_c,
                                             Index batch_count, const Target& target, const BlasOptions& options = {});

/// The batch under one decision for all products, or one for each. Each certificate says whether the target holds for its
/// product.
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                              const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                              Index stride_b, double beta, double* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options = {});
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                              const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                              Index stride_b, float beta, float* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options = {});

}  // namespace ozbound
