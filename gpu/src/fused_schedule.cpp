// SPDX-License-Identifier: BSD-3-Clause
#include "fused_schedule.hpp"

#include <algorithm>

namespace ozbound::gpu {
namespace {

DiagonalPair diagonal_pair(const SplitPlan& plan, int g) {
  const int first = std::max(1, g - 1 - plan.b.slices);
  const int last = std::min(g - 1, plan.a.slices + 1);
  DiagonalPair pair;
  pair.first_a = static_cast<std::int16_t>(first);
  pair.first_b = static_cast<std::int16_t>(g - first);
  pair.tiles = static_cast<std::int16_t>(last - first + 1);
  pair.ends_with_b = last > plan.a.slices;
  return pair;
}

}  // namespace

FusedSchedule fused_schedule(const SplitPlan& plan) {
  FusedSchedule schedule;
  schedule.diagonals = plan.cut - 1;
  schedule.radix_bits = plan.a.encoding.radix_bits();
  for (int g = plan.cut; g > 2; g -= 2) schedule.pairs[schedule.pair_count++] = diagonal_pair(plan, g);
  return schedule;
}

int FusedSchedule::tiles() const {
  int total = last_alone() ? 1 : 0;
  for (int t = 0; t < pair_count; ++t) total += pairs[t].tiles;
  return total;
}

}  // namespace ozbound::gpu
