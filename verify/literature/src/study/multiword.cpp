// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/literature/models/multiword.hpp"
#include "study/figure.hpp"
#include "study/kinds.hpp"
#include "study/model_product.hpp"
#include "study/sizes.hpp"

namespace ozbound::study {
namespace {

using models::Multiword;
using models::MultiwordBounds;
using models::Rounding;
using models::TensorCore;
using models::WordProducts;

struct Method {
  std::string label, unit;
  Multiword multiword;
};

/// Methods on one unit that differ in its rounding and its extra bits.
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

StudyMeasurement measure(const Method& method, const ModelProblem<float>& problem) {
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
      const auto problem = binary32_problem({family, rows, rows, k, 0, options.seed});
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
