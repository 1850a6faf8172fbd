// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace ozbound::gpu {

/// Transposes the bytes of four words: out[b] holds byte b of each word.
__device__ inline void transpose_bytes(const std::uint32_t (&in)[4], std::uint32_t* out) {
  const auto low01 = __byte_perm(in[0], in[1], 0x5140), low23 = __byte_perm(in[2], in[3], 0x5140);
  const auto high01 = __byte_perm(in[0], in[1], 0x7362), high23 = __byte_perm(in[2], in[3], 0x7362);
  out[0] = __byte_perm(low01, low23, 0x5410);
  out[1] = __byte_perm(low01, low23, 0x7632);
  out[2] = __byte_perm(high01, high23, 0x5410);
  out[3] = __byte_perm(high01, high23, 0x7632);
}

}  // namespace ozbound::gpu
