// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/detail/cheapest_costs.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

template <class Cost>
double least(const std::vector<CheapestCosts::Of>& engines, const Cost& cost) {
  double result = std::numeric_limits<double>::infinity();
  for (const auto& engine : engines) result = std::min(result, cost(engine));
  return result;
}

double native_cost(const CheapestCosts::Of& engine, Index m, Index n, Index k) {
  return engine.native ? engine.costs->native(m, n, k) : std::numeric_limits<double>::infinity();
}

double planned_cost(const CheapestCosts::Of& engine, const Plan& plan, Index m, Index n, Index k) {
  if (plan.by_residues() && !engine.residues) return std::numeric_limits<double>::infinity();
  return engine.costs->planned(plan, m, n, k);
}

}  // namespace

CheapestCosts::CheapestCosts(std::vector<Of> engines) : engines_(std::move(engines)) {
  if (engines_.empty()) throw std::invalid_argument("engines must not be empty");
  for (const auto& engine : engines_)
    if (engine.costs->origin().unit != origin().unit) throw std::invalid_argument("engines must count costs in one unit");
}

double CheapestCosts::planned(const Plan& plan, Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  return least(engines_, [&](const Of& engine) { return planned_cost(engine, plan, m, n, k); });
}

double CheapestCosts::native(Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  return least(engines_, [&](const Of& engine) { return native_cost(engine, m, n, k); });
}

double CheapestCosts::exact(Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  return least(engines_, [&](const Of& engine) { return engine.costs->exact(m, n, k); });
}

std::size_t CheapestCosts::engine_for(const Decision& decision) const {
  const FloatEnvironment environment;
  std::size_t best = 0;
  for (std::size_t t = 1; t < engines_.size(); ++t)
    if (cost_on(t, decision) < cost_on(best, decision)) best = t;
  return best;
}

double CheapestCosts::cost_on(std::size_t engine, const Decision& decision) const {
  const FloatEnvironment environment;
  const auto [m, n, k] = std::array{decision.real_m(), decision.n, decision.real_k()};
  const auto& costs = *engines_.at(engine).costs;
  if (decision.method == Method::native) return native_cost(engines_[engine], m, n, k);
  if (decision.method == Method::exact || !decision.plan) return costs.exact(m, n, k);
  const double beyond = std::max(0.0, decision.cost - planned(*decision.plan, m, n, k));
  const double share = beyond > 0 ? beyond / exact(m, n, k) : 0;
  return planned_cost(engines_[engine], *decision.plan, m, n, k) + share * costs.exact(m, n, k);
}

}  // namespace ozbound
