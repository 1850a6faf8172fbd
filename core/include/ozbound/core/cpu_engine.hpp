#pragma once

#include <vector>

#include "ozbound/core/engine.hpp"

namespace ozbound {

/// The portable engine: the reference that every other engine and kernel equals bit for bit.
class CpuEngine final : public Engine {
 public:
  struct Options {
    int threads = 0;        ///< 0: as many as OpenMP would use
    Index inner_block = 0;  ///< digits in one INT32 sum; 0: as fits the cache. Never above what the plan allows
    Index row_tile = 0;     ///< 0: 32
    Index column_tile = 0;  ///< 0: 64
  };

  CpuEngine() : CpuEngine(Options{}) {}

  /// @throws std::invalid_argument naming the option that is negative.
  explicit CpuEngine(Options options);

  [[nodiscard]] SlicedMatrix slice(InputView operand, Side side, Slicing slicing) const override;
  [[nodiscard]] SliceFacts measure(InputView operand, Side side, Slicing slicing) const override;
  std::vector<Entry> multiply(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan, const Epilogue& epilogue,
                              OutputView c) const override;
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override;
  [[nodiscard]] const CostModel& costs() const override { return costs_; }
  [[nodiscard]] double workspace(const SplitPlan& plan, Index m, Index n, Index k) const override;
  [[nodiscard]] int threads() const override { return options_.threads; }

 private:
  Options options_;
  ProductCount costs_;
};

}  // namespace ozbound
