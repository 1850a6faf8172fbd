// SPDX-License-Identifier: BSD-3-Clause
// SGEMM and CGEMM with sums in long double, rounded once, to be preloaded. run.sh compares failures with them.

#include <complex>
#include <cstddef>

namespace {

template <class T, class Wide>
void gemm(const char* op_a, const char* op_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta,
          T* c, int ldc) {
  const auto element = [](char op, const T* x, int ld, int i, int j) {
    const bool as_it_is = op == 'N' || op == 'n';
    const Wide value(x[as_it_is ? i + std::ptrdiff_t{j} * ld : j + std::ptrdiff_t{i} * ld]);
    if constexpr (sizeof(T) == sizeof(std::complex<float>))
      return op == 'C' || op == 'c' ? std::conj(value) : value;
    else
      return value;
  };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      Wide sum{};
      for (int l = 0; l < k; ++l) sum += element(*op_a, a, lda, i, l) * element(*op_b, b, ldb, l, j);
      T& entry = c[i + std::ptrdiff_t{j} * ldc];
      entry = static_cast<T>(Wide(alpha) * sum + (beta == T{} ? Wide{} : Wide(beta) * Wide(entry)));
    }
}

}  // namespace

#define OZB_EXACT_GEMM(name, T, Wide)                                                                                 \
  extern "C" void name(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha,  \
                       const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc) { \
    gemm<T, Wide>(op_a, op_b, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                                  \
  }
OZB_EXACT_GEMM(sgemm_, float, long double)
OZB_EXACT_GEMM(cgemm_, std::complex<float>, std::complex<long double>)
