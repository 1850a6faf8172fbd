// SPDX-License-Identifier: BSD-3-Clause
#include "native_launcher.hpp"
#include "ozbound/gpu/cublas_gemm.hpp"

#ifndef OZBOUND_HAVE_CUBLAS
namespace ozbound::gpu {

bool have_cublas() { return false; }

std::string cublas_name() { return ""; }

std::unique_ptr<NativeGemm> make_cublas_gemm(int) { return nullptr; }

std::unique_ptr<NativeLauncher> make_cublas_launcher(int) { return nullptr; }

}  // namespace ozbound::gpu
#endif
