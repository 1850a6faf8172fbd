// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound::gpu {

/// Whether this build has cuBLAS.
bool have_cublas();

/// `cublas 13.1.0`, the name of make_cublas_gemm's; empty where this build has no cuBLAS.
std::string cublas_name();

/// cublasDgemm as a native DGEMM, `cublas 13.1.0`; null where this build has no cuBLAS. Operands may be in the host's memory,
/// from where they are copied, or in the device's, where they are used as they lie. Calls wait for their result; those of
/// several threads follow one another.
///
/// It sums conventionally, as certificates assume: the emulation of FP64 that cuBLAS has is off. Nothing here asks for it, and
/// where the environment does (CUBLAS_EMULATE_DOUBLE_PRECISION), or the library is newer than those that do not emulate
/// unasked, the handle is pedantic, "the prescribed precision and standardized arithmetic for all phases of calculations": no
/// variable changes that, and on an H200 it costs a quarter of the speed and no bit.
/// @throws std::invalid_argument for a negative device, CudaError where there is none.
std::unique_ptr<NativeGemm> make_cublas_gemm(int device = 0);

}  // namespace ozbound::gpu
