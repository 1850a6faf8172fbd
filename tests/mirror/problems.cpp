// SPDX-License-Identifier: BSD-3-Clause
#include "mirror/problems.hpp"

#include "ozbound/core/plan.hpp"
#include "ozbound/verify/problem.hpp"
#include "vectors/cases.hpp"

namespace ozbound::mirror {
namespace {

/// A's columns, or B's rows, repeated `times` times.
Matrix<double> repeated(const Matrix<double>& x, Index times, bool columns) {
  Matrix<double> result(columns ? x.rows() : x.rows() * times, columns ? x.cols() * times : x.cols());
  for (Index i = 0; i < result.rows(); ++i)
    for (Index j = 0; j < result.cols(); ++j) result(i, j) = x(columns ? i : i % x.rows(), columns ? j % x.cols() : j);
  return result;
}

}  // namespace

std::vector<Inputs> conformance_inputs(bool by_residues) {
  std::vector<Inputs> inputs;
  for (const auto& file : vectors::case_files())
    for (const auto& one : file.cases)
      inputs.push_back({file.name + "/" + one.name, one.plan, repeated(one.a, one.inner_repeat, true),
                        repeated(one.b, one.inner_repeat, false), one.c0, one.alpha, one.beta});
  for (const auto& one : vectors::family_cases()) {
    auto problem = generate(one.recipe);
    auto c0 = vectors::wrapped(problem.a, one.recipe.n);
    inputs.push_back({generate_command(one.recipe), one.plan, std::move(problem.a), std::move(problem.b), std::move(c0),
                      one.alpha, one.beta});
  }
  std::erase_if(inputs, [&](const Inputs& one) { return parse_plan(one.plan).by_residues() != by_residues; });
  return inputs;
}

std::vector<Inputs> family_inputs() {
  const char* const plans[family_plans] = {"balanced:7x7:cut=8:exact",         "balanced:8x8:cut=9:exact",
                                           "nearest7:5x6:cut=9:per_diagonal",  "truncated7:8x8:cut=9:per_product",
                                           "unsigned8:7x6:full:exact",         "nearest_adaptive7:4x3:full:per_product",
                                           "unsigned8,balanced:3x4:full:exact"};
  std::vector<Inputs> inputs;
  for (const auto family : all_families())
    for (const double phi : {0.0, 2.0})
      for (const auto* plan : plans) {
        const Recipe recipe{family, 67, 131, 150, phi, 3};
        auto problem = generate(recipe);
        inputs.push_back({generate_command(recipe), plan, std::move(problem.a), std::move(problem.b), {}});
      }
  return inputs;
}

std::vector<Inputs> long_inputs() {
  const char* const plans[] = {"balanced:1x1:full:exact", "balanced:3x3:full:exact", "unsigned8:2x3:full:exact",
                               "truncated7:2x2:full:per_product", "balanced:4x4:full:per_diagonal"};
  std::vector<Inputs> inputs;
  for (const Index k : {18724, 33000, 131073, 140001})
    for (const auto* plan : plans) {
      const Recipe recipe{Family::maximal_digits_positive, 3, 4, k, 0, 1};
      auto problem = generate(recipe);
      inputs.push_back({generate_command(recipe), plan, std::move(problem.a), std::move(problem.b), {}});
    }
  return inputs;
}

}  // namespace ozbound::mirror
