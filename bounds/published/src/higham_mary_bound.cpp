// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/higham_mary_bound.hpp"

#include <algorithm>
#include <cmath>

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

constexpr double u = 0x1p-53;

/// 2 m n k.
double events(Index m, Index n, Index k) {
  return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

}  // namespace

double estimate_higham_mary(Index k, double lambda) {
  const FloatEnvironment environment;
  const auto terms = static_cast<double>(k);
  return std::expm1(lambda * std::sqrt(terms) * u + terms * u * u / (1 - u));
}

double higham_mary_probability(Index m, Index n, Index k, double lambda) {
  const FloatEnvironment environment;
  return std::max(0.0, 1 - events(m, n, k) * std::exp(-std::pow(lambda * (1 - u), 2) / 2));
}

double higham_mary_lambda(Index m, Index n, Index k, double probability) {
  const FloatEnvironment environment;
  const double ratio = events(m, n, k) / (1 - probability);
  return ratio <= 1 ? 0 : std::sqrt(2 * std::log(ratio)) / (1 - u);
}

}  // namespace ozbound
