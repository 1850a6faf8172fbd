// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/decide.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

bool meetable(const Target& target, Index k) { return selector_tau(target, k) >= 0x1p-53; }  // below, rounding once misses it

}  // namespace

Selection select_ozbound(InputView a, InputView b, const Target& target, const Engine& engine) {
  if (!meetable(target, a.cols())) return {};
  const auto decision = decide({a, b}, target, engine, {.residues = false});
  if (decision.method != Method::one_plan) return {};
  return {decision.plan, true};
}

Selection select_ozbound_residues(InputView a, InputView b, const Target& target, const Engine& engine) {
  if (!meetable(target, a.cols())) return {};
  for (const auto& candidate : decide({a, b}, target, engine).candidates)
    if (candidate.plan && candidate.plan->by_residues() && candidate.certifies) return {candidate.plan, true};
  return {};
}

}  // namespace ozbound
