// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <omp.h>

#include <algorithm>
#include <cfenv>
#include <cstddef>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace ozbound::test {

/// While an object lives, this thread and every OpenMP worker round upwards and, if the processor can, flush subnormal numbers
/// to zero. A caller built with -ffast-math may hand over such a state.
class HostileEnvironment {
 public:
  HostileEnvironment() : saved_(static_cast<std::size_t>(std::max(omp_get_max_threads(), 4))) {
#pragma omp parallel num_threads(static_cast<int>(saved_.size()))
    {
      std::fegetenv(&saved_[static_cast<std::size_t>(omp_get_thread_num())]);
      disturb();
    }
    disturb();  // LLVM's OpenMP gives this thread its settings back after a parallel region
  }
  ~HostileEnvironment() {
#pragma omp parallel num_threads(static_cast<int>(saved_.size()))
    std::fesetenv(&saved_[static_cast<std::size_t>(omp_get_thread_num())]);
    std::fesetenv(&saved_[0]);
  }
  HostileEnvironment(const HostileEnvironment&) = delete;
  HostileEnvironment& operator=(const HostileEnvironment&) = delete;

  /// True if a calculation of this thread is disturbed as intended.
  static bool is_in_force() {
    volatile double one = 1;
    volatile double minus_one = -1;
    volatile double three = 3;
    volatile double up = one / three, down = minus_one / three;  // stored: a compiler may move the sign into a quotient
    return up != -down;
  }

 private:
  static void disturb() {
    std::fesetround(FE_UPWARD);
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
#endif
  }

  std::vector<std::fenv_t> saved_;
};

}  // namespace ozbound::test
