// SPDX-License-Identifier: BSD-3-Clause
#include "functions.hpp"

#if defined(__AMX_INT8__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "amx.hpp"

namespace ozbound {
namespace {

/// AMX instructions as assembly text: the compilers' intrinsics do not take tile numbers from template arguments.
struct AmxTiles {
  static void configure() {
    struct alignas(64) Configuration {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    };
    static constexpr Configuration all;
    static_assert(sizeof all == 64);
    asm volatile("ldtilecfg %0" : : "m"(all));
  }
  static void release() { asm volatile("tilerelease" : : : "memory"); }

  template <int tile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(tile));
  }
  template <int tile>
  static void load(const void* bytes, std::int64_t row_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(bytes), "r"(row_bytes), "i"(tile) : "memory");
  }
  template <int tile>
  static void load_once(const void* bytes, std::int64_t row_bytes) {
    asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" : : "r"(bytes), "r"(row_bytes), "i"(tile) : "memory");
  }
  template <int tile>
  static void store(void* bytes, std::int64_t row_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(bytes), "r"(row_bytes), "i"(tile) : "memory");
  }
  template <int sums, int a, int b>
  static void add_products() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(a), "i"(b));
  }
};

}  // namespace

extern const KernelFunctions* const amx_functions = &amx_functions_of<AmxTiles>;

}  // namespace ozbound

#else
extern const ozbound::KernelFunctions* const ozbound::amx_functions = nullptr;
#endif
