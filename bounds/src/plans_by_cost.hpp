// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "ozbound/core/cost_model.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

struct CostedPlan {
  SplitPlan plan;
  double cost;
};

/// True if x is tried after y. Plans are ordered by cost, then by the number of slices of both operands, of A, of B, and by
/// cut.
inline bool costs_more(const CostedPlan& x, const CostedPlan& y) {
  const auto key = [](const CostedPlan& of) {
    const int a = of.plan.a.slices, b = of.plan.b.slices;
    return std::tuple(of.cost, a + b, a, b, of.plan.cut);
  };
  return key(x) > key(y);
}

/// Every plan in which each slice meets another one: s_A, s_B <= max_slices, max(s_A, s_B) < cut <= s_A + s_B. (A lower cut
/// leaves slices unused: the plan with fewer slices has the same products and no larger bound.) Sorted by cost, then by slices.
///
/// There are 2870 such plans, and few are ever requested. So the next plans are found one by one, by a tree: the children of a
/// plan have more slices or a larger cut, and by CostModel::planned they cost no less. The heap holds the children of all plans
/// that were taken.
class PlansByCost {
 public:
  PlansByCost(Encoding encoding, const CostModel& costs, Index m, Index n, Index k)
      : encoding_(encoding), costs_(&costs), m_(m), n_(n), k_(k) {
    push(1, 1, 2);
  }

  [[nodiscard]] bool empty() const { return plans_.empty(); }
  [[nodiscard]] const CostedPlan& cheapest() const { return plans_.front(); }

  CostedPlan take() {
    std::pop_heap(plans_.begin(), plans_.end(), costs_more);
    const auto taken = plans_.back();
    plans_.pop_back();
    const int a = taken.plan.a.slices, b = taken.plan.b.slices, cut = taken.plan.cut;
    if (cut < a + b) push(a, b, cut + 1);
    if (cut == least_cut(a, b)) {
      if (b < max_slices) push(a, b + 1, least_cut(a, b + 1));
      if (b == 1 && a < max_slices) push(a + 1, b, least_cut(a + 1, b));
    }
    return taken;
  }

 private:
  static int least_cut(int a, int b) { return std::max(a, b) + 1; }

  void push(int a, int b, int cut) {
    const SplitPlan plan{{encoding_, a}, {encoding_, b}, cut, Accumulation::exact};
    plans_.push_back({plan, costs_->planned(plan, m_, n_, k_)});
    std::push_heap(plans_.begin(), plans_.end(), costs_more);
  }

  Encoding encoding_;
  const CostModel* costs_;
  Index m_, n_, k_;
  std::vector<CostedPlan> plans_;  ///< a heap, the cheapest plan on top
};

}  // namespace ozbound
