// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// While it lives, products that this thread makes on the CPU report the finished share of C. A pass by slices reports after
/// each tile; a pass by the superaccumulator reports after each row or entry. Correct rounding may take several passes, each
/// starting from 0. Native DGEMM and devices report nothing. Scopes of a thread end in reverse order.
class ProgressScope {
 public:
  /// @param tell takes a share in [0, 1]. Any working thread may call it, several at a time; it must be quick and not throw.
  explicit ProgressScope(std::function<void(double)> tell) : tell_(std::move(tell)), outer_(innermost_) { innermost_ = this; }
  ~ProgressScope() { innermost_ = outer_; }
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

  /// The innermost scope of this thread; null if this thread has no scope.
  [[nodiscard]] static ProgressScope* innermost() noexcept { return innermost_; }

  /// Begins a pass over `entries` entries.
  void begin(Index entries) noexcept {
    done_.store(0, std::memory_order_relaxed);
    entries_.store(entries, std::memory_order_relaxed);
  }

  /// Reports `entries` more finished entries, from any thread. Before any pass it does nothing.
  void add(Index entries) {
    const auto all = entries_.load(std::memory_order_relaxed);
    const auto done = done_.fetch_add(entries, std::memory_order_relaxed) + entries;
    if (all > 0) tell_(std::min(1.0, static_cast<double>(done) / static_cast<double>(all)));
  }

 private:
  std::function<void(double)> tell_;
  std::atomic<Index> entries_ = 0, done_ = 0;
  ProgressScope* outer_;
  static inline constinit thread_local ProgressScope* innermost_ = nullptr;
};

/// Begins a pass over `entries` entries in the scope of this thread and returns the scope; null if there is no scope.
inline ProgressScope* begin_progress(Index entries) noexcept {
  auto* const scope = ProgressScope::innermost();
  if (scope != nullptr) scope->begin(entries);
  return scope;
}

}  // namespace ozbound
