// SPDX-License-Identifier: BSD-3-Clause
#include "device_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "cuda_check.hpp"
#include "cuda_device.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "pinned_memory.hpp"

namespace ozbound::gpu {
namespace {

std::mutex mutex;

std::map<int, cudaMemPool_t>& pools() {
  static auto* const all = new std::map<int, cudaMemPool_t>;  // lives as long as the driver, which frees the pools
  return *all;
}

cudaMemPool_t make_pool(int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, device};
  cudaMemPool_t pool{};
  check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  auto all = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
  return pool;
}

cudaMemPool_t pool_of(int device) {
  auto& pool = pools()[device];
  if (pool == nullptr) pool = make_pool(device);
  return pool;
}

/// A stream; each thread has its own cudaStreamPerThread.
struct StreamOfThread {
  cudaStream_t stream;
  std::thread::id thread;

  explicit StreamOfThread(cudaStream_t of) : stream(of) {
    if (of == cudaStreamPerThread) thread = std::this_thread::get_id();
  }
  bool operator<(const StreamOfThread& other) const {
    return stream != other.stream ? std::less<>()(stream, other.stream) : thread < other.thread;
  }
};

/// Memory of a device that was given back. It is taken again only for the same stream, which orders the uses. The pool would
/// take long to find a large part again among others.
struct Idle {
  std::map<StreamOfThread, std::multimap<std::size_t, void*>> of_streams;
  std::set<cudaStream_t> keeping = {cudaStreamPerThread};  ///< the streams for which memory is kept
  std::size_t bytes = 0;
  std::size_t in_use = 0, most_in_use = 0;

  /// Null if the stream has no part of this size.
  void* take(std::size_t size, cudaStream_t stream) {
    if (!keeping.contains(stream)) return nullptr;
    auto& own = of_streams[StreamOfThread(stream)];
    const auto found = own.find(size);
    if (found == own.end()) return nullptr;
    void* const data = found->second;
    own.erase(found);
    bytes -= size;
    return data;
  }

  /// @param in_order_of a stream after whose work the memory may be freed
  void release(const StreamOfThread& owner, cudaStream_t in_order_of) {
    for (const auto& [size, data] : of_streams[owner]) {
      cudaFreeAsync(data, in_order_of);
      bytes -= size;
    }
    of_streams.erase(owner);
  }

  /// @pre the device has no work.
  void release_all() {
    while (!of_streams.empty()) {
      const auto owner = of_streams.begin()->first;
      release(owner, cudaStreamPerThread);
    }
  }
};

Idle& idle_of(int device) {
  static auto* const all = new std::map<int, Idle>;
  return (*all)[device];
}

}  // namespace

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

void* take_memory(std::size_t bytes, cudaStream_t stream) {
  const int device = current_device();
  const std::lock_guard lock(mutex);
  auto& idle = idle_of(device);
  void* data = idle.take(bytes, stream);
  if (data == nullptr) {
    auto status = cudaMallocFromPoolAsync(&data, bytes, pool_of(device), stream);
    if (status == cudaErrorMemoryAllocation && idle.bytes > 0) {
      cudaGetLastError();
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      idle.release_all();
      check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
      status = cudaMallocFromPoolAsync(&data, bytes, pool_of(device), stream);
    }
    check(status, "cudaMallocFromPoolAsync");
  }
  idle.in_use += bytes;
  idle.most_in_use = std::max(idle.most_in_use, idle.in_use);
  return data;
}

void give_memory_back(void* data, std::size_t bytes, int device, cudaStream_t stream) noexcept {
  int before = device;
  cudaGetDevice(&before);
  if (before != device) cudaSetDevice(device);  // the device of this thread's stream
  {
    const std::lock_guard lock(mutex);
    auto& idle = idle_of(device);
    idle.in_use -= std::min(idle.in_use, bytes);
    if (!idle.keeping.contains(stream)) {
      cudaFreeAsync(data, stream);
    } else {
      const StreamOfThread self(stream);
      if (idle.bytes + bytes > 2 * idle.most_in_use) idle.release(self, stream);  // keeps less when products have many shapes
      idle.of_streams[self].emplace(bytes, data);
      idle.bytes += bytes;
    }
  }
  if (before != device) cudaSetDevice(before);
}

void keep_memory_of(cudaStream_t stream, int device) {
  const std::lock_guard lock(mutex);
  idle_of(device).keeping.insert(stream);
}

void free_memory_of(cudaStream_t stream, int device) noexcept {
  const std::lock_guard lock(mutex);
  idle_of(device).release(StreamOfThread(stream), stream);
  idle_of(device).keeping.erase(stream);
}

void release_memory(int device) {
  release_pinned_memory();
  const CudaDevice current(device);
  const std::lock_guard lock(mutex);  // until all is freed, no other thread gives memory back that may still be in use
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  idle_of(device).release_all();
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  check(cudaMemPoolTrimTo(pool_of(device), 0), "cudaMemPoolTrimTo");
}

}  // namespace ozbound::gpu
