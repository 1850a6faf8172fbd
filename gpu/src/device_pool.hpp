#pragma once

#include <cuda_runtime_api.h>

namespace ozbound::gpu {

/// The pool of the current device that DeviceArray takes memory from. What is given back to it stays there, to be taken again:
/// from the device itself memory comes slowly.
cudaMemPool_t device_pool();

}  // namespace ozbound::gpu
