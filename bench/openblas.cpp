// SPDX-License-Identifier: BSD-3-Clause
#include "openblas.hpp"

#if defined(OZBOUND_BENCH_OPENBLAS)

#include <cblas.h>

namespace ozbound::bench {

bool have_openblas() { return true; }

std::string openblas_name() { return openblas_get_config(); }

void openblas_dgemm(const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c) {
  const auto m = static_cast<blasint>(c.rows()), n = static_cast<blasint>(c.cols()), k = static_cast<blasint>(a.cols());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n);
}

}  // namespace ozbound::bench

#else

#include <stdexcept>

namespace ozbound::bench {

bool have_openblas() { return false; }

std::string openblas_name() { return {}; }

void openblas_dgemm(const Matrix<double>&, const Matrix<double>&, Matrix<double>&) {
  throw std::logic_error("this build has no OpenBLAS");
}

}  // namespace ozbound::bench

#endif
