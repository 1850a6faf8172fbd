// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/real_representation.hpp"

namespace ozbound::gpu {

/// Whether any matrix that a complex call reads or writes is in device memory.
bool any_on_device(const ComplexProduct& call);

/// The representation of matrices in the device's memory or the host's, each where it lies.
std::unique_ptr<RealRepresentation> represent_on_device(const ComplexProduct& call, int threads, cudaStream_t stream);

}  // namespace ozbound::gpu
