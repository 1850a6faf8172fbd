// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

#include "ozbound/core/gemm.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/literature/models/fp16_slices.hpp"
#include "study/figure.hpp"
#include "study/kinds.hpp"
#include "study/model_product.hpp"
#include "study/sizes.hpp"

namespace ozbound::study {
namespace {

using models::Fp16Slices;
using models::SliceMode;

template <class T>
constexpr double unit_roundoff = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;

constexpr const char* dp_mode = "DGEMM-TC, DP-mode";
constexpr const char* cr_mode = "DGEMM-TC, CR-mode";
constexpr const char* sp_mode = "SGEMM-TC, SP-mode";

/// The paper's (1), at which Algorithm 3 aims: the expected accuracy of a conventional product.
template <class T>
ModelClaim expected(Index k) {
  return multiple_of_scale("mukunoki-(1)", false, 2 * std::sqrt(static_cast<double>(k)) * unit_roundoff<T>);
}

/// The accuracy of a result that is rounded once.
ModelClaim correct_rounding(const ModelProblem<double>& problem) {
  return {"correct-rounding", true,
          [oracle = std::make_shared<ExactOracle>(problem.exact)](Index i, Index j, const OracleEntry& entry) {
            return oracle->evaluate(i, j, entry.rounded).error_upper;
          }};
}

template <class T>
StudyMeasurement named(StudyMeasurement result, std::string method, const models::Fp16Product<T>& product) {
  result.method = std::move(method);
  result.plan = fmt::format("binary16:{}x{}:{}:{} products", product.slices_a, product.slices_b, product.fast ? "fast" : "full",
                            product.products);
  result.slices = product.slices_a;
  return result;
}

template <class T>
StudyMeasurement measure_estimated(const std::string& method, const ModelProblem<T>& problem) {
  const auto product = models::multiply(Fp16Slices{}, problem.a.view(), problem.b.view());
  const auto limits = models::bound_upper(Fp16Slices{}, problem.a.view(), problem.b.view());
  const ModelClaim ours{"fp16-slices", true, [&limits](Index i, Index j, const OracleEntry&) { return limits(i, j); }};
  return named(judge(product.c, problem, {ours, expected<T>(problem.a.cols())}), method, product);
}

StudyMeasurement measure_correctly_rounded(const ModelProblem<double>& problem) {
  const auto product = models::multiply({.mode = SliceMode::correctly_rounded}, problem.a.view(), problem.b.view());
  return named(judge(product.c, problem, {correct_rounding(problem)}), cr_mode, product);
}

StudyMeasurement measure_native(const NativeGemm& native, const ModelProblem<double>& problem) {
  Matrix<double> c(problem.a.rows(), problem.b.cols());
  native.dgemm(RealProduct{problem.a, problem.b, c});
  const auto k = problem.a.cols();
  auto result =
      judge(c, problem,
            {multiple_of_scale("jeannerod-rump", true, static_cast<double>(k) * unit_roundoff<double>), expected<double>(k)});
  result.method = "DGEMM";
  return result;
}

constexpr std::array<double, 4> phis{0.1, 1, 2, 4};

/// Calls measure(recipe, destination of the measurements) for every phi and inner dimension.
template <class Measure>
void measure_all(Study& study, const StudyContext& context, Index rows, const Measure& measure) {
  const auto inner = sizes(128, 8192, 2, study.options.scale);
  double done = 0, total = 0;
  for (const auto k : inner) total += static_cast<double>(k * std::ssize(phis));
  for (const double phi : phis)
    for (const Index k : inner) {
      measure(Recipe{Family::wide_exponents, rows, rows, k, phi, study.options.seed}, study.measurements);
      done += static_cast<double>(k);
      if (context.progress) context.progress(done / total);
    }
}

/// Draws errors against the inner dimension, one plot for each phi, and against phi; then the bounds of one method.
void draw(Study& study, const std::string& bounded) {
  const auto title = [](double phi) { return fmt::format("φ = {}", phi); };
  Figure figure(study, over_inner_dimension(Measure::largest));
  for (const double phi : phis) figure.add_methods(title(phi), [=](const auto& one) { return one.phi == phi; });
  const Index longest = study.measurements.back().k;
  Figure(study, over_phi(Measure::largest)).add_methods(fmt::format("inner dimension {}", longest), [=](const auto& one) {
    return one.k == longest;
  });
  for (const double phi : phis)
    figure.add_bounds(title(phi) + ", " + bounded, [=](const auto& one) { return one.phi == phi && one.method == bounded; });
}

}  // namespace

Study mukunoki_fig3(const StudyOptions& options, const StudyContext& context) {
  Study study{.name = "mukunoki-fig3", .options = options, .measurements = {}, .series = {}};
  measure_all(study, context, scaled(8, options.scale, 2), [&](const Recipe& recipe, auto& measurements) {
    const auto problem = binary64_problem(recipe);
    if (context.native != nullptr) measurements.push_back(measure_native(*context.native, problem));
    measurements.push_back(measure_estimated(dp_mode, problem));
    measurements.push_back(measure_correctly_rounded(problem));
  });
  draw(study, dp_mode);
  return study;
}

Study mukunoki_fig8(const StudyOptions& options, const StudyContext& context) {
  Study study{.name = "mukunoki-fig8", .options = options, .measurements = {}, .series = {}};
  measure_all(study, context, scaled(16, options.scale, 2), [&](const Recipe& recipe, auto& measurements) {
    const auto problem = binary32_problem(recipe);
    auto conventional = measure_binary32(problem);
    conventional.method = "SGEMM";
    measurements.push_back(std::move(conventional));
    measurements.push_back(measure_estimated(sp_mode, problem));
  });
  draw(study, sp_mode);
  return study;
}

}  // namespace ozbound::study
