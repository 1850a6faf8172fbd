// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "memory.hpp"
#include "ozbound/bounds/stream_launcher.hpp"
#include "ozbound/gpu/certified_gemm.hpp"
#include "side_stream.hpp"

namespace ozbound::gpu {

/// Workspaces of launched products. A few of those that come back are kept, since a device is slow to provide memory.
class Workspaces : public std::enable_shared_from_this<Workspaces> {
 public:
  /// Memory for the work of a stream. It comes back when the result is destroyed, in the order of that stream. @throws
  /// OutOfMemory
  std::shared_ptr<void> take(std::size_t bytes, cudaStream_t stream);

 private:
  static constexpr std::size_t most_idle = 4;

  struct Kept {
    std::size_t bytes;
    Memory memory;
    std::unique_ptr<const StreamMark> until;  ///< earlier work that uses it
  };

  void take_back(std::list<Kept>& kept, cudaStream_t stream, int device) noexcept;

  SideStream own_;  ///< in the order of which memory is taken and freed
  std::mutex mutex_;
  std::list<Kept> idle_;
};

/// Launches products as CertifiedGemm. Objects for the kinds of products that were launched last are kept.
class CudaLauncher final : public StreamLauncher {
 public:
  /// @param backend it must outlive this object
  CudaLauncher(const CudaBackend& backend, int device);

  [[nodiscard]] std::unique_ptr<LaunchedProduct> launch(const RealProduct& product, const Target& target,
                                                        void* stream) const override;
  void wait(void* stream) const override;

 private:
  struct Kind {
    Target target;
    Index m, n, k;
    std::shared_ptr<const CertifiedGemm> gemm;  ///< null: the device has no kernels for it
  };
  static constexpr std::size_t most_kinds = 16;

  [[nodiscard]] std::shared_ptr<const CertifiedGemm> gemm_for(const RealProduct& product, const Target& target) const;

  const CudaBackend& backend_;
  int device_;
  std::shared_ptr<Workspaces> workspaces_;
  mutable std::mutex mutex_;
  mutable std::list<Kind> kinds_;  ///< the one used last comes first
};

}  // namespace ozbound::gpu
