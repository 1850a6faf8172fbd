// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/combine.hpp"

namespace ozbound {

SumLayout sum_layout(const SplitPlan& plan, Index k) {
  SumLayout layout{plan.accumulation, 0, plan.a.encoding.radix_bits(), {}};
  for (const auto& group : plan.groups(k))
    layout.weight_exponent[layout.count++] = static_cast<std::int16_t>(plan.weight_exponent(group.diagonal));
  return layout;
}

}  // namespace ozbound
