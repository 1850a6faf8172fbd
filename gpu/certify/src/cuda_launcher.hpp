// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "memory.hpp"
#include "ozbound/bounds/stream_launcher.hpp"
#include "ozbound/gpu/certified_gemm.hpp"
#include "side_stream.hpp"

namespace ozbound::gpu {

/// Workspaces of launched products. A few of those that come back are kept, since a device is slow to provide memory.
class Workspaces : public std::enable_shared_from_this<Workspaces> {
 public:
  /// Memory for work of one stream. It comes back when this object is destroyed; the work that was marked then still uses it.
  class Lent {
   public:
    ~Lent();
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    [[nodiscard]] void* data() const { return memory_.arena().take<std::uint8_t>(static_cast<Index>(bytes_)); }
    /// Marks the work that uses the memory. Without a mark, the destructor waits for the device.
    void mark(cudaStream_t stream) { until_ = std::make_unique<const StreamMark>(stream); }

   private:
    friend class Workspaces;
    Lent(std::shared_ptr<Workspaces> all, std::size_t bytes, Memory memory)
        : all_(std::move(all)), bytes_(bytes), memory_(std::move(memory)) {}

    std::shared_ptr<Workspaces> all_;
    std::size_t bytes_;
    Memory memory_;
    std::unique_ptr<const StreamMark> until_;
  };

  /// @throws OutOfMemory
  std::unique_ptr<Lent> lend(std::size_t bytes, cudaStream_t stream);

 private:
  static constexpr std::size_t most_idle = 8, most_idle_bytes = std::size_t{1} << 30;

  struct Idle {
    std::size_t bytes;
    Memory memory;
    std::unique_ptr<const StreamMark> until;  ///< work that uses it
  };

  void take_back(Idle idle) noexcept;
  /// Frees memory after the work that uses it.
  void free(Idle idle) noexcept;

  SideStream own_;  ///< in the order of which memory is taken and freed
  std::mutex mutex_;
  std::list<Idle> idle_;
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
    std::shared_ptr<const CertifiedGemm> gemm;
  };
  static constexpr std::size_t most_kinds = 64;

  /// @throws as CertifiedGemm.
  [[nodiscard]] std::shared_ptr<const CertifiedGemm> gemm_for(const RealProduct& product, const Target& target) const;

  const CudaBackend& backend_;
  int device_;
  std::shared_ptr<Workspaces> workspaces_;
  mutable std::mutex mutex_;
  mutable std::list<Kind> kinds_;  ///< the one used last comes first
};

}  // namespace ozbound::gpu
