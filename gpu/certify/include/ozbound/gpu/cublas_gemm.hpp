// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound::gpu {

/// True if this build has cuBLAS.
bool have_cublas();

/// The name of the DGEMM that make_cublas_gemm returns, `cublas 13.1.0`; empty if this build has no cuBLAS.
std::string cublas_name();

/// cublasDgemm as a native DGEMM, `cublas 13.1.0`; null if this build has no cuBLAS. Operands in the host's memory are copied.
/// Operands in the device's memory are used in place. Each call waits for its result. Calls of several threads run one after
/// another.
/// It sums conventionally, as certificates assume: the FP64 emulation of cuBLAS is off. Ozbound never asks for the emulation.
/// If the environment asks for it (CUBLAS_EMULATE_DOUBLE_PRECISION), or if the library is newer than the releases known not to
/// emulate unasked, the handle is pedantic, "the prescribed precision and standardized arithmetic for all phases of
/// calculations". No environment variable changes a pedantic handle. On an H200 it costs a quarter of the speed and changes no
/// bit.
/// @throws std::invalid_argument for a negative device, CudaError if there is no such device.
std::unique_ptr<NativeGemm> make_cublas_gemm(int device = 0);

}  // namespace ozbound::gpu
