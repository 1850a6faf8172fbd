// SPDX-License-Identifier: BSD-3-Clause
#include "openblas.hpp"

#if defined(OZBOUND_BENCH_OPENBLAS)

#include <cblas.h>

namespace ozbound::bench {

bool have_openblas() { return true; }

std::string openblas_name() { return openblas_get_config(); }

std::string openblas_core() {
  const auto config = openblas_name();
  const auto version = config.substr(0, config.find(' ', config.find(' ') + 1));  // its first two words
  return version + " " + openblas_get_corename();
}

void openblas_dgemm(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c) {
  const auto m = static_cast<blasint>(c.rows()), n = static_cast<blasint>(c.cols()), k = static_cast<blasint>(a.cols());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n);
}

void openblas_square(Index size, double alpha, const double* a, const double* b, double beta, double* c) {
  const auto n = static_cast<blasint>(size);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, alpha, a, n, b, n, beta, c, n);
}
void openblas_square(Index size, float alpha, const float* a, const float* b, float beta, float* c) {
  const auto n = static_cast<blasint>(size);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, alpha, a, n, b, n, beta, c, n);
}
void openblas_square(Index size, std::complex<double> alpha, const std::complex<double>* a, const std::complex<double>* b,
                     std::complex<double> beta, std::complex<double>* c) {
  const auto n = static_cast<blasint>(size);
  cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, &alpha, a, n, b, n, &beta, c, n);
}

}  // namespace ozbound::bench

#else

#include <stdexcept>

namespace ozbound::bench {

bool have_openblas() { return false; }

std::string openblas_name() { return {}; }

std::string openblas_core() { return {}; }

void openblas_dgemm(const Matrix<double>&, const Matrix<double>&, Matrix<double>&) {
  throw std::logic_error("this build has no OpenBLAS");
}
void openblas_square(Index, double, const double*, const double*, double, double*) {
  throw std::logic_error("this build has no OpenBLAS");
}
void openblas_square(Index, float, const float*, const float*, float, float*) {
  throw std::logic_error("this build has no OpenBLAS");
}
void openblas_square(Index, std::complex<double>, const std::complex<double>*, const std::complex<double>*,
                     std::complex<double>, std::complex<double>*) {
  throw std::logic_error("this build has no OpenBLAS");
}

}  // namespace ozbound::bench

#endif
