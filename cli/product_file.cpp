#include "product_file.hpp"

#include <complex>
#include <variant>

namespace ozbound::cli {

MatrixFile new_product(const OperandFiles& files) {
  const Index m = files.m(), n = files.n();
  if (files.is_complex())
    return files.is_float() ? MatrixFile{Matrix<std::complex<float>>(m, n)} : MatrixFile{Matrix<std::complex<double>>(m, n)};
  return files.is_float() ? MatrixFile{Matrix<float>(m, n)} : MatrixFile{Matrix<double>(m, n)};
}

GemmCall real_call(const OperandFiles& files, MatrixFile& c) {
  const auto output =
      c.is_float() ? OutputView(std::get<Matrix<float>>(c.values)) : OutputView(std::get<Matrix<double>>(c.values));
  return {files.a(), files.b(), output, files.alpha(), files.beta(), files.c0()};
}

ComplexGemmCall complex_call(const OperandFiles& files, MatrixFile& c) {
  const auto output = c.is_float() ? ComplexOutputView(std::get<Matrix<std::complex<float>>>(c.values))
                                   : ComplexOutputView(std::get<Matrix<std::complex<double>>>(c.values));
  return complex_call(files, output);
}

ComplexGemmCall complex_call(const OperandFiles& files, const ComplexOutputView& c) {
  return {files.complex_a(), files.complex_b(), c, files.complex_alpha(), files.complex_beta(), files.complex_c0()};
}

}  // namespace ozbound::cli
