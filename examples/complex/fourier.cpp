// SPDX-License-Identifier: BSD-3-Clause
// The Fourier matrix F of order 8: F F^H = 8 I, except for the rounding of sqrt(1/2) in F. Real and imaginary parts are proven
// separately.

#include <algorithm>
#include <cmath>
#include <complex>
#include <iostream>
#include <ozbound/blas.hpp>

int main() {
  using namespace ozbound;
  using Complex = std::complex<double>;
  constexpr int n = 8;
  const double h = std::sqrt(0.5);
  const Complex roots[n] = {{1, 0}, {h, h}, {0, 1}, {-h, h}, {-1, 0}, {-h, -h}, {0, -1}, {h, -h}};
  Complex f[n * n], c[n * n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) f[n * i + j] = roots[i * j % n];

  const auto certificate = gemm(Layout::row_major, Op::none, Op::conjugate_transpose, n, n, n, Complex(1), f, n, f, n,
                                Complex(0), c, n, Target::correctly_rounded());
  double off = 0, bound = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const auto entry = c[n * i + j];
      off = std::max(off, std::abs(entry - Complex(i == j ? n : 0)));
      bound = std::max({bound, certificate.bound.upper(i, j, Part::real, entry.real()),
                        certificate.bound.upper(i, j, Part::imaginary, entry.imag())});
    }
  std::cout << (certificate.holds ? "proven" : "not proven") << ": F F^H is off 8 I by " << off
            << ", of which the product at most " << bound << " a part\n";
}
