// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>
#include <cstdint>

namespace ozbound::checking {

/// During its lifetime, this thread rounds to nearest, keeps subnormals and traps nothing. The destructor restores the caller's
/// settings. The judging code has its own class because it shares no code with the code it judges. Constructor and destructor
/// are calls, across which a compiler moves no arithmetic.
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
  /// True if nothing must be changed. Changing x87's settings takes a microsecond, and some of these objects live for one entry
  /// only.
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
