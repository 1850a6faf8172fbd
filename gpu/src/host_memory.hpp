#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ozbound::gpu {

/// Memory of the host that the device copies to. What is freed stays, to be taken again; so much of it at once is pinned,
/// which copies are fastest to, and which the operating system cannot use otherwise.
inline constexpr std::size_t most_pinned = std::size_t{256} << 20;
std::shared_ptr<std::uint8_t> take_host_memory(std::size_t bytes);

/// Frees what is not in use.
void release_host_memory();

}  // namespace ozbound::gpu
