#include "ozbound/bounds/uchino_bound.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {

bool uchino_truncation_covers(const SplitPlan& plan) {
  return plan.a == plan.b && plan.a.encoding.kind == Encoding::Kind::truncated && plan.cut == plan.a.slices + 1;
}

double uchino_truncation_upper(const SplitPlan& plan, Index k) {
  if (!uchino_truncation_covers(plan))
    throw std::invalid_argument("uchino-truncation does not cover " + to_string(plan) +
                                ": it needs one truncated encoding, s x s slices and cut s + 1");
  const FloatEnvironment environment;
  const int s = plan.a.slices;
  const double one = std::ldexp(s + 1.0, -plan.a.encoding.beta * s);
  return multiply_upper(to_double_upper(static_cast<std::uint64_t>(k)), one);
}

}  // namespace ozbound
