// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/float_environment.hpp"

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace ozbound {

#ifdef __x86_64__
namespace {

constexpr std::uint32_t default_sse = 0x1f80;  ///< MXCSR: to nearest, gradual underflow, no traps, no flags
constexpr std::uint32_t sse_control = 0xffc0;  ///< all bits except the flags
constexpr std::uint16_t default_x87 = 0x037f;

/// fldenv takes a microsecond, but reading a register takes nanoseconds, and the x87 control word is almost always the default.
bool default_x87_control() {
  std::uint16_t control = 0;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  return control == default_x87;
}

}  // namespace

FloatEnvironment::FloatEnvironment() : saved_sse_(_mm_getcsr()), only_sse_(default_x87_control()) {
  if (!only_sse_) {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  } else if ((saved_sse_ & sse_control) != default_sse) {
    _mm_setcsr(default_sse);
  }
}

FloatEnvironment::~FloatEnvironment() {
  if (!only_sse_)
    std::fesetenv(&saved_);
  else if (_mm_getcsr() != saved_sse_)
    _mm_setcsr(saved_sse_);
}
#else
FloatEnvironment::FloatEnvironment() {
  std::fegetenv(&saved_);
  std::fesetenv(FE_DFL_ENV);
}

FloatEnvironment::~FloatEnvironment() { std::fesetenv(&saved_); }
#endif

}  // namespace ozbound
