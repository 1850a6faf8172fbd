// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <stdexcept>

namespace ozbound {

/// Thrown by a call that a CancelScope ended early. Some entries of C may have been written and others not. If
/// c_may_be_written() is false, for example because the call was still deciding, no entry was written.
class Cancelled : public std::runtime_error {
 public:
  explicit Cancelled(bool c_may_be_written = false)
      : std::runtime_error(c_may_be_written ? "cancelled: entries of C may be written" : "cancelled before C was written"),
        c_may_be_written_(c_may_be_written) {}

  [[nodiscard]] bool c_may_be_written() const { return c_may_be_written_; }

 private:
  bool c_may_be_written_;
};

/// While a CancelScope lives, calls of this thread throw Cancelled soon after any thread or signal handler sets the flag:
/// within about 20 ms on the CPU. Every thread that works for such a call checks the flag between tiles, between rows and
/// between blocks of long rows. A nested scope adds its flag to the flag of the outer scope. The flag must outlive the scope;
/// scopes of a thread end in reverse order. A call that returns without Cancelled did all its work. Some work cannot be
/// interrupted, and the call waits for it: a native DGEMM that has begun, device kernels that were launched, and the operating
/// system when it hands out or takes back gigabytes.
class CancelScope {
 public:
  /// Returns true if cancellation was requested. Any thread may call it with `context`; it never throws.
  using Predicate = bool (*)(const void* context);

  explicit CancelScope(const std::atomic<bool>& flag) noexcept : CancelScope(is_set, &flag) {}
  /// A scope with a predicate instead of a flag, for requests that come through a C interface.
  CancelScope(Predicate predicate, const void* context) noexcept
      : predicate_(predicate), context_(context), outer_(innermost_) {
    innermost_ = this;
  }
  ~CancelScope() { innermost_ = outer_; }
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  /// The innermost scope of this thread; null if this thread has no scope.
  [[nodiscard]] static const CancelScope* innermost() noexcept { return innermost_; }

  /// True if the flag of this scope or of an outer scope is set.
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

/// While it lives, this thread heeds the scope of another thread, which waits for this one; null: no scope.
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

/// True if this thread should stop its work. Without a scope, it only reads a thread-local pointer.
inline bool cancel_requested() noexcept {
  const auto* const scope = CancelScope::innermost();
  return scope != nullptr && scope->requested();
}

/// @throws Cancelled if cancellation was requested. Do not call it in a parallel region outside FirstException::run.
inline void poll_cancelled() {
  if (cancel_requested()) throw Cancelled();
}

/// Runs work that writes C. A Cancelled thrown by the work is marked "C may be written".
template <class Work>
decltype(auto) writing_c(const Work& work) {
  try {
    return work();
  } catch (const Cancelled&) {
    throw Cancelled(true);
  }
}

}  // namespace ozbound
