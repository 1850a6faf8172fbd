#pragma once

#include <cfenv>

namespace ozbound {

/// While it lives, this thread rounds to nearest, keeps subnormals and traps nothing; then the caller's settings return.
/// Every public function that computes in floating point holds one, and so does every thread it starts.
class FloatEnvironment {
 public:
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::fenv_t saved_{};
};

}  // namespace ozbound
