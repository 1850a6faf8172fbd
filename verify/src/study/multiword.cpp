#include "ozbound/verify/models/multiword.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "ozbound/verify/exact_oracle.hpp"
#include "study/figure.hpp"
#include "study/kinds.hpp"
#include "study/sizes.hpp"

namespace ozbound::study {
namespace {

using models::Multiword;
using models::MultiwordBounds;
using models::Rounding;
using models::TensorCore;
using models::WordProducts;

/// A problem rounded to binary32, once as the models take it and once as the oracle does.
struct Rounded {
  Problem exact;
  Matrix<float> a, b;
  std::string data;
};

Matrix<float> round_elements(Matrix<double>& matrix) {
  Matrix<float> narrow(matrix.rows(), matrix.cols());
  for (Index t = 0; t < matrix.rows() * matrix.cols(); ++t)
    matrix.data()[t] = narrow.data()[t] = models::round_to(models::binary32_word, matrix.data()[t]);
  return narrow;
}

Rounded rounded_problem(const Recipe& recipe) {
  Rounded rounded{generate(recipe), {}, {}, generate_command(recipe) + ", rounded to binary32"};
  rounded.a = round_elements(rounded.exact.a);
  rounded.b = round_elements(rounded.exact.b);
  return rounded;
}

/// One bound of a product, entry by entry.
struct Claim {
  std::string name;
  bool rigorous;
  std::function<Magnitude(Index, Index, const OracleEntry&)> upper;
};

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

/// Every entry of C, by every claim.
StudyMeasurement judge(const Matrix<float>& c, const Rounded& problem, const std::vector<Claim>& claims) {
  const ExactOracle oracle(problem.exact);
  const auto entries = static_cast<double>(c.rows() * c.cols());
  StudyMeasurement result;
  result.data = problem.data;
  result.k = problem.a.cols();
  result.claims.resize(claims.size());
  for (std::size_t t = 0; t < claims.size(); ++t) {
    result.claims[t].name = claims[t].name;
    result.claims[t].rigorous = claims[t].rigorous;
  }
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto entry = oracle.evaluate(i, j, static_cast<double>(c(i, j)), ResultFormat::binary32);
      add(result, entry, entries);
      for (std::size_t t = 0; t < claims.size(); ++t) add(result.claims[t], claims[t].upper(i, j, entry), entry, entries, i, j);
    }
  return result;
}

/// Conventional binary32: k u |A||B| is of any order of summation (Jeannerod, Rump); products do not underflow here.
StudyMeasurement measure_binary32(const Rounded& problem) {
  const auto bound = [k = problem.a.cols()](Index, Index, const OracleEntry& entry) {
    return multiply_upper(Magnitude::of(static_cast<double>(k) * 0x1p-24), entry.scale_upper);
  };
  auto result =
      judge(gemm(TensorCore::nearest(), problem.a.view(), problem.b.view()), problem, {{"jeannerod-rump", true, bound}});
  result.method = "binary32";
  result.plan = "binary32: fused multiply-adds";
  return result;
}

struct Method {
  std::string label, unit;
  Multiword multiword;
};

/// The same unit, but for its rounding and its extra bits.
std::vector<Method> methods() {
  constexpr TensorCore nearest{4, 24, Rounding::nearest_even, Rounding::nearest_even};
  const auto with = [](const models::WordFormat& format, int words, const TensorCore& unit) {
    return Multiword{format, words, WordProducts::all, unit};
  };
  const auto &half = models::binary16_word, &brain = models::bfloat16_word;
  return {{"binary16x2, truncating", "terms=4:width=24:toward_zero", with(half, 2, TensorCore::truncating(4))},
          {"binary16x2, truncating, 2 extra bits", "terms=4:width=26:toward_zero", with(half, 2, TensorCore::truncating(4, 2))},
          {"binary16x2, to nearest", "terms=4:width=24:nearest_even", with(half, 2, nearest)},
          {"bfloat16x3, truncating", "terms=4:width=24:toward_zero", with(brain, 3, TensorCore::truncating(4))},
          {"bfloat16x3, to nearest", "terms=4:width=24:nearest_even", with(brain, 3, nearest)}};
}

StudyMeasurement measure(const Method& method, const Rounded& problem) {
  const auto& multiword = method.multiword;
  const auto limits = models::bounds(multiword, problem.a.view(), problem.b.view());
  auto result = judge(multiply(multiword, problem.a.view(), problem.b.view()), problem,
                      {{"multiword", true, [&](Index i, Index j, const auto&) { return limits.upper(i, j); }},
                       {"abdelfattah-(4)", false, [&](Index i, Index j, const auto&) { return limits.printed(i, j); }}});
  result.method = method.label;
  result.plan = fmt::format("{}x{}:all:{}", multiword.format.name, multiword.words, method.unit);
  result.slices = multiword.words;
  return result;
}

struct Interval {
  std::string title;
  Family family;
};

}  // namespace

Study multiword(const StudyOptions& options, const StudyContext& context) {
  const std::vector<Interval> intervals{{"(0, 1]", Family::uniform_positive}, {"(-1, 1)", Family::uniform}};
  const auto inner = sizes(128, 8192, 2, options.scale);
  const Index rows = scaled(16, options.scale, 2);
  Study study{.name = "multiword", .options = options, .measurements = {}, .series = {}};
  double done = 0;
  const double total = static_cast<double>(intervals.size() * inner.size());
  for (const auto& [title, family] : intervals) {
    for (const Index k : inner) {
      const auto problem = rounded_problem({family, rows, rows, k, 0, options.seed});
      study.measurements.push_back(measure_binary32(problem));
      for (const auto& method : methods()) study.measurements.push_back(measure(method, problem));
      if (context.progress) context.progress(++done / total);
    }
    const auto here = [start = fmt::format("ozbound generate {} ", name(family))](const StudyMeasurement& one) {
      return one.data.starts_with(start);
    };
    Figure figure(study, over_inner_dimension(Measure::average));
    figure.add_methods(title, here);
    for (const auto& method : methods())
      figure.add_bounds(title + ", " + method.label, [&](const auto& one) { return here(one) && one.method == method.label; });
  }
  return study;
}

}  // namespace ozbound::study
