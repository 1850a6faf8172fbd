// SPDX-License-Identifier: BSD-3-Clause
#include "arena.hpp"

#include <memory>
#include <stdexcept>

namespace ozbound::gpu {

Arena Arena::aligned(void* block, std::size_t bytes) {
  auto room = bytes + alignment;
  return {std::align(alignment, bytes, block, room), bytes};
}

std::uint8_t* Arena::take_bytes(std::size_t bytes) {
  auto* const part = block_ == nullptr ? nullptr : block_ + used_;
  used_ += (bytes + alignment - 1) / alignment * alignment;
  if (block_ != nullptr && used_ > size_) throw std::length_error("the workspace is too small");
  return part;
}

}  // namespace ozbound::gpu
