// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>
#include <cstdint>

namespace ozbound::checking {

/// While it lives, this thread rounds to nearest, keeps subnormals and traps nothing; then the caller's settings return. What
/// judges has its own: it shares no code with what it judges. Both ends are calls, past which a compiler moves no arithmetic.
class PlainEnvironment {
 public:
  [[gnu::noinline]] PlainEnvironment() : changed_(!in_force()) {
    if (!changed_) return;
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  [[gnu::noinline]] ~PlainEnvironment() {
    if (changed_) std::fesetenv(&saved_);
  }
  PlainEnvironment(const PlainEnvironment&) = delete;
  PlainEnvironment& operator=(const PlainEnvironment&) = delete;

 private:
  /// Whether there is nothing to change. To change x87's takes a microsecond, and some of these live for one entry.
  static bool in_force() {
#ifdef __x86_64__
    std::uint32_t sse = 0;
    std::uint16_t x87 = 0;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sse), "=m"(x87));
    return (sse & 0xffc0) == 0x1f80 && x87 == 0x037f;
#else
    return false;
#endif
  }

  bool changed_;
  std::fenv_t saved_;
};

}  // namespace ozbound::checking
