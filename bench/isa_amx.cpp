// SPDX-License-Identifier: BSD-3-Clause
// AMX by the text of its instructions, so that any x86-64 compiler can compile it.

#include "isa.hpp"

#include <cstdint>

namespace ozbound::bench {
namespace {

/// Random bytes: power, and with it the clock, depends on data.
struct alignas(64) Operands {
  std::uint8_t bytes[4][1024];
  Operands() {
    std::uint64_t seed = 1;
    for (auto& tile : bytes)
      for (auto& byte : tile)
        byte = static_cast<std::uint8_t>((seed = seed * 6364136223846793005U + 1442695040888963407U) >> 56);
  }
};

struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

}  // namespace

void peak_amx_tdpbssd(long rounds) {
  static const Operands operands;
  static const Configuration configuration;
  asm volatile(
      "ldtilecfg %0\n\t"
      "tileloadd (%1,%2,1), %%tmm4\n\t"
      "tileloadd 1024(%1,%2,1), %%tmm5\n\t"
      "tileloadd 2048(%1,%2,1), %%tmm6\n\t"
      "tileloadd 3072(%1,%2,1), %%tmm7"
      :
      : "m"(configuration), "r"(operands.bytes), "r"(64L)
      : "memory");
  for (long round = 0; round < rounds; ++round)
    for (int third = 0; third < peak_chains / 4; ++third)
      asm volatile(
          "tdpbssd %%tmm6, %%tmm4, %%tmm0\n\t"
          "tdpbssd %%tmm7, %%tmm4, %%tmm1\n\t"
          "tdpbssd %%tmm6, %%tmm5, %%tmm2\n\t"
          "tdpbssd %%tmm7, %%tmm5, %%tmm3" ::);
  asm volatile("tilerelease" ::: "memory");
}

}  // namespace ozbound::bench
