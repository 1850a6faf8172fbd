// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace ozbound::test {

/// While an object lives, this thread flushes subnormal results and operands to zero if the processor can.
class FlushToZero {
 public:
#if defined(__SSE2__)
  static constexpr bool available = true;
  FlushToZero() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(saved_); }
#else
  static constexpr bool available = false;
  FlushToZero() = default;
#endif
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  [[maybe_unused]] unsigned saved_ = 0;
};

/// True if subnormals are now flushed to zero; checks that FlushToZero has an effect at all.
inline bool flushes() {
  const volatile double least = 0x1p-1074;
  return !(least > 0);
}

}  // namespace ozbound::test
