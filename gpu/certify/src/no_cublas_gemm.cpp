// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/gpu/cublas_gemm.hpp"

#ifndef OZBOUND_HAVE_CUBLAS
namespace ozbound::gpu {

bool have_cublas() { return false; }

std::string cublas_name() { return ""; }

std::unique_ptr<NativeGemm> make_cublas_gemm(int) { return nullptr; }

}  // namespace ozbound::gpu
#endif
