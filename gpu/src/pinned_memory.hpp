// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ozbound::gpu {

/// Memory of the host that a device copies to without the host's help. Memory that is given back is kept, because the system is
/// slow to provide it. If there is none, and for large parts, it is ordinary memory.
std::shared_ptr<std::uint8_t> take_pinned_memory(std::size_t bytes);

/// Frees the memory that is kept.
void release_pinned_memory();

}  // namespace ozbound::gpu
