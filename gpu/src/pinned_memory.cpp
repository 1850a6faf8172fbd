// SPDX-License-Identifier: BSD-3-Clause
#include "pinned_memory.hpp"

#include <cuda_runtime_api.h>

#include <bit>
#include <map>
#include <mutex>
#include <vector>

namespace ozbound::gpu {
namespace {

constexpr std::size_t least = std::size_t{1} << 16, most = std::size_t{1} << 24;  // bytes of a part
constexpr std::size_t most_idle = std::size_t{1} << 26;

/// Parts that were given back, by size.
class Idle {
 public:
  /// Null if there is no part of this size.
  std::uint8_t* take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    auto& parts = parts_[size];
    if (parts.empty()) return nullptr;
    auto* const part = parts.back();
    parts.pop_back();
    bytes_ -= size;
    return part;
  }

  void give_back(std::uint8_t* part, std::size_t size) {
    if (!keeps(part, size)) cudaFreeHost(part);
  }

  void release_all() {
    std::map<std::size_t, std::vector<std::uint8_t*>> parts;
    {
      const std::lock_guard lock(mutex_);
      parts.swap(parts_);
      bytes_ = 0;
    }
    for (const auto& [size, of_size] : parts)
      for (auto* const part : of_size) cudaFreeHost(part);
  }

 private:
  bool keeps(std::uint8_t* part, std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (bytes_ + size > most_idle) return false;
    parts_[size].push_back(part);
    bytes_ += size;
    return true;
  }

  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::uint8_t*>> parts_;
  std::size_t bytes_ = 0;
};

Idle& idle() {
  static auto* const parts = new Idle;  // lives as long as the driver, which frees them
  return *parts;
}

std::uint8_t* allocate(std::size_t size) {
  void* part = nullptr;
  if (cudaHostAlloc(&part, size, cudaHostAllocPortable) == cudaSuccess) return static_cast<std::uint8_t*>(part);
  cudaGetLastError();
  return nullptr;
}

}  // namespace

std::shared_ptr<std::uint8_t> take_pinned_memory(std::size_t bytes) {
  const std::size_t size = std::bit_ceil(bytes < least ? least : bytes);
  auto* part = size > most ? nullptr : idle().take(size);
  if (part == nullptr && size <= most) part = allocate(size);
  if (part == nullptr) return {new std::uint8_t[bytes], std::default_delete<std::uint8_t[]>()};
  return {part, [size](std::uint8_t* of) { idle().give_back(of, size); }};
}

void release_pinned_memory() { idle().release_all(); }

}  // namespace ozbound::gpu
