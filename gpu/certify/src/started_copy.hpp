// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "side_stream.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

/// A host copy of a block of device memory that a stream makes. Work that the stream is given later need not be waited for.
class StartedCopy {
 public:
  StartedCopy(const void* begin, const void* end, cudaStream_t stream)
      : block_(HostBlock::started(begin, end, stream)), work_(stream) {}

  /// Waits for the copy. Only one thread may call it at a time.
  [[nodiscard]] const HostBlock& wait() const {
    if (work_) work_->wait(), work_.reset();
    return block_;
  }

 private:
  HostBlock block_;
  mutable std::optional<PendingWork> work_;  ///< destroyed first, which waits for the copy; nothing once it was waited for
};

}  // namespace ozbound::gpu
