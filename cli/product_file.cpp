// SPDX-License-Identifier: BSD-3-Clause
#include "product_file.hpp"

#include <complex>
#include <variant>

namespace ozbound::cli {

files::MatrixFile new_product(const files::OperandFiles& files) {
  const Index m = files.m(), n = files.n();
  if (files.is_complex())
    return files.is_float() ? files::MatrixFile{Matrix<std::complex<float>>(m, n)}
                            : files::MatrixFile{Matrix<std::complex<double>>(m, n)};
  return files.is_float() ? files::MatrixFile{Matrix<float>(m, n)} : files::MatrixFile{Matrix<double>(m, n)};
}

namespace {

Product real_product(const files::OperandFiles& files, const OutputView& c) {
  return {files.a(), files.b(), c, files.alpha(), files.beta(), files.c0()};
}

Product complex_product(const files::OperandFiles& files, const ComplexOutputView& c) {
  return {files.complex_a(), files.complex_b(), c, files.complex_alpha(), files.complex_beta(), files.complex_c0()};
}

}  // namespace

Product product_of(const files::OperandFiles& files, files::MatrixFile& c) {
  auto& values = c.values;
  if (auto* matrix = std::get_if<Matrix<float>>(&values)) return real_product(files, *matrix);
  if (auto* matrix = std::get_if<Matrix<double>>(&values)) return real_product(files, *matrix);
  if (auto* matrix = std::get_if<Matrix<std::complex<float>>>(&values)) return complex_product(files, *matrix);
  return complex_product(files, std::get<Matrix<std::complex<double>>>(values));
}

Product product_of(const files::OperandFiles& files) {
  const auto& format = files.is_float() ? binary32 : binary64;
  if (files.is_complex()) return complex_product(files, unwritten_complex(files.m(), files.n(), format));
  return real_product(files, unwritten(files.m(), files.n(), format));
}

}  // namespace ozbound::cli
