// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/complex_problem.hpp"

#include <limits>
#include <stdexcept>

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

Problem real_problem(Recipe recipe) {
  if (recipe.k > std::numeric_limits<Index>::max() / 2)
    throw std::invalid_argument("k is too large: " + std::to_string(recipe.k));
  recipe.k *= 2;
  return generate(recipe);
}

}  // namespace

ComplexProblem generate_complex(const Recipe& recipe) {
  const FloatEnvironment environment;
  const auto real = real_problem(recipe);
  ComplexProblem problem{recipe, {recipe.m, recipe.k}, {recipe.k, recipe.n}};
  for (Index l = 0; l < recipe.k; ++l) {
    for (Index i = 0; i < recipe.m; ++i) problem.a(i, l) = {real.a(i, 2 * l), real.a(i, 2 * l + 1)};
    for (Index j = 0; j < recipe.n; ++j) problem.b(l, j) = {real.b(2 * l, j), -real.b(2 * l + 1, j)};
  }
  return problem;
}

std::string generate_complex_command(const Recipe& recipe) { return generate_command(recipe) + " --complex"; }

}  // namespace ozbound
