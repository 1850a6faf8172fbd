// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "ozbound/core/engine.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/core/matrices.hpp"
#include "ozbound/core/panel_slices.hpp"

namespace ozbound {

/// The engine on the CPU. It is the reference: every other engine, with every kernel, returns the same bits.
class CpuEngine final : public Engine {
 public:
  struct Options {
    int threads = 0;                 ///< 0: OpenMP's number of threads. A child of fork() uses one (usable_threads.hpp)
    Index inner_block = 0;           ///< adjacent digits of a slice, rounded up to the kernel's multiple; 0: 1024
    Index row_tile = 0;              ///< rows of a tile of C, rounded up to the kernel's rows; 0: fits the cache
    Index column_tile = 0;           ///< columns of a tile of C, rounded up to the kernel's columns; 0: fits the cache
    const Kernel* kernel = nullptr;  ///< null: default_kernel()
  };

  CpuEngine() : CpuEngine(Options{}) {}

  /// @throws std::invalid_argument naming the negative option, or naming OZBOUND_KERNEL as default_kernel does.
  explicit CpuEngine(Options options);

  [[nodiscard]] SlicedMatrix slice(InputView operand, Side side, Slicing slicing) const override;
  [[nodiscard]] bool takes(const IntegerOperand& operand) const override;
  [[nodiscard]] SliceFacts measure(InputView operand, Side side, Slicing slicing) const override;
  [[nodiscard]] bool has_residues() const override { return true; }
  [[nodiscard]] std::vector<VectorNorms> norms(InputView operand, Side side) const override;
  [[nodiscard]] IntegerOperand prepare(InputView operand, Side side, const OperandForm& form) const override;
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override;
  [[nodiscard]] const HostMatrices& matrices() const override { return matrices_; }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override;
  [[nodiscard]] std::vector<Matrix<std::int64_t>> recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                                   const ResiduePlan& plan) const override;
  [[nodiscard]] const CostModel& costs() const override { return costs_; }
  [[nodiscard]] double workspace(const Plan& plan, Index m, Index n, Index k) const override;
  [[nodiscard]] std::optional<double> complex_workspace(const ResiduePlan& plan, Index m, Index n, Index k) const override;
  [[nodiscard]] int threads() const override;
  [[nodiscard]] const Kernel& kernel() const { return *kernel_; }

 private:
  std::vector<Entry> multiply_slices(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                                     const Epilogue& epilogue, OutputView c) const;
  std::vector<Entry> multiply_residues(const ResidueMatrix& a, const ResidueMatrix& b, const ResiduePlan& plan,
                                       const Epilogue& epilogue, OutputView c) const;
  [[nodiscard]] double slices_workspace(const SplitPlan& plan, Index m, Index n, Index k) const;
  [[nodiscard]] double residues_workspace(int layers, Index m, Index n, Index k) const;
  [[nodiscard]] Options current_options() const;  ///< with the threads that this process may use
  [[nodiscard]] PanelLayout layout(Side side) const;

  Options options_;
  const Kernel* kernel_;
  HostMatrices matrices_;
  ProductCount costs_;
};

}  // namespace ozbound
