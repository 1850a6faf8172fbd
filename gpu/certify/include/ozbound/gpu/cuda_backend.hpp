// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "ozbound/bounds/backend.hpp"
#include "ozbound/gpu/device_examiner.hpp"

namespace ozbound::gpu {

/// A CUDA device as a backend: its engine and examiner, cublasDgemm if this build has it, and the costs of products of matrices
/// in the host's memory. The costs are in seconds if a calibration is known, otherwise in numbers of products.
class CudaBackend {
 public:
  /// @throws as CudaEngine.
  explicit CudaBackend(CudaEngine::Options options = {});
  CudaBackend(const CudaBackend&) = delete;  // its parts refer to each other
  CudaBackend& operator=(const CudaBackend&) = delete;

  [[nodiscard]] const CudaEngine& engine() const { return engine_; }
  [[nodiscard]] const DeviceExaminer& examiner() const { return examiner_; }
  /// The backend refers to this object, which must outlive it.
  [[nodiscard]] Backend backend() const { return {engine_, examiner_, native_.get(), costs_.get(), id_, launcher_.get()}; }
  /// Launches the products that a CertifiedGemm takes.
  [[nodiscard]] const StreamLauncher& launcher() const { return *launcher_; }

 private:
  CudaEngine engine_;
  DeviceExaminer examiner_;
  std::unique_ptr<NativeGemm> native_;
  std::unique_ptr<CostModel> costs_;  ///< null: the engine's own costs
  BackendId id_;
  std::unique_ptr<const StreamLauncher> launcher_;
};

}  // namespace ozbound::gpu
