// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrix.hpp"

/// Higham, Mary: "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019. This is a model:
/// rounding errors are independent random variables of mean zero. It is never a bound; no certificate may use it.
namespace ozbound {

/// |fl(AB) - AB| <= (exp(lambda sqrt(k) u + k u^2 / (1 - u)) - 1) |A||B|, lambda sqrt(k) u to first order. Returns the multiple
/// of |A||B|.
double estimate_higham_mary(Index k, double lambda);

/// A lower bound of the probability that estimate_higham_mary holds for all entries of an m x n product at once: 1 - 2 m n k
/// exp(-lambda^2 (1 - u)^2 / 2), or 0.
double higham_mary_probability(Index m, Index n, Index k, double lambda);

/// The smallest lambda for which higham_mary_probability is `probability`, 0 <= probability < 1; 0 for an empty product.
double higham_mary_lambda(Index m, Index n, Index k, double probability);

}  // namespace ozbound
