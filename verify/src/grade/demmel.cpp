#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/measurement.hpp"
#include "ozbound/verify/problem.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "parts.hpp"
#include "stored_call.hpp"

namespace ozbound::grading {
namespace {

using Points = std::vector<std::pair<double, double>>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Criterion A

/// The smallest f with |C^ - AB| <= f u |A||B|, rounded upward, for A and B ~ U(0, 1) of size n.
double growth(const ForeignGemm& gemm, Index n, std::uint64_t seed) {
  const auto problem = generate({.family = Family::uniform_positive, .m = n, .n = n, .k = n, .phi = 0, .seed = seed});
  const ExactOracle oracle(problem);
  const auto measured = measure(product(gemm, operands(problem)), oracle);
  return measured.special_mismatches > 0 ? infinity : measured.componentwise_upper * 0x1p53;
}

Points growths(const ForeignGemm& gemm, const GradeOptions& options) {
  Points points;
  for (Index n = 16; n <= (options.quick ? 256 : 1024); n *= 2)
    points.emplace_back(static_cast<double>(n), growth(gemm, n, options.seed));
  return points;
}

/// The least-squares line through (log x, log y), and the standard error of its slope.
struct LogFit {
  double slope, standard_error;
};

/// Points with y = 0 are left out. NaN where a y is infinite.
LogFit fit_logarithms(const Points& points) {
  Points logs;
  for (const auto& [x, y] : points)
    if (y > 0) logs.emplace_back(std::log(x), std::log(y));
  const auto count = static_cast<double>(logs.size());
  double x_mean = 0, y_mean = 0;
  for (const auto& [x, y] : logs) {
    x_mean += x / count;
    y_mean += y / count;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const auto& [x, y] : logs) {
    xx += (x - x_mean) * (x - x_mean);
    xy += (x - x_mean) * (y - y_mean);
    yy += (y - y_mean) * (y - y_mean);
  }
  if (logs.size() < 3) return {0, 0};  // exact products: nothing grows
  const double slope = xy / xx;
  return {slope, std::sqrt(std::max(0.0, (yy - slope * xy) / ((count - 2) * xx)))};
}

std::string list(const Points& points) {
  std::string text;
  for (const auto& [n, f] : points) text += fmt::format("{}f({}) = {:.4g}", text.empty() ? "" : ", ", n, f);
  return text;
}

Finding slope_finding(const Points& points, const GradeOptions& options) {
  const auto fit = fit_logarithms(points);
  Finding finding{
      .test = "demmel.criterion-a",
      .statement =
          "|C^ - AB| <= f(n) u |A||B| with f at most linear: A, B ~ U(0,1), the least-squares slope of "
          "log max |C^ - AB|_ij / (u (|A||B|)_ij) against log n is at most 1",
      .source = demmel_grading,
      .outcome = fit.slope <= 1 ? Outcome::pass : Outcome::fail,
      .detail = fmt::format("slope {:.3f}, standard error {:.3f}; {}; every entry against the exact product, seed {}",
                            fit.slope, fit.standard_error, list(points), options.seed),
      .values = {{"slope", fit.slope}, {"standard_error", fit.standard_error}}};
  for (const auto& [n, f] : points) finding.values.emplace_back(fmt::format("f({})", n), f);
  return finding;
}

Finding linear_bound_finding(const Points& points, const GradeOptions& options) {
  const auto worst = *std::max_element(points.begin(), points.end(),
                                       [](const auto& p, const auto& q) { return p.second / p.first < q.second / q.first; });
  const double ratio = worst.second / worst.first;
  return {.test = "demmel.criterion-a-constant",
          .statement = "f(n) <= n for n = 16, 32, ...: |C^ - AB| <= n u |A||B|, A, B ~ U(0,1)",
          .source = jeannerod_rump,
          .outcome = ratio <= 1 ? Outcome::pass : Outcome::fail,
          .detail = fmt::format("worst f(n)/n = {:.4g} at n = {}, f(n) = {:.4g}; reproduce A and B: {}", ratio, worst.first,
                                worst.second,
                                generate_command({.family = Family::uniform_positive,
                                                  .m = static_cast<Index>(worst.first),
                                                  .n = static_cast<Index>(worst.first),
                                                  .k = static_cast<Index>(worst.first),
                                                  .phi = 0,
                                                  .seed = options.seed})),
          .values = {{"worst_ratio", ratio}, {"n", worst.first}, {"f", worst.second}}};
}

void criterion_a(const ForeignGemm& gemm, const GradeOptions& options, Findings& found) {
  const auto points = growths(gemm, options);
  found.findings.push_back(slope_finding(points, options));
  found.findings.push_back(linear_bound_finding(points, options));
  Points line;
  for (const auto& point : points) line.emplace_back(point.first, point.first);
  const Series axes{"Criterion A: growth of the componentwise error", "", "n", "max |C^ - AB| / (u |A||B|)", true, true, {}};
  for (const auto& [label, data] : {std::pair{"library", points}, std::pair{"f(n) = n", line}}) {
    found.series.push_back(axes);
    found.series.back().label = label;
    found.series.back().points = data;
  }
}

}  // namespace

Findings grade_demmel(const ForeignGemm& gemm, const GradeOptions& options) {
  Findings found;
  criterion_a(gemm, options, found);
  return found;
}

}  // namespace ozbound::grading
