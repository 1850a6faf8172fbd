// SPDX-License-Identifier: BSD-3-Clause
#include "device_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
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

/// Memory of a device that threads gave back. A thread takes only its own memory again, because its own stream orders the uses.
struct Idle {
  std::map<std::thread::id, std::multimap<std::size_t, void*>> of_threads;
  std::size_t bytes = 0;
  std::size_t in_use = 0, most_in_use = 0;

  /// Null if the thread has no part of this size.
  void* take(std::size_t size) {
    auto& own = of_threads[std::this_thread::get_id()];
    const auto found = own.find(size);
    if (found == own.end()) return nullptr;
    void* const data = found->second;
    own.erase(found);
    bytes -= size;
    return data;
  }

  void release(std::thread::id thread) {
    for (const auto& [size, data] : of_threads[thread]) {
      cudaFreeAsync(data, cudaStreamPerThread);
      bytes -= size;
    }
    of_threads.erase(thread);
  }

  /// @pre the device has no work.
  void release_all() {
    while (!of_threads.empty()) release(of_threads.begin()->first);
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
  void* data = stream == cudaStreamPerThread ? idle.take(bytes) : nullptr;
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
    if (stream != cudaStreamPerThread) {
      cudaFreeAsync(data, stream);
    } else {
      const auto self = std::this_thread::get_id();
      if (idle.bytes + bytes > 2 * idle.most_in_use) idle.release(self);  // keeps less when products have many shapes
      idle.of_threads[self].emplace(bytes, data);
      idle.bytes += bytes;
    }
  }
  if (before != device) cudaSetDevice(before);
}

void release_memory(int device) {
  release_pinned_memory();
  const CudaDevice current(device);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::lock_guard lock(mutex);
  idle_of(device).release_all();
  check(cudaStreamSynchronize(cudaStreamPerThread), "cudaStreamSynchronize");
  check(cudaMemPoolTrimTo(pool_of(device), 0), "cudaMemPoolTrimTo");
}

}  // namespace ozbound::gpu
