// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "side_stream.hpp"

namespace ozbound::gpu {

/// Work that a stream does only if a flag in device memory, which earlier work of the stream sets, is not 0: a conditional node
/// of a CUDA graph. On a stream that is captured, the node joins the caller's graph; otherwise, a graph of its own is launched.
/// Graphs are kept for calls with the same key, since to destroy one waits for all work of the device.
class ConditionalWork {
 public:
  /// Everything in which the work of one call may differ from that of another.
  using Key = std::vector<std::uint64_t>;

  ConditionalWork();
  /// Waits for the work that was launched in graphs of its own.
  ~ConditionalWork();
  ConditionalWork(const ConditionalWork&) = delete;
  ConditionalWork& operator=(const ConditionalWork&) = delete;

  /// False if this build's CUDA runtime, or the driver, is older than 13.0.
  static bool available();

  /// @param launch launches the work, without allocating memory, on the stream that it is given @pre available(). Several
  /// threads may call this at once.
  void operator()(const std::int32_t* flag, const Key& key, const std::function<void(cudaStream_t)>& launch,
                  cudaStream_t stream) const;

 private:
  class OwnGraph;
  static constexpr std::size_t most_kept = 256;

  SideStream body_, whole_;                                                  ///< captured, never run
  mutable std::list<std::pair<Key, std::unique_ptr<const OwnGraph>>> kept_;  ///< the one launched last comes first
  mutable std::mutex mutex_;                                                 ///< guards all of them
};

}  // namespace ozbound::gpu
