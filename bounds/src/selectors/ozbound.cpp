#include "ozbound/bounds/decide.hpp"
#include "selectors.hpp"

namespace ozbound {

Selection select_ozbound(InputView a, InputView b, const Target& target, const Engine& engine) {
  const auto decision = decide(a, b, target, engine);
  if (decision.method != Method::slices) return {};
  return {decision.plan, true};
}

}  // namespace ozbound
