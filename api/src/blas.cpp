// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/blas.hpp"

#include <omp.h>

#include "blas_arguments.hpp"
#include "native_at_once.hpp"
#include "ozbound/core/detail/usable_threads.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/native.hpp"

namespace ozbound {
namespace {

template <class T>
Decision decide_of(const BlasArguments<T, const T>& arguments, const Target& target, const BlasOptions& options) {
  const FloatEnvironment environment;
  return decide(views_of(arguments).product(options.place), target, machine_of(options), choices_of(options));
}

template <class T>
Certificate gemm_of(const BlasArguments<T>& arguments, const Target& target, const BlasOptions& options) {
  const FloatEnvironment environment;
  const auto product = views_of(arguments).product(options.place);
  return multiply(product, target, machine_of(options), choices_of(options), multiply_options(options)).certificate;
}

/// True if the options ask only for the default CPU.
bool is_default_cpu(const BlasOptions& options) {
  return options.machine == nullptr && options.threads == 0 && options.native && options.residues && options.costs == nullptr &&
         options.prepared_a == nullptr && options.prepared_b == nullptr && options.place.is_host();
}

template <class T>
std::optional<Certificate> gemm_without_record_of(const BlasArguments<T>& arguments, const Target& target,
                                                  const BlasOptions& options) {
  const FloatEnvironment environment;
  const Product product = views_of(arguments).product(options.place);
  if (is_default_cpu(options) &&
      native_gemm() != nullptr) {  // avoids a machine, which takes longer to make than a small product
    product.check();
    if (multiply_at_once(product, target, *native_gemm(), usable_threads(omp_get_max_threads()))) return std::nullopt;
  }
  return multiply_without_record(product, target, machine_of(options), choices_of(options), multiply_options(options));
}

template <class T>
Certificate gemm_of(const BlasArguments<T>& arguments, const Decision& decision, const BlasOptions& options) {
  const FloatEnvironment environment;
  const auto product = views_of(arguments).product(options.place);
  return multiply(product, decision, machine_of(options), multiply_options(options));
}

}  // namespace

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                 const double* b, Index ldb, double beta, double* c, Index ldc, const Target& target,
                 const BlasOptions& options) {
  return gemm_of<double>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc, const Target& target, const BlasOptions& options) {
  return gemm_of<float>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                const double* b, Index ldb, double beta, const double* c, Index ldc, const Target& target,
                const BlasOptions& options) {
  return decide_of<double>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                const float* b, Index ldb, float beta, const float* c, Index ldc, const Target& target,
                const BlasOptions& options) {
  return decide_of<float>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                 const double* b, Index ldb, double beta, double* c, Index ldc, const Decision& decision,
                 const BlasOptions& options) {
  return gemm_of<double>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, decision, options);
}

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc, const Decision& decision,
                 const BlasOptions& options) {
  return gemm_of<float>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, decision, options);
}

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<double> alpha,
                 const std::complex<double>* a, Index lda, const std::complex<double>* b, Index ldb, std::complex<double> beta,
                 std::complex<double>* c, Index ldc, const Target& target, const BlasOptions& options) {
  return gemm_of<std::complex<double>>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<float> alpha,
                 const std::complex<float>* a, Index lda, const std::complex<float>* b, Index ldb, std::complex<float> beta,
                 std::complex<float>* c, Index ldc, const Target& target, const BlasOptions& options) {
  return gemm_of<std::complex<float>>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<double> alpha,
                const std::complex<double>* a, Index lda, const std::complex<double>* b, Index ldb, std::complex<double> beta,
                const std::complex<double>* c, Index ldc, const Target& target, const BlasOptions& options) {
  return decide_of<std::complex<double>>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

Decision decide(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<float> alpha,
                const std::complex<float>* a, Index lda, const std::complex<float>* b, Index ldb, std::complex<float> beta,
                const std::complex<float>* c, Index ldc, const Target& target, const BlasOptions& options) {
  return decide_of<std::complex<float>>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<double> alpha,
                 const std::complex<double>* a, Index lda, const std::complex<double>* b, Index ldb, std::complex<double> beta,
                 std::complex<double>* c, Index ldc, const Decision& decision, const BlasOptions& options) {
  return gemm_of<std::complex<double>>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, decision, options);
}

Certificate gemm(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, std::complex<float> alpha,
                 const std::complex<float>* a, Index lda, const std::complex<float>* b, Index ldb, std::complex<float> beta,
                 std::complex<float>* c, Index ldc, const Decision& decision, const BlasOptions& options) {
  return gemm_of<std::complex<float>>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, decision, options);
}

std::optional<Certificate> gemm_without_record(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, double alpha,
                                               const double* a, Index lda, const double* b, Index ldb, double beta, double* c,
                                               Index ldc, const Target& target, const BlasOptions& options) {
  return gemm_without_record_of<double>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

std::optional<Certificate> gemm_without_record(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k, float alpha,
                                               const float* a, Index lda, const float* b, Index ldb, float beta, float* c,
                                               Index ldc, const Target& target, const BlasOptions& options) {
  return gemm_without_record_of<float>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target, options);
}

std::optional<Certificate> gemm_without_record(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                               std::complex<double> alpha, const std::complex<double>* a, Index lda,
                                               const std::complex<double>* b, Index ldb, std::complex<double> beta,
                                               std::complex<double>* c, Index ldc, const Target& target,
                                               const BlasOptions& options) {
  return gemm_without_record_of<std::complex<double>>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc},
                                                      target, options);
}

std::optional<Certificate> gemm_without_record(Layout layout, Op op_a, Op op_b, Index m, Index n, Index k,
                                               std::complex<float> alpha, const std::complex<float>* a, Index lda,
                                               const std::complex<float>* b, Index ldb, std::complex<float> beta,
                                               std::complex<float>* c, Index ldc, const Target& target,
                                               const BlasOptions& options) {
  return gemm_without_record_of<std::complex<float>>({layout, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, target,
                                                     options);
}

}  // namespace ozbound
