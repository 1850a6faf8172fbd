// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "ozbound/verify/measurement.hpp"
#include "ozbound/verify/problem.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "parts.hpp"
#include "snippet.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

using Points = std::vector<std::pair<double, double>>;

/// The point with the largest f(n) / n.
std::pair<double, double> worst_of(const Points& points) {
  return *std::max_element(points.begin(), points.end(),
                           [](const auto& p, const auto& q) { return p.second / p.first < q.second / q.first; });
}

constexpr double infinity = std::numeric_limits<double>::infinity();

// Criterion A

/// A and B of a size, the same in every call.
Problem growth_problem(Index n, std::uint64_t seed) {
  return generate({.family = Family::uniform_positive, .m = n, .n = n, .k = n, .phi = 0, .seed = seed});
}

/// The smallest f with |C^ - AB| <= f u |A||B|, rounded upward, for A and B ~ U(0, 1) of size n.
double growth(const ForeignGemm& gemm, Index n, std::uint64_t seed) {
  const auto problem = growth_problem(n, seed);
  const ExactOracle oracle(problem);
  double factor = 0;
  for (const auto& [storage, c] : products(gemm, operands(problem))) {
    const auto measured = measure(c, oracle);
    factor = std::max(factor, measured.special_mismatches > 0 ? infinity : measured.componentwise_upper * 0x1p53);
  }
  return factor;
}

Points growths(const ForeignGemm& gemm, const GradeOptions& options) {
  Points points;
  for (Index n = 16; n <= (options.quick ? 128 : 1024); n *= 2)
    points.emplace_back(static_cast<double>(n), growth(gemm, n, options.seed));
  return points;
}

/// The least-squares line through (log x, log y), and the standard error of its slope.
struct LogFit {
  double slope, standard_error;
};

/// Omits points with y = 0. NaN if a y is infinite.
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
  if (logs.size() < 3) return {0, 0};  // products are exact: errors do not grow
  const double slope = xy / xx;
  return {slope, std::sqrt(std::max(0.0, (yy - slope * xy) / ((count - 2) * xx)))};
}

std::string list(const Points& points) {
  std::string text;
  for (const auto& [n, f] : points) text += fmt::format("{}f({}) = {:.4g}", text.empty() ? "" : ", ", n, f);
  return text;
}

/// A slope beyond 1 does not exclude a linear f: errors may grow from almost nothing to those of conventional sums.
Outcome growth_outcome(const LogFit& fit, const Points& points) {
  if (fit.slope <= 1) return Outcome::pass;
  const bool linear = std::all_of(points.begin(), points.end(), [](const auto& point) { return point.second <= point.first; });
  return linear ? Outcome::differs : Outcome::fail;
}

/// For the size with the largest f(n) / n.
std::string growth_snippet(const ForeignGemm& gemm, const std::string& test, const Points& points, std::uint64_t seed) {
  const auto n = static_cast<Index>(worst_of(points).first);
  const auto problem = growth_problem(n, seed);
  return entry_snippet(gemm, test, operands(problem));
}

Finding slope_finding(const ForeignGemm& gemm, const Points& points, const GradeOptions& options) {
  const auto fit = fit_logarithms(points);
  Finding finding{
      .test = "demmel.criterion-a",
      .statement =
          "|C^ - AB| <= f(n) u |A||B| with f at most linear: A, B ~ U(0,1), the least-squares slope of "
          "log max |C^ - AB|_ij / (u (|A||B|)_ij) against log n is at most 1, or else f(n) <= n",
      .source = demmel_grading,
      .outcome = growth_outcome(fit, points),
      .detail = fmt::format("slope {:.3f}, standard error {:.3f}; {}; every entry against the exact product, seed {}",
                            fit.slope, fit.standard_error, list(points), options.seed),
      .values = {{"slope", fit.slope}, {"standard_error", fit.standard_error}}};
  for (const auto& [n, f] : points) finding.values.emplace_back(fmt::format("f({})", n), f);
  if (finding.outcome == Outcome::fail) finding.snippet = growth_snippet(gemm, finding.test, points, options.seed);
  return finding;
}

Finding linear_bound_finding(const ForeignGemm& gemm, const Points& points, const GradeOptions& options) {
  const auto worst = worst_of(points);
  const double ratio = worst.second / worst.first;
  Finding finding{.test = "demmel.criterion-a-constant",
                  .statement = "f(n) <= n for n = 16, 32, ...: |C^ - AB| <= n u |A||B|, A, B ~ U(0,1)",
                  .source = jeannerod_rump,
                  .outcome = ratio <= 1 ? Outcome::pass : Outcome::fail,
                  .detail = fmt::format("worst f(n)/n = {:.4g} at n = {}, f(n) = {:.4g}; reproduce A and B: {}", ratio,
                                        worst.first, worst.second,
                                        generate_command({.family = Family::uniform_positive,
                                                          .m = static_cast<Index>(worst.first),
                                                          .n = static_cast<Index>(worst.first),
                                                          .k = static_cast<Index>(worst.first),
                                                          .phi = 0,
                                                          .seed = options.seed})),
                  .values = {{"worst_ratio", ratio}, {"n", worst.first}, {"f", worst.second}}};
  if (finding.outcome == Outcome::fail) finding.snippet = growth_snippet(gemm, finding.test, points, options.seed);
  return finding;
}

void criterion_a(const ForeignGemm& gemm, const GradeOptions& options, Findings& found) {
  const auto points = growths(gemm, options);
  found.findings.push_back(slope_finding(gemm, points, options));
  found.findings.push_back(linear_bound_finding(gemm, points, options));
  Points line;
  for (const auto& point : points) line.emplace_back(point.first, point.first);
  const Series axes{"Criterion A: growth of the componentwise error", "", "n", "max |C^ - AB| / (u |A||B|)", true, true, {}};
  for (const auto& [label, data] : {std::pair{"library", points}, std::pair{"f(n) = n", line}}) {
    found.series.push_back(axes);
    found.series.back().label = label;
    found.series.back().points = data;
  }
}

// Strassen's exact zeros

/// A permutation of 0 … n - 1.
std::vector<Index> shuffled(RandomStream& random, Index n) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t t = order.size(); t > 1; --t) std::swap(order[t - 1], order[random.below(t)]);
  return order;
}

template <class Element>
Matrix<double> filled(Index rows, Index cols, Element element) {
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = element(i, j);
  return matrix;
}

/// A and B ~ N(0, 1) with n/2 entries of A B whose every product has a zero factor.
struct ZeroProblem {
  Matrix<double> a, b;
  std::vector<std::pair<Index, Index>> zeros;
};

ZeroProblem zero_problem(Index n, std::uint64_t seed) {
  RandomStream random(seed);
  const auto normal = [&](Index, Index) { return random.normal(); };
  ZeroProblem problem{filled(n, n, normal), filled(n, n, normal), {}};
  const auto rows = shuffled(random, n);
  const auto columns = shuffled(random, n);
  for (std::size_t t = 0; t < static_cast<std::size_t>(n / 2); ++t) {
    const auto order = shuffled(random, n);
    const auto split = 1 + random.below(static_cast<std::uint64_t>(n - 1));
    for (std::size_t l = 0; l < order.size(); ++l)
      (l < split ? problem.a(rows[t], order[l]) : problem.b(order[l], columns[t])) = 0;
    problem.zeros.emplace_back(rows[t], columns[t]);
  }
  return problem;
}

void expect_zeros(const ForeignGemm& gemm, Index n, std::uint64_t seed, Tally& tally) {
  const auto problem = zero_problem(n, seed);
  const Operands in{.a = problem.a.view(), .b = problem.b.view()};
  for (const auto& made : products(gemm, in)) {
    const auto& c = made.c;
    const auto wrong = [&](const auto& entry) { return c(entry.first, entry.second) != 0; };
    const auto first = std::find_if(problem.zeros.begin(), problem.zeros.end(), wrong);
    tally.expect(
        first == problem.zeros.end(),
        [&] {
          return fmt::format("n = {}, seed {}, {}: {} of {} zeros are missed, first C({}, {}) = {}", n, seed,
                             to_string(made.storage), std::count_if(problem.zeros.begin(), problem.zeros.end(), wrong),
                             problem.zeros.size(), first->first, first->second, hex_text(c(first->first, first->second)));
        },
        [&](const std::string& test) { return entry_snippet(gemm, test, in, made.storage); });
  }
}

Finding strassen(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally tally({"demmel.strassen",
               "A, B ~ N(0,1), n/2 random pairs (i, j), a random split S of the inner index: A(i, S) = 0 and B(S^c, j) = 0 "
               "imply C(i, j) = 0 exactly",
               demmel_grading});
  const std::uint64_t seeds = options.quick ? 1 : 4;
  for (Index n = 16; n <= (options.quick ? 128 : 1024); n *= 2)
    for (std::uint64_t t = 0; t < seeds; ++t) expect_zeros(gemm, n, options.seed + t, tally);
  return tally.finding(tally.clean() ? ""
                                     : "as if sums of several elements were multiplied: Strassen and other fast methods do so");
}

// Fixed-point arithmetic

/// The exponent at step i of n, which fall from e_max to -e_max.
int falling_exponent(int e_max, Index i, Index n) {
  const double step = 2.0 * e_max / static_cast<double>(n - 1);
  return e_max - static_cast<int>(static_cast<double>(i) * step);
}

/// A(i, j) = y[(i + j) mod n], B(i, j) = z[(i + j) mod n], with y = x D, z = x / D, x ~ U(1, 2), and D from 2^e_max to
/// 2^-e_max.
Problem fixed_point_problem(Index n, int e_max, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<double> y, z;
  for (Index i = 0; i < n; ++i) {
    const double x = 1 + random.positive_unit();
    y.push_back(std::ldexp(x, falling_exponent(e_max, i, n)));
    z.push_back(std::ldexp(x, -falling_exponent(e_max, i, n)));
  }
  const auto circulant = [n](const std::vector<double>& line) {
    return filled(n, n, [&](Index i, Index j) { return line[static_cast<std::size_t>((i + j) % n)]; });
  };
  return {{}, circulant(y), circulant(z)};
}

struct SweepPoint {
  int b;
  Conventional judged;
};

std::vector<SweepPoint> sweep(const ForeignGemm& gemm, const GradeOptions& options, Index n) {
  std::vector<SweepPoint> points;
  for (int b = 0; b <= 128; b = b == 0 ? 1 : 2 * b) {
    const auto problem = fixed_point_problem(n, b, options.seed);
    const ExactOracle oracle(problem);
    std::optional<Conventional> worst;
    for (const auto& [storage, c] : products(gemm, operands(problem)))
      if (const auto judged = judge_conventional(c, oracle); !worst || judged.ratio > worst->ratio) worst = judged;
    points.push_back({b, *worst});
  }
  return points;
}

/// The largest b such that every point up to b holds; -1 if none does.
int pass_limit(const std::vector<SweepPoint>& points) {
  int limit = -1;
  for (const auto& point : points) {
    if (!point.judged.holds()) break;
    limit = point.b;
  }
  return limit;
}

std::string in_words(int limit, const std::vector<SweepPoint>& points) {
  if (limit == points.back().b)
    return fmt::format("holds up to b = {}, {} bits: no fixed-point limit found", limit, 2 * limit + 53);
  const auto first = std::find_if(points.begin(), points.end(), [](const auto& p) { return !p.judged.holds(); });
  const auto width = limit < 0 ? std::string("fails already at b = 0, where 53 bits are needed")
                               : fmt::format("holds up to b = {}, {} bits", limit, 2 * limit + 53);
  return fmt::format("{}; b = {}: {}", width, first->b, explain(first->judged));
}

void fixed_point(const ForeignGemm& gemm, const GradeOptions& options, Findings& found) {
  const Index n = options.quick ? 64 : 128;
  const auto points = sweep(gemm, options, n);
  const int limit = pass_limit(points);
  Finding finding{.test = "demmel.fixed-point",
                  .statement =
                      "x ~ U(1,2), D_i = 2^(b - int(2 b i/(n-1))), y = x D, z = x / D, A(i,j) = y[(i+j) mod n], "
                      "B(i,j) = z[(i+j) mod n]: |C^ - AB| <= n u |A||B| for b = 0, 1, 2, 4, ..., 128; a fixed-point "
                      "format needs 2b + 53 bits",
                  .source = demmel_grading,
                  .outcome = limit == points.back().b ? Outcome::pass : Outcome::fail,
                  .detail = fmt::format("n = {}, seed {}: {}", n, options.seed, in_words(limit, points)),
                  .values = {{"pass_limit_b", limit}, {"bits", limit < 0 ? 0 : 2 * limit + 53}}};
  if (finding.outcome == Outcome::fail) {
    const auto first = std::find_if(points.begin(), points.end(), [](const auto& p) { return !p.judged.holds(); });
    const auto problem = fixed_point_problem(n, first->b, options.seed);
    finding.snippet = entry_snippet(gemm, finding.test, operands(problem));
  }
  Series series{
      "Fixed-point test: error over the exponent range", "library", "b", "max |C^ - AB| / (n u |A||B|)", false, true, {}};
  for (const auto& [b, judged] : points) {
    finding.values.emplace_back(fmt::format("ratio(b={})", b), judged.ratio);
    series.points.emplace_back(b, judged.ratio);
  }
  found.findings.push_back(finding);
  found.series.push_back(series);
  series.label = "what conventional summation guarantees";
  for (auto& [b, ratio] : series.points) ratio = 1;
  found.series.push_back(series);
}

/// A = U(1, 2) D, B = D^-1 U(1, 2), where D repeats n0 shuffled powers of two from 2^e_max to 2^-e_max. The last row of A and
/// the last column of B are 2^e_max U(1, 2).
Problem fixed_point_strassen_problem(Index n, Index n0, int e_max, std::uint64_t seed) {
  RandomStream random(seed);
  const auto order = shuffled(random, n0);
  const auto exponent = [&](Index l) { return falling_exponent(e_max, order[static_cast<std::size_t>(l % n0)], n0); };
  const auto element = [&](int scale) { return std::ldexp(1 + random.positive_unit(), scale); };
  auto a = filled(n, n, [&](Index i, Index l) { return element(i == n - 1 ? e_max : exponent(l)); });
  return {{}, std::move(a), filled(n, n, [&](Index l, Index j) { return element(j == n - 1 ? e_max : -exponent(l)); })};
}

Finding fixed_point_strassen(const ForeignGemm& gemm, const GradeOptions& options) {
  const Index n = options.quick ? 64 : 256;
  const int e_max = 510 - static_cast<int>(std::log2(n));  // the largest entry stays below 2^1022
  Tally tally(
      {"demmel.fixed-point-strassen",
       "A = U(1,2) D, B = D^-1 U(1,2), D: n0 shuffled powers of two from 2^e to 2^-e, repeated, e = 510 - log2 n; last row "
       "of A and last column of B = 2^e U(1,2): |C^ - AB| <= n u |A||B| in the leading (n0-1) x (n0-1) block",
       demmel_grading});
  for (Index n0 = 16; n0 <= n; n0 *= 2) {
    const auto problem = fixed_point_strassen_problem(n, n0, e_max, options.seed);
    const ExactOracle leading({.a = problem.a.view().block(0, 0, n0 - 1, n), .b = problem.b.view().block(0, 0, n, n0 - 1)});
    for (const auto& [storage, c] : products(gemm, operands(problem))) {
      const auto judged = judge_conventional(c.view().block(0, 0, n0 - 1, n0 - 1), leading);
      tally.expect(
          judged.holds(), [&, &lay = storage] { return fmt::format("n0 = {}, {}: {}", n0, to_string(lay), explain(judged)); },
          [&, &lay = storage](const std::string& test) { return entry_snippet(gemm, test, operands(problem), lay); });
    }
  }
  return tally.finding(fmt::format("n = {}, seed {}", n, options.seed));
}

}  // namespace

Findings grade_demmel(const ForeignGemm& gemm, const GradeOptions& options) {
  Findings found;
  criterion_a(gemm, options, found);
  found.findings.push_back(strassen(gemm, options));
  fixed_point(gemm, options, found);
  found.findings.push_back(fixed_point_strassen(gemm, options));
  return found;
}

}  // namespace ozbound::grading
