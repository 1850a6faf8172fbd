// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/decide.hpp"
#include "selectors.hpp"

namespace ozbound {

Selection select_ozbound(InputView a, InputView b, const Target& target, const Engine& engine) {
  if (selector_tau(target, a.cols()) < 0x1p-53) return {};  // below u: not even a correctly rounded result meets it
  const auto decision = decide({a, b}, target, engine, {.residues = false});
  if (decision.method != Method::one_plan) return {};
  return {decision.plan, true};
}

}  // namespace ozbound
