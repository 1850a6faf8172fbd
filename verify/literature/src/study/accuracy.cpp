// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "study/measured_product.hpp"

#include "inverse.hpp"
#include "ozbound/core/scheme.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "study/figure.hpp"
#include "study/kinds.hpp"
#include "study/sizes.hpp"

namespace ozbound::study {
namespace {

/// A scheme with as many slices of A as of B.
struct Method {
  std::string label;
  std::string scheme;
  int slices;
};

/// Gathers the measurements of a study and reports its progress.
class Run {
 public:
  Run(std::string name, const StudyOptions& options, const StudyContext& context)
      : context_(context), study_{.name = std::move(name), .options = options, .measurements = {}, .series = {}} {}

  /// Plans one problem with all methods and, if asked, native DGEMM. Problems run only when all are planned, because progress
  /// needs their total.
  void plan(Index work, std::function<void(Run&)> measure) {
    total_ += static_cast<double>(work);
    jobs_.emplace_back(static_cast<double>(work), std::move(measure));
  }

  void measure_all() {
    double done = 0;
    for (const auto& [work, measure] : jobs_) {
      measure(*this);
      done += work;
      if (context_.progress) context_.progress(done / total_);
    }
  }

  void measure(const Judged& judged, Index k, const std::vector<Method>& methods, bool native) {
    for (const auto& [label, scheme, slices] : methods)
      study_.measurements.push_back(judged.measure(label, find_scheme(scheme).plan(slices, slices, k), context_.engine));
    if (native && context_.native != nullptr) study_.measurements.push_back(judged.measure(*context_.native, context_.engine));
  }

  [[nodiscard]] const StudyOptions& options() const { return study_.options; }
  Study& study() { return study_; }

 private:
  const StudyContext& context_;
  Study study_;
  double total_ = 0;
  std::vector<std::pair<double, std::function<void(Run&)>>> jobs_;
};

/// The papers' matrices: (U - 1/2) e^(phi N).
void plan_wide(Run& run, Index rows, const std::vector<Index>& inner, const std::vector<double>& phis,
               const std::vector<Method>& methods, bool native) {
  for (const double phi : phis)
    for (const Index k : inner)
      run.plan(rows * rows * k, [=](Run& now) {
        const Recipe recipe{Family::wide_exponents, rows, rows, k, phi, now.options().seed};
        const Judged judged(generate(recipe), generate_command(recipe));
        now.measure(judged, k, methods, native);
      });
}

std::vector<Method> ootomo_methods() { return {{"INT8x9", "ozimmu", 9}, {"INT8x11", "ozimmu", 11}, {"INT8x13", "ozimmu", 13}}; }

std::string phi_title(double phi) { return fmt::format("φ = {}", phi); }

bool is(const StudyMeasurement& one, const std::string& method, double phi) { return one.method == method && one.phi == phi; }

}  // namespace

Study ootomo_fig6(const StudyOptions& options, const StudyContext& context) {
  const std::vector<double> phis{0.1, 1, 2, 4};
  const auto methods = ootomo_methods();
  Run run("ootomo-fig6", options, context);
  const auto inner = sizes(128, 8192, 2, options.scale);
  plan_wide(run, scaled(64, options.scale, 2), inner, phis, methods, true);
  run.measure_all();
  Figure against_phi(run.study(), over_phi(Measure::average));
  for (const Index k : {inner.front(), inner.back()})
    against_phi.add_methods(fmt::format("inner dimension {}", k), [=](const auto& one) { return one.k == k; });
  Figure figure(run.study(), over_inner_dimension(Measure::average));
  for (const double phi : phis) figure.add_methods(phi_title(phi), [=](const auto& one) { return one.phi == phi; });
  for (const double phi : phis)
    for (const std::string method : {"INT8x9", "INT8x11", "INT8x13", "DGEMM"})
      figure.add_bounds(phi_title(phi) + ", " + method, [=](const auto& one) { return is(one, method, phi); });
  return run.study();
}

Study ootomo_fig7(const StudyOptions& options, const StudyContext& context) {
  Run run("ootomo-fig7", options, context);
  for (const Index n : sizes(32, 512, 2, options.scale))
    run.plan(n * n * n, [n](Run& now) {
      RandomStream random(now.options().seed);
      Problem problem{{}, Matrix<double>(n, n), {}};
      for (Index t = 0; t < n * n; ++t) problem.a.data()[t] = random.normal();
      problem.b = gauss_jordan_inverse(problem.a);
      const Judged judged(std::move(problem),
                          fmt::format("A: {0} x {0}, normal, seed {1}; B: its inverse", n, now.options().seed));
      now.measure(judged, n, ootomo_methods(), true);
    });
  run.measure_all();
  Figure figure(run.study(), over_inner_dimension(Measure::average));
  figure.add_methods("A A†", [](const auto&) { return true; });
  for (const std::string method : {"INT8x9", "INT8x11", "INT8x13", "DGEMM"})
    figure.add_bounds("A A†, " + method, [=](const auto& one) { return one.method == method; });
  return run.study();
}

namespace {

constexpr Index uchino_rows = 12, shortest_inner = 1024, longest_inner = Index{1} << 18;
const std::vector<double> uchino_phis{0, 1, 2, 4};

/// Bounds are drawn against the number of slices at this inner dimension, methods against the inner dimension with this number
/// of slices.
constexpr Index drawn_inner = 4096;
constexpr int drawn_slices = 8;

}  // namespace

Study uchino_fig1(const StudyOptions& options, const StudyContext& context) {
  std::vector<Method> methods;
  for (int slices = 4; slices <= 11; ++slices) methods.push_back({fmt::format("ozIMMU-{}", slices), "ozimmu", slices});
  Run run("uchino-fig1", options, context);
  plan_wide(run, scaled(uchino_rows, options.scale, 2), sizes(shortest_inner, longest_inner, 4, options.scale), uchino_phis,
            methods, true);
  run.measure_all();
  Figure figure(run.study(), over_inner_dimension(Measure::largest));
  for (const double phi : uchino_phis) figure.add_methods(phi_title(phi), [=](const auto& one) { return one.phi == phi; });
  Figure bounds(run.study(), over_slices(Measure::largest));
  for (const double phi : uchino_phis)
    bounds.add_bounds(fmt::format("{}, inner dimension {}", phi_title(phi), drawn_inner),
                      [=](const auto& one) { return one.phi == phi && one.k == drawn_inner && one.slices > 0; });
  return run.study();
}

namespace {

/// A method of Uchino, Ozaki, Imamura: its name in the paper, and its scheme.
using Named = std::pair<std::string, std::string>;

const std::vector<Named> uchino_methods{
    {"ozIMMU", "ozimmu"}, {"ozIMMU_RN", "ozimmu-rn"}, {"ozIMMU_EF", "ozimmu-ef"}, {"ozIMMU_H", "ozimmu-h"}};

}  // namespace

Study uchino_fig5(const StudyOptions& options, const StudyContext& context) {
  std::vector<Method> methods;
  for (const auto& [name, scheme] : uchino_methods)
    for (int slices = 7; slices <= 11; ++slices) methods.push_back({fmt::format("{}-{}", name, slices), scheme, slices});
  Run run("uchino-fig5", options, context);
  plan_wide(run, scaled(uchino_rows, options.scale, 2), sizes(shortest_inner, longest_inner, 4, options.scale), uchino_phis,
            methods, true);
  run.measure_all();
  Figure figure(run.study(), over_inner_dimension(Measure::largest));
  for (const double phi : uchino_phis)
    figure.add_methods(fmt::format("{}, {} slices", phi_title(phi), drawn_slices),
                       [=](const auto& one) { return one.phi == phi && (one.slices == drawn_slices || one.slices == 0); });
  Figure bounds(run.study(), over_slices(Measure::largest));
  for (const double phi : uchino_phis)
    bounds.add_methods(
        fmt::format("{}, inner dimension {}", phi_title(phi), drawn_inner),
        [=](const auto& one) { return one.phi == phi && one.k == drawn_inner && one.slices > 0; },
        [](const auto& one) { return one.method.substr(0, one.method.find('-')); });
  for (const double phi : uchino_phis)
    for (const auto& [name, scheme] : uchino_methods) {
      const auto prefix = name + "-";
      bounds.add_bounds(fmt::format("{}, {}, inner dimension {}", phi_title(phi), name, drawn_inner), [=](const auto& one) {
        return one.phi == phi && one.k == drawn_inner && one.method.starts_with(prefix);
      });
    }
  return run.study();
}

namespace {

/// Adds a bound for one method's products over the measured error, both averaged, relative to |c|.
void add_pessimism(Study& study, const std::string& plot, const std::string& method, const std::string& bound,
                   const std::string& label) {
  Series series{
      .plot = plot, .label = label, .x_axis = "φ", .y_axis = "bound / error", .log_x = false, .log_y = true, .points = {}};
  for (const auto& one : study.measurements)
    for (const auto& claim : one.claims)
      if (one.method == method && claim.name == bound)
        series.points.emplace_back(one.phi, claim.average_relative / one.average_relative);
  study.series.push_back(std::move(series));
}

}  // namespace

Study kappa(const StudyOptions& options, const StudyContext& context) {
  std::vector<double> phis;
  for (int step = 0; step <= 16; ++step) phis.push_back(step / 4.0);
  std::vector<Method> methods;
  for (const int slices : {5, 9}) {
    methods.push_back({fmt::format("every pair, {} slices", slices), "abdelfattah", slices});
    methods.push_back({fmt::format("triangle, {} slices", slices), "ozimmu-paper", slices});
  }
  Run run("kappa", options, context);
  plan_wide(run, scaled(48, options.scale, 2), {scaled(1024, options.scale, 16)}, phis, methods, false);
  run.measure_all();
  for (const int slices : {5, 9}) {
    const auto plot = fmt::format("{} slices", slices);
    const auto every = fmt::format("every pair, {} slices", slices), triangle = fmt::format("triangle, {} slices", slices);
    add_pessimism(run.study(), plot, every, "abdelfattah", "κ (Abdelfattah), every pair");
    add_pessimism(run.study(), plot, every, "plan-error", "ours, every pair");
    add_pessimism(run.study(), plot, triangle, "uchino-total", "Uchino, triangle");
    add_pessimism(run.study(), plot, triangle, "plan-error", "ours, triangle");
  }
  return run.study();
}

}  // namespace ozbound::study
