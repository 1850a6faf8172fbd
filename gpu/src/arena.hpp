// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace ozbound::gpu {

/// Hands out parts of a block of memory one after the other. Without a block it only counts. The same code thus takes the parts
/// and computes the bytes they need.
class Arena {
 public:
  static constexpr std::size_t alignment = 1024;  ///< of every part if the block is so aligned; enough for TMA and cuBLASLt

  Arena() = default;
  Arena(void* block, std::size_t bytes) : block_(static_cast<std::uint8_t*>(block)), size_(bytes) {}

  /// An arena in a block that need not be aligned. The block must be `alignment` bytes longer than needed.
  static Arena aligned(void* block, std::size_t bytes);

  /// Returns null if the arena only counts. @throws std::length_error beyond the block.
  template <class T>
  T* take(std::int64_t count) {
    return reinterpret_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }

  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::uint8_t* take_bytes(std::size_t bytes);

  std::uint8_t* block_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

}  // namespace ozbound::gpu
