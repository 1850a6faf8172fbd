// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cfenv>
#include <cstdint>

namespace ozbound {

/// While it lives, this thread rounds to nearest, keeps subnormals and traps nothing. Its end restores the caller's settings
/// and exception flags. Every public function that computes, converts, compares, reads or writes floating-point numbers holds
/// one, and so does every thread it starts.
///
/// Constructor and destructor are calls that no compiler sees through. Otherwise a compiler that takes the rounding mode for a
/// constant may move arithmetic past them.
class FloatEnvironment {
 public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;  ///< the caller's; not set if only MXCSR had to be checked
#ifdef __x86_64__
  std::uint32_t saved_sse_;
  bool only_sse_;
#endif
};

}  // namespace ozbound
