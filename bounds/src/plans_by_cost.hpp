// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "ozbound/core/cost_model.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

struct CostedPlan {
  Plan plan;
  double cost;
  int slices;  ///< of both operands
  int number;  ///< in the order in which plans are enumerated

  /// Whether another is tried first: it is cheaper, or has fewer slices.
  bool operator<(const CostedPlan& other) const {
    return std::tie(cost, slices, number) > std::tie(other.cost, other.slices, other.number);
  }
};

/// Every plan all of whose slices meet another: s_A, s_B <= max_slices, max(s_A, s_B) < cut <= s_A + s_B. (A lower cut leaves
/// slices unused: the plan with fewer slices has the same products and no larger bound.) Cheapest first, then fewest slices. A
/// heap, since most are never asked for.
class PlansByCost {
 public:
  PlansByCost(Encoding encoding, const CostModel& costs, Index m, Index n, Index k) {
    plans_.reserve(3000);
    for (int a = 1; a <= max_slices; ++a)
      for (int b = 1; b <= max_slices; ++b)
        for (int cut = std::max(a, b) + 1; cut <= a + b; ++cut) {
          const SplitPlan plan{{encoding, a}, {encoding, b}, cut, Accumulation::exact};
          plans_.push_back({plan, costs.planned(plan, m, n, k), a + b, static_cast<int>(plans_.size())});
        }
    std::make_heap(plans_.begin(), plans_.end());
  }

  [[nodiscard]] bool empty() const { return plans_.empty(); }
  [[nodiscard]] const CostedPlan& cheapest() const { return plans_.front(); }

  CostedPlan take() {
    std::pop_heap(plans_.begin(), plans_.end());
    const auto plan = plans_.back();
    plans_.pop_back();
    return plan;
  }

 private:
  std::vector<CostedPlan> plans_;
};

}  // namespace ozbound
