// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

#include "ozbound/core/cancellation.hpp"

namespace ozbound {

/// Carries an exception out of a parallel region, since no exception may leave the region by itself. Also carries the
/// CancelScope of the constructing thread into the region's threads.
class FirstException {
 public:
  FirstException() : scope_(CancelScope::innermost()) {}

  /// Runs a part of the work, in any thread, unless the work is cancelled. Keeps the first exception and skips later parts.
  template <class Work>
  void run(const Work& work) noexcept {
    if (ended_.load(std::memory_order_relaxed)) return;
    const SharedCancelScope callers(scope_);
    try {
      poll_cancelled();
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
      ended_ = true;
    }
  }

  /// Call it after the region: rethrows the first exception, if any.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  const CancelScope* scope_;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace ozbound
