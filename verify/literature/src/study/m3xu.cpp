// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/literature/models/m3xu.hpp"
#include "study/kinds.hpp"
#include "study/model_product.hpp"
#include "study/sizes.hpp"

namespace ozbound::study {
namespace {

namespace m3xu = models::m3xu;
using m3xu::Alignment;

/// Room for the four products of an instruction and the running sum, so that nothing wraps around.
constexpr int headroom = 3;

using Points = std::vector<std::pair<double, double>>;

std::string name_of(Alignment alignment) {
  return alignment == Alignment::leading ? "aligned by leading bits" : "aligned by exponent fields";
}

StudyMeasurement measure(const ModelProblem<float>& problem, int width, Alignment alignment) {
  const m3xu::Unit unit{.width = width, .headroom = headroom, .alignment = alignment};
  const auto product = m3xu::gemm(m3xu::Mode::fp32, unit, problem.exact.a.view(), problem.exact.b.view());
  Matrix<float> c(problem.a.rows(), problem.b.cols());
  for (Index t = 0; t < c.rows() * c.cols(); ++t) c.data()[t] = static_cast<float>(product.c.data()[t]);
  const auto k = problem.a.cols();
  std::vector<ModelClaim> claims{multiple_of_scale("binary32's k u", false, static_cast<double>(k) * 0x1p-24)};
  const auto bound = m3xu::error_bound_upper(m3xu::Mode::fp32, unit, k);
  claims.push_back({"m3xu-(M1)", true, [bound](Index, Index, const OracleEntry& entry) {
                      return add_upper(multiply_upper(Magnitude::of(bound.relative), entry.scale_upper),
                                       Magnitude::of(bound.underflow));
                    }});
  auto result = judge(c, problem, claims);
  result.method = fmt::format("{} bits, {}", width, name_of(alignment));
  result.plan =
      fmt::format("fp32:width={}:headroom={}:{}", width, headroom, alignment == Alignment::leading ? "leading" : "fields");
  return result;
}

/// Curves against the width, with (M1) beside them if it is finite.
class Curves {
 public:
  Curves(Study& study, std::string plot) : study_(study), plot_(std::move(plot)) {}

  void draw(const std::string& label, const Points& points, bool bound = false) {
    if (points.empty()) return;
    study_.series.push_back({.plot = plot_,
                             .label = label,
                             .x_axis = "bits of the register",
                             .y_axis = "average relative error",
                             .log_x = false,
                             .log_y = true,
                             .points = points,
                             .bound = bound});
  }

 private:
  Study& study_;
  std::string plot_;
};

void measure_all(Study& study, const std::string& plot, const ModelProblem<float>& problem) {
  Curves curves(study, plot);
  Points conventional, bounds;
  study.measurements.push_back(measure_binary32(problem));
  const double binary32 = study.measurements.back().average_relative;
  for (const auto alignment : {Alignment::leading, Alignment::fields}) {
    Points points;
    for (int width = 24; width <= 60; width += 3) {
      const auto one = measure(problem, width, alignment);
      points.emplace_back(width, one.average_relative);
      if (alignment == Alignment::leading) {
        conventional.emplace_back(width, binary32);
        for (const auto& claim : one.claims)
          if (claim.rigorous && std::isfinite(claim.average_relative)) bounds.emplace_back(width, claim.average_relative);
      }
      study.measurements.push_back(one);
    }
    curves.draw(name_of(alignment), points);
  }
  curves.draw("binary32", conventional);
  curves.draw("m3xu-(M1)", bounds, true);
}

}  // namespace

Study m3xu_width(const StudyOptions& options, const StudyContext& context) {
  Study study{.name = "m3xu", .options = options, .measurements = {}, .series = {}};
  const Index rows = scaled(8, options.scale, 2), inner = scaled(256, options.scale, 16);
  double done = 0;
  for (const double phi : {0.0, 1.0, 4.0}) {
    const Recipe recipe{Family::wide_exponents, rows, rows, inner, phi, options.seed};
    measure_all(study, fmt::format("φ = {}, inner dimension {}", phi, inner), binary32_problem(recipe));
    if (context.progress) context.progress(++done / 3);
  }
  return study;
}

}  // namespace ozbound::study
