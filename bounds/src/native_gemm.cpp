// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/native_gemm.hpp"

#include <stdexcept>

namespace ozbound {

void NativeGemm::sgemm(const RealProduct&) const { throw std::logic_error("this native library has no SGEMM"); }

void NativeGemm::complex_gemm(const ComplexProduct&) const {
  throw std::logic_error("this native library has no complex products");
}

}  // namespace ozbound
