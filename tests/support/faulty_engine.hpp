// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"

namespace ozbound::test {

/// The portable engine with one part replaced by a fault that a property must notice. An empty function means the correct part.
class FaultyEngine : public Engine {
 public:
  using Slice = std::function<SlicedMatrix(const Engine&, InputView, Side, Slicing)>;
  using Multiply = std::function<std::vector<Entry>(const Engine&, const SlicedMatrix&, const SlicedMatrix&, const SplitPlan&,
                                                    const Epilogue&, OutputView)>;
  using Sums =
      std::function<void(const SlicedMatrix&, const SlicedMatrix&, const SplitPlan&, std::vector<Matrix<std::int64_t>>&)>;

  using Prepare = std::function<ResidueMatrix(const Engine&, InputView, Side, ResidueForm)>;
  using Recovered = std::function<void(const ResiduePlan&, std::vector<Matrix<std::int64_t>>&)>;

  using Measure = std::function<SliceFacts(const Engine&, InputView, Side, Slicing)>;

  Slice faulty_slice;
  Measure faulty_measure;
  Multiply faulty_multiply;
  Sums falsify_sums;
  Prepare faulty_residues;
  Recovered falsify_recovered;
  std::function<void(OutputView)> falsify_c_of_residues;

  [[nodiscard]] SlicedMatrix slice(InputView operand, Side side, Slicing slicing) const override {
    return faulty_slice ? faulty_slice(right_, operand, side, slicing) : right_.slice(operand, side, slicing);
  }
  [[nodiscard]] IntegerOperand prepare(InputView operand, Side side, const OperandForm& form) const override {
    if (const auto* const slicing = std::get_if<Slicing>(&form)) return slice(operand, side, *slicing);
    const auto& residues = std::get<ResidueForm>(form);
    if (faulty_residues) return faulty_residues(right_, operand, side, residues);
    return right_.prepare(operand, side, residues);
  }
  [[nodiscard]] bool takes(const IntegerOperand& operand) const override { return right_.takes(operand); }
  [[nodiscard]] const Matrices& matrices() const override { return right_.matrices(); }
  [[nodiscard]] SliceFacts measure(InputView operand, Side side, Slicing slicing) const override {
    return faulty_measure ? faulty_measure(right_, operand, side, slicing) : right_.measure(operand, side, slicing);
  }
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    if (!faulty_multiply || plan.by_residues()) {
      auto open = right_.multiply(a, b, plan, epilogue, c);
      if (falsify_c_of_residues && plan.by_residues()) falsify_c_of_residues(c);
      return open;
    }
    return faulty_multiply(right_, a.slices(), b.slices(), plan.split(), epilogue, c);
  }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                                   const ResiduePlan& plan) const override {
    auto groups = right_.recovered_groups(a, b, plan);
    if (falsify_recovered) falsify_recovered(plan, groups);
    return groups;
  }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override {
    auto sums = right_.group_sums(a, b, plan);
    if (falsify_sums) falsify_sums(a, b, plan, sums);
    return sums;
  }
  [[nodiscard]] const CostModel& costs() const override { return right_.costs(); }
  [[nodiscard]] double workspace(const Plan& plan, Index m, Index n, Index k) const override {
    return right_.workspace(plan, m, n, k);
  }
  [[nodiscard]] int threads() const override { return 1; }

 private:
  CpuEngine right_{{.threads = 1}};
};

/// Flips the last bit of an entry of C.
inline void flip(OutputView c, Index i, Index j) {
  if (const auto* wide = std::get_if<0>(&c.typed()))
    c.set_bits(i, j, bits_of((*wide)(i, j)) ^ 1);
  else
    c.set_bits(i, j, bits_of((*std::get_if<1>(&c.typed()))(i, j)) ^ 1);
}

/// An engine that gives the entries picked by `wrong` a wrong last bit.
template <class Wrong>
FaultyEngine flipping(Wrong wrong) {
  FaultyEngine engine;
  engine.faulty_multiply = [wrong](const Engine& right, const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                                   const Epilogue& epilogue, OutputView c) {
    auto open = right.multiply(a, b, plan, epilogue, c);
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j)
        if (!a.special(i) && !b.special(j) && wrong(a, b, c, i, j)) flip(c, i, j);
    return open;
  };
  return engine;
}

/// An engine that leaves out the last diagonal of every plan.
inline FaultyEngine dropping_the_last_diagonal() {
  FaultyEngine engine;
  engine.faulty_multiply = [](const Engine& right, const SlicedMatrix& a, const SlicedMatrix& b, SplitPlan plan,
                              const Epilogue& epilogue, OutputView c) {
    if (plan.cut > 2) --plan.cut;
    return right.multiply(a, b, plan, epilogue, c);
  };
  return engine;
}

}  // namespace ozbound::test
