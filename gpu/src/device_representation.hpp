// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/real_representation.hpp"

namespace ozbound::gpu {

/// True if any matrix that a complex call reads or writes is in device memory.
bool any_on_device(const ComplexProduct& product);

/// The representation of a complex call by real matrices, each in the memory, device or host, of its original.
std::unique_ptr<RealRepresentation> represent_on_device(const ComplexProduct& product, int threads, cudaStream_t stream);

}  // namespace ozbound::gpu
