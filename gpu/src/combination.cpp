// SPDX-License-Identifier: BSD-3-Clause
#include "combination.hpp"

namespace ozbound::gpu {

Combination::Combination(const SplitPlan& plan, Index k)
    : layout(sum_layout(plan, k)), groups(plan.groups(k)), encoding_a(plan.a.encoding), encoding_b(plan.b.encoding) {}

}  // namespace ozbound::gpu
