// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/gpu/cuda_backend.hpp"

#include "cuda_launcher.hpp"
#include "ozbound/gpu/cublas_gemm.hpp"
#include "ozbound/gpu/device_costs.hpp"

namespace ozbound::gpu {

CudaBackend::CudaBackend(CudaEngine::Options options)
    : engine_(options),
      examiner_(engine_),
      native_(make_cublas_gemm(options.device)),
      id_{BackendId::Kind::cuda, devices().at(static_cast<std::size_t>(options.device)).name} {
  if (const auto costs = device_costs(options.device, engine_.threads())) costs_ = std::make_unique<CalibratedCosts>(*costs);
  launcher_ = std::make_unique<const CudaLauncher>(*this, options.device);
}

}  // namespace ozbound::gpu
