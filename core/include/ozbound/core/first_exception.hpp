#pragma once

#include <exception>
#include <mutex>

namespace ozbound {

/// Carries an exception out of the threads of a parallel region, which none may leave.
class FirstException {
 public:
  /// Runs a part of the work, in any thread; what it throws is kept.
  template <class Work>
  void run(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
  }

  /// After the region: throws what came first, if anything did.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace ozbound
