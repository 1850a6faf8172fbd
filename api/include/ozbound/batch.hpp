// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "ozbound/blas.hpp"

namespace ozbound {

/// batch_count products of one shape, C_t = alpha op(A_t) op(B_t) + beta C_t, where A_t begins at a + t stride_a, and B_t and
/// C_t likewise. With a stride of 0, all products share one operand. A shared real operand is prepared once for all products
/// that need the same integers of it, if the workspace has room.
///
/// Each product has its own decision, and the same bits and certificate as from gemm.
/// @throws as gemm, and std::invalid_argument for a negative stride or count, and for a C that overlaps another C or any A or
/// B. Nothing is written then. An error text about one product begins with `product 2: `, counted from 0.
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                              const double* a, Index lda, Index stride_a, const double* b, Index ldb,
                                              Index stride_b, double beta, double* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options = {});
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                              const float* a, Index lda, Index stride_a, const float* b, Index ldb,
                                              Index stride_b, float beta, float* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options = {});
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                              std::complex<double> alpha, const std::complex<double>* a, Index lda,
                                              Index stride_a, const std::complex<double>* b, Index ldb, Index stride_b,
                                              std::complex<double> beta, std::complex<double>* c, Index ldc, Index stride_c,
                                              Index batch_count, const Target& target, const BlasOptions& options = {});
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                              std::complex<float> alpha, const std::complex<float>* a, Index lda,
                                              Index stride_a, const std::complex<float>* b, Index ldb, Index stride_b,
                                              std::complex<float> beta, std::complex<float>* c, Index ldc, Index stride_c,
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
std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                             std::complex<double> alpha, const std::complex<double>* a, Index lda,
                                             Index stride_a, const std::complex<double>* b, Index ldb, Index stride_b,
                                             std::complex<double> beta, const std::complex<double>* c, Index ldc,
                                             Index stride_c, Index batch_count, const Target& target,
                                             const BlasOptions& options = {});
std::vector<Decision> decide_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                             std::complex<float> alpha, const std::complex<float>* a, Index lda, Index stride_a,
                                             const std::complex<float>* b, Index ldb, Index stride_b, std::complex<float> beta,
                                             const std::complex<float>* c, Index ldc, Index stride_c, Index batch_count,
                                             const Target& target, const BlasOptions& options = {});

/// The batch under one decision for all products, or one for each. Each certificate says if the target holds for its product.
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
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                              std::complex<double> alpha, const std::complex<double>* a, Index lda,
                                              Index stride_a, const std::complex<double>* b, Index ldb, Index stride_b,
                                              std::complex<double> beta, std::complex<double>* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options = {});
std::vector<Certificate> gemm_strided_batched(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                              std::complex<float> alpha, const std::complex<float>* a, Index lda,
                                              Index stride_a, const std::complex<float>* b, Index ldb, Index stride_b,
                                              std::complex<float> beta, std::complex<float>* c, Index ldc, Index stride_c,
                                              Index batch_count, std::span<const Decision> decisions,
                                              const BlasOptions& options = {});

/// An argument of a batch: one value for all products, or a sequence with one for each. A sequence must outlive its uses.
template <class T>
class PerProduct {
 public:
  PerProduct(T one) : one_(one) {}  // NOLINT(google-explicit-constructor): as an argument of gemm

  template <std::ranges::contiguous_range Values>
    requires std::ranges::borrowed_range<Values> &&
                 std::convertible_to<decltype(std::ranges::data(std::declval<Values&>())), const T*>
  PerProduct(Values&& each)  // NOLINT: likewise, an array, a std::vector or a std::span
      : each_(std::ranges::data(each), std::ranges::size(each)), is_one_(false) {}

  /// The value for product t. A single value, or a sequence of length 1, serves all products.
  [[nodiscard]] const T& operator[](Index t) const {
    if (is_one_) return one_;
    return each_[each_.size() == 1 ? 0 : static_cast<std::size_t>(t)];
  }

  [[nodiscard]] std::size_t size() const { return is_one_ ? 1 : each_.size(); }

 private:
  T one_ = {};
  std::span<const T> each_;
  bool is_one_ = true;
};

template <class T>
concept BlasNumber = std::same_as<T, double> || std::same_as<T, float> || std::same_as<T, std::complex<double>> ||
                     std::same_as<T, std::complex<float>>;

/// batch_count products by arrays of pointers, C_t = alpha_t op(A_t) op(B_t) + beta_t C_t: gemm's arguments in their order,
/// each one for all products or one for each. Shapes, scalars and leading dimensions may differ; products may share an A or B.
///
///   gemm_batched(GemmBatch<double>{Layout::row_major, Op::none, Op::none, 2, 2, 2, 1, as, 2, b, 2, 0, cs, 2, 3}, target)
///
/// with std::vector<const double*> as, cs of 3 pointers each, multiplies them all by one b.
template <BlasNumber T>
struct GemmBatch {
  Layout layout;
  PerProduct<Op> op_a, op_b;
  PerProduct<Index> m, n, k;
  PerProduct<T> alpha;
  PerProduct<const T*> a;
  PerProduct<Index> lda;
  PerProduct<const T*> b;
  PerProduct<Index> ldb;
  PerProduct<T> beta;
  PerProduct<T*> c;
  PerProduct<Index> ldc;
  Index batch_count;
};

/// Like gemm_strided_batched: every product has the same decision, bits and certificate as in a call of its own. An A or B that
/// several products share is prepared once for products that follow each other in the order of A's address, then B's.
/// @throws as gemm_strided_batched, also for a sequence of a length other than 1 and batch_count.
template <BlasNumber T>
std::vector<Certificate> gemm_batched(const GemmBatch<T>& batch, const Target& target, const BlasOptions& options = {});

/// The decision for every product, without the products. No C is written, and C is not read if beta is 0.
template <BlasNumber T>
std::vector<Decision> decide_batched(const GemmBatch<T>& batch, const Target& target, const BlasOptions& options = {});

/// The batch under one decision for all products, or one for each.
template <BlasNumber T>
std::vector<Certificate> gemm_batched(const GemmBatch<T>& batch, std::span<const Decision> decisions,
                                      const BlasOptions& options = {});

}  // namespace ozbound
