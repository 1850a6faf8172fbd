// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "kernels/amx.hpp"
#include "ozbound/core/kernel.hpp"

// For sources that include headers of core/src.

namespace ozbound::test {

/// The AMX instructions in plain C++, so that the kernel's use of them is tested on every processor. See Intel's Software
/// Developer's Manual, volume 2, TDPBSSD and related instructions.
struct EmulatedTiles {
  struct State {
    bool configured = false;
    std::array<std::array<std::int8_t, 1024>, 8> tiles{};
  };
  static State& state() {
    static thread_local State of_thread;
    return of_thread;
  }
  static std::int8_t* tile(int number) {
    if (!state().configured) throw std::logic_error("a tile is used where none is configured");
    return state().tiles[static_cast<std::size_t>(number)].data();
  }

  static void configure() {
    if (state().configured) throw std::logic_error("tiles are configured twice");
    state() = {};
    state().configured = true;
  }
  static void release() { state().configured = false; }

  template <int number>
  static void zero() {
    std::memset(tile(number), 0, 1024);
  }
  template <int number>
  static void load(const void* bytes, std::int64_t row_bytes) {
    for (std::int64_t row = 0; row < 16; ++row)
      std::memcpy(tile(number) + 64 * row, static_cast<const std::int8_t*>(bytes) + row * row_bytes, 64);
  }
  template <int number>
  static void load_once(const void* bytes, std::int64_t row_bytes) {
    load<number>(bytes, row_bytes);
  }
  template <int number>
  static void store(void* bytes, std::int64_t row_bytes) {
    for (std::int64_t row = 0; row < 16; ++row)
      std::memcpy(static_cast<std::int8_t*>(bytes) + row * row_bytes, tile(number) + 64 * row, 64);
  }
  template <int sums, int a, int b>
  static void add_products() {
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n) {
        std::uint32_t sum = 0;
        std::memcpy(&sum, tile(sums) + 64 * m + 4 * n, sizeof sum);
        for (int k = 0; k < 16; ++k)
          for (int byte = 0; byte < 4; ++byte)
            sum += static_cast<std::uint32_t>(tile(a)[64 * m + 4 * k + byte] * tile(b)[64 * k + 4 * n + byte]);
        std::memcpy(tile(sums) + 64 * m + 4 * n, &sum, sizeof sum);
      }
  }
};

inline const Kernel& emulated_amx() {
  static const Kernel kernel{"emulated_amx", &amx_functions_of<EmulatedTiles>};
  return kernel;
}

}  // namespace ozbound::test
