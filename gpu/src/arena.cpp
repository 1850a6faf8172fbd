// SPDX-License-Identifier: BSD-3-Clause
#include "arena.hpp"

#include <stdexcept>

namespace ozbound::gpu {

Arena Arena::aligned(void* block, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return {reinterpret_cast<void*>((address + alignment - 1) / alignment * alignment), bytes};
}

std::uint8_t* Arena::take_bytes(std::size_t bytes) {
  auto* const part = block_ == nullptr ? nullptr : block_ + used_;
  used_ += (bytes + alignment - 1) / alignment * alignment;
  if (block_ != nullptr && used_ > size_) throw std::length_error("the workspace is too small");
  return part;
}

}  // namespace ozbound::gpu
