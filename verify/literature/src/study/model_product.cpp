// SPDX-License-Identifier: BSD-3-Clause
#include "study/model_product.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "ozbound/verify/literature/models/tensor_core.hpp"

namespace ozbound::study {
namespace {

Matrix<float> round_elements(Matrix<double>& matrix) {
  Matrix<float> narrow(matrix.rows(), matrix.cols());
  for (Index t = 0; t < matrix.rows() * matrix.cols(); ++t)
    matrix.data()[t] = narrow.data()[t] = models::round_to(models::binary32_word, matrix.data()[t]);
  return narrow;
}

void add(StudyMeasurement& result, const OracleEntry& entry, double entries) {
  const double error = to_double_upper(divide_upper(entry.error_upper, entry.value_lower));
  result.average_relative += error / entries;
  result.max_relative = std::max(result.max_relative, error);
}

void add(StudyClaim& claim, const Magnitude& bound, const OracleEntry& entry, double entries, Index i, Index j) {
  const double relative = to_double_upper(divide_upper(bound, entry.value_lower));
  const double ratio = to_double_upper(divide_upper(entry.error_upper, bound));
  claim.average_relative += relative / entries;
  claim.max_relative = std::max(claim.max_relative, relative);
  if (claim.row >= 0 && ratio <= claim.worst_ratio) return;
  claim.worst_ratio = ratio;
  std::tie(claim.row, claim.col, claim.error, claim.bound) = std::tuple(i, j, entry.error_upper, bound);
}

template <class T>
StudyMeasurement judged(const Matrix<T>& c, const ModelProblem<T>& problem, const std::vector<ModelClaim>& claims,
                        ResultFormat format) {
  const ExactOracle oracle(problem.exact);
  const auto entries = static_cast<double>(c.rows() * c.cols());
  StudyMeasurement result;
  result.data = problem.data;
  result.phi = problem.exact.recipe.phi;
  result.k = problem.a.cols();
  result.claims.resize(claims.size());
  for (std::size_t t = 0; t < claims.size(); ++t) {
    result.claims[t].name = claims[t].name;
    result.claims[t].rigorous = claims[t].rigorous;
  }
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto entry = oracle.evaluate(i, j, static_cast<double>(c(i, j)), format);
      add(result, entry, entries);
      for (std::size_t t = 0; t < claims.size(); ++t) add(result.claims[t], claims[t].upper(i, j, entry), entry, entries, i, j);
    }
  return result;
}

}  // namespace

ModelProblem<double> binary64_problem(const Recipe& recipe) {
  auto problem = generate(recipe);
  auto a = problem.a, b = problem.b;
  return {std::move(problem), std::move(a), std::move(b), generate_command(recipe)};
}

ModelProblem<float> binary32_problem(const Recipe& recipe) {
  ModelProblem<float> rounded{generate(recipe), {}, {}, generate_command(recipe) + ", rounded to binary32"};
  rounded.a = round_elements(rounded.exact.a);
  rounded.b = round_elements(rounded.exact.b);
  return rounded;
}

ModelClaim multiple_of_scale(std::string name, bool rigorous, double factor) {
  return {std::move(name), rigorous, [factor](Index, Index, const OracleEntry& entry) {
            return multiply_upper(Magnitude::of(factor), entry.scale_upper);
          }};
}

StudyMeasurement judge(const Matrix<float>& c, const ModelProblem<float>& problem, const std::vector<ModelClaim>& claims) {
  return judged(c, problem, claims, ResultFormat::of_float);
}

StudyMeasurement judge(const Matrix<double>& c, const ModelProblem<double>& problem, const std::vector<ModelClaim>& claims) {
  return judged(c, problem, claims, ResultFormat::of_double);
}

StudyMeasurement measure_binary32(const ModelProblem<float>& problem) {
  auto result = judge(gemm(models::TensorCore::nearest(), problem.a.view(), problem.b.view()), problem,
                      {multiple_of_scale("jeannerod-rump", true, static_cast<double>(problem.a.cols()) * 0x1p-24)});
  result.method = "binary32";
  result.plan = "binary32: fused multiply-adds";
  return result;
}

}  // namespace ozbound::study
