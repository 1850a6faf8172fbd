#include "host_memory.hpp"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>

namespace ozbound::gpu {
namespace {

/// Pinned memory, all of it.
struct Pinned {
  std::mutex mutex;
  std::multimap<std::size_t, std::uint8_t*> idle;
  std::size_t bytes = 0;

  std::uint8_t* take(std::size_t size) {
    const std::lock_guard lock(mutex);
    if (const auto found = idle.find(size); found != idle.end()) {
      auto* const data = found->second;
      idle.erase(found);
      return data;
    }
    if (bytes + size > most_pinned) release();
    if (bytes + size > most_pinned) return nullptr;
    void* data = nullptr;
    if (cudaHostAlloc(&data, size, cudaHostAllocPortable) != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
    bytes += size;
    return static_cast<std::uint8_t*>(data);
  }

  void give_back(std::uint8_t* data, std::size_t size) {
    const std::lock_guard lock(mutex);
    idle.emplace(size, data);
  }

  /// @pre the mutex is locked.
  void release() {
    for (const auto& [size, data] : idle) {
      cudaFreeHost(data);
      bytes -= size;
    }
    idle.clear();
  }
};

Pinned& pinned() {
  static auto* const all = new Pinned;  // lives as long as the driver, which frees it
  return *all;
}

}  // namespace

std::shared_ptr<std::uint8_t> take_host_memory(std::size_t bytes) {
  if (auto* const data = bytes == 0 ? nullptr : pinned().take(bytes))
    return {data, [bytes](std::uint8_t* given) { pinned().give_back(given, bytes); }};
  return {new std::uint8_t[bytes], std::default_delete<std::uint8_t[]>()};
}

void release_host_memory() {
  const std::lock_guard lock(pinned().mutex);
  pinned().release();
}

}  // namespace ozbound::gpu
