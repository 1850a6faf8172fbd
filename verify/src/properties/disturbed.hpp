// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cfenv>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace ozbound {

/// A floating-point environment that a caller may have set.
struct Setting {
  const char* name;
  int rounding = FE_TONEAREST;
  bool flush_results = false;   ///< to zero: a subnormal result becomes 0
  bool flush_operands = false;  ///< denormals are zero: a subnormal operand is read as 0
};

/// Each setting alone, and all together, as a library built with -ffast-math leaves them.
inline constexpr std::array settings{
    Setting{"rounding upward", FE_UPWARD},
    Setting{"rounding downward", FE_DOWNWARD},
    Setting{"rounding toward zero", FE_TOWARDZERO},
#ifdef __SSE2__
    Setting{"flushing results to zero", FE_TONEAREST, true, false},
    Setting{"reading denormals as zero", FE_TONEAREST, false, true},
    Setting{"flushing subnormals", FE_TONEAREST, true, true},
    Setting{"rounding upward and flushing subnormals", FE_UPWARD, true, true},
    Setting{"rounding downward and flushing subnormals", FE_DOWNWARD, true, true},
#endif
};

/// Puts a setting in force for this thread during its lifetime.
class Disturbed {
 public:
  explicit Disturbed(const Setting& setting) {
    std::fegetenv(&saved_);
    std::fesetround(setting.rounding);
#ifdef __SSE2__
    _mm_setcsr(_mm_getcsr() | flush_bits(setting));
#endif
  }
  ~Disturbed() { std::fesetenv(&saved_); }
  Disturbed(const Disturbed&) = delete;
  Disturbed& operator=(const Disturbed&) = delete;

  [[nodiscard]] static bool in_force(const Setting& setting) {
#ifdef __SSE2__
    if ((_mm_getcsr() & all_flush_bits) != flush_bits(setting)) return false;
#endif
    return std::fegetround() == setting.rounding;
  }

 private:
#ifdef __SSE2__
  static constexpr unsigned results = 0x8000, operands = 0x0040, all_flush_bits = results | operands;  ///< bits of MXCSR
  static unsigned flush_bits(const Setting& setting) {
    return (setting.flush_results ? results : 0) | (setting.flush_operands ? operands : 0);
  }
#endif

  std::fenv_t saved_{};
};

}  // namespace ozbound
