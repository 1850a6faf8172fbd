// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <stdexcept>

namespace ozbound {

/// A call ended before its time, because a CancelScope had it do so. Some entries of C may have been written and others not;
/// none was where c_may_be_written() is false, as in a call that was still deciding.
class Cancelled : public std::runtime_error {
 public:
  explicit Cancelled(bool c_may_be_written = false)
      : std::runtime_error(c_may_be_written ? "cancelled: entries of C may be written" : "cancelled before C was written"),
        c_may_be_written_(c_may_be_written) {}

  [[nodiscard]] bool c_may_be_written() const { return c_may_be_written_; }

 private:
  bool c_may_be_written_;
};

/// While it lives, calls of this thread throw Cancelled soon after the flag is set, by whatever thread or signal handler:
/// within some 20 ms on the CPU. They look at it between tiles, rows and blocks of long rows, in every thread that works for
/// them. One in another adds its flag to the outer one's. The flag must outlive it; scopes of a thread end in the reverse
/// order. A call that ends without Cancelled did all its work. What cannot be interrupted, and is waited for: a native DGEMM
/// that has begun, kernels of a device that were launched, the system where it hands out gigabytes or takes them back.
class CancelScope {
 public:
  /// Whether a request was made, asked of `context` by any thread; never throws.
  using Predicate = bool (*)(const void* context);

  explicit CancelScope(const std::atomic<bool>& flag) noexcept : CancelScope(is_set, &flag) {}
  /// The same of what is no flag: a scope beyond a boundary of C.
  CancelScope(Predicate predicate, const void* context) noexcept
      : predicate_(predicate), context_(context), outer_(innermost_) {
    innermost_ = this;
  }
  ~CancelScope() { innermost_ = outer_; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  /// Of this thread; null where there is none.
  [[nodiscard]] static const CancelScope* innermost() noexcept { return innermost_; }

  /// Whether its flag, or that of one around it, is set.
  [[nodiscard]] bool requested() const noexcept {
    for (const auto* scope = this; scope != nullptr; scope = scope->outer_)
      if (scope->predicate_(scope->context_)) return true;
    return false;
  }

 private:
  friend class SharedCancelScope;

  static bool is_set(const void* flag) { return static_cast<const std::atomic<bool>*>(flag)->load(std::memory_order_relaxed); }

  Predicate predicate_;
  const void* context_;
  const CancelScope* outer_;
  static inline constinit thread_local const CancelScope* innermost_ = nullptr;
};

/// While it lives, this thread heeds the scope of another one, which waits for it; null: none.
class SharedCancelScope {
 public:
  explicit SharedCancelScope(const CancelScope* of_another) noexcept : own_(CancelScope::innermost_) {
    CancelScope::innermost_ = of_another;
  }
  ~SharedCancelScope() { CancelScope::innermost_ = own_; }
  SharedCancelScope(const SharedCancelScope&) = delete;
  SharedCancelScope& operator=(const SharedCancelScope&) = delete;

 private:
  const CancelScope* own_;
};

/// Whether this thread is to end what it does. Where there is no scope, the look at a thread-local pointer.
inline bool cancel_requested() noexcept {
  const auto* const scope = CancelScope::innermost();
  return scope != nullptr && scope->requested();
}

/// @throws Cancelled if it is. Not in a parallel region outside FirstException::run.
inline void poll_cancelled() {
  if (cancel_requested()) throw Cancelled();
}

/// Runs work that writes C: a Cancelled from within says that it may have.
template <class Work>
decltype(auto) writing_c(const Work& work) {
  try {
    return work();
  } catch (const Cancelled&) {
    throw Cancelled(true);
  }
}

}  // namespace ozbound
