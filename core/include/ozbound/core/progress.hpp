// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// While it lives, products that this thread makes on the CPU tell how much of C there is: a pass by slices after each tile, a
/// pass by the superaccumulator after each row or entry. Correct rounding may take several passes, each from 0 on. Native DGEMM
/// and devices tell nothing. Scopes of a thread end in the reverse order.
class ProgressScope {
 public:
  /// @param tell takes a share in [0, 1], of any thread that works, several at a time; it is quick and does not throw.
  explicit ProgressScope(std::function<void(double)> tell) : tell_(std::move(tell)), outer_(innermost_) { innermost_ = this; }
  ~ProgressScope() { innermost_ = outer_; }
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

  /// Of this thread; null where there is none.
  [[nodiscard]] static ProgressScope* innermost() noexcept { return innermost_; }

  /// A pass over so many entries begins.
  void begin(Index entries) noexcept {
    done_.store(0, std::memory_order_relaxed);
    entries_.store(entries, std::memory_order_relaxed);
  }

  /// So many more are there, in any thread. Before any pass it says nothing.
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

/// The scope of this thread, with a pass over so many entries begun; null where there is none.
inline ProgressScope* begin_progress(Index entries) noexcept {
  auto* const scope = ProgressScope::innermost();
  if (scope != nullptr) scope->begin(entries);
  return scope;
}

}  // namespace ozbound
