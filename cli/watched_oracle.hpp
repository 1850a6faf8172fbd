// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "ozbound/files/progress.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound::cli {

/// Answers for another oracle, and reports the progress of a pass over so many entries. The oracle and the callback must
/// outlive it.
class WatchedOracle final : public Oracle {
 public:
  WatchedOracle(const Oracle& oracle, Index entries, files::Progress& progress)
      : Oracle(oracle.operands()), oracle_(oracle), entries_(static_cast<double>(entries)), progress_(progress) {}

 private:
  [[nodiscard]] OracleEntry judge(Index i, Index j, double computed, ResultFormat format) const override {
    progress_.update(static_cast<double>(done_.fetch_add(1, std::memory_order_relaxed)) / entries_);
    return oracle_.evaluate(i, j, computed, format);
  }

  const Oracle& oracle_;
  double entries_;
  files::Progress& progress_;
  mutable std::atomic<Index> done_ = 0;
};

}  // namespace ozbound::cli
