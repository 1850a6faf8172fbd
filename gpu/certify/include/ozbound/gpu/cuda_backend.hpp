// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "ozbound/bounds/backend.hpp"
#include "ozbound/gpu/device_examiner.hpp"

namespace ozbound::gpu {

/// A CUDA device as a backend: its engine and examiner, cublasDgemm where this build has it, and what products of matrices in
/// the host's memory cost there, in seconds where a calibration is known, else in products.
class CudaBackend {
 public:
  /// @throws as CudaEngine.
  explicit CudaBackend(CudaEngine::Options options = {});
  CudaBackend(const CudaBackend&) = delete;  // its parts refer to each other
  CudaBackend& operator=(const CudaBackend&) = delete;

  [[nodiscard]] const CudaEngine& engine() const { return engine_; }
  [[nodiscard]] const DeviceExaminer& examiner() const { return examiner_; }
  /// Which this must outlive.
  [[nodiscard]] Backend backend() const { return {engine_, examiner_, native_.get(), costs_.get(), id_}; }

 private:
  CudaEngine engine_;
  DeviceExaminer examiner_;
  std::unique_ptr<NativeGemm> native_;
  std::unique_ptr<CostModel> costs_;  ///< null: the engine's
  BackendId id_;
};

}  // namespace ozbound::gpu
