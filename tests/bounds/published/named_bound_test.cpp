// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/named_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bounds/published/entry_errors.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::named_bound_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Plans of every encoding, product set and accumulation, with some for each bound.
const std::vector<SplitPlan>& plans() {
  static const auto all = [] {
    std::vector<SplitPlan> parsed;
    for (const char* text :
         {"truncated7:1x1:cut=2:per_product",        "truncated7:2x2:cut=3:per_product", "truncated7:8x8:cut=9:per_product",
          "truncated7:8x8:cut=9:per_diagonal",       "truncated7:4x4:cut=5:exact",       "truncated3:20x20:cut=21:per_product",
          "truncated3:20x20:cut=21:per_diagonal",    "nearest7:1x1:cut=2:per_diagonal",  "nearest7:3x3:cut=4:per_product",
          "nearest7:8x8:cut=9:per_product",          "nearest7:8x8:cut=9:per_diagonal",  "nearest4:20x20:cut=21:per_product",
          "ozimmu7:8x8:cut=9:per_product",           "ozimmu7:3x3:cut=4:per_diagonal",   "truncated7:7x8:full:per_product",
          "truncated4:9x9:full:per_product",         "nearest7:8x6:full:per_product",    "truncated7,nearest7:2x3:full:exact",
          "nearest_adaptive7:8x8:cut=9:per_product", "balanced:3x4:cut=6:exact",         "balanced:7x7:cut=8:per_diagonal",
          "unsigned8:8x8:cut=9:per_diagonal",        "unsigned8,balanced:3x4:full:exact"})
      parsed.push_back(parse_plan(text).split());
    return parsed;
  }();
  return all;
}

/// How nearly each bound is attained, rounded down. docs/bounds.md has the same figures.
struct Slack {
  const char* name;
  double families;   ///< over all families and plans()
  const char* plan;  ///< the plan for `random`
  double random;     ///< uniform data with inner dimension 1024
};

constexpr const char* by_product = "truncated7:8x8:cut=9:per_product";
constexpr const char* by_diagonal = "truncated7:8x8:cut=9:per_diagonal";
constexpr const char* every_pair = "truncated7:5x5:full:per_product";

constexpr Slack slack[] = {
    {"a-priori", 0.99, by_product, 0.01},
    {"a-posteriori", 0.99, by_product, 0.05},
    {"accumulation", 0.27, by_diagonal, 0.006},
    {"plan-error", 0.99, by_diagonal, 0.009},
    {"uchino-truncation", 0.99, by_product, 0.01},
    {"uchino-released-truncation", 0.99, "ozimmu7:8x8:cut=9:per_product", 0.01},
    {"uchino-accumulation", 0.25, by_product, 0.005},
    {"uchino-refined-accumulation", 0.64, by_diagonal, 0.01},
    {"uchino-groups", 0.2, by_diagonal, 0.008},
    {"uchino-groups-exact", 0.2, by_diagonal, 0.008},
    {"uchino-total", 0.99, by_diagonal, 0.01},
    {"uchino-groups-total", 0.99, by_diagonal, 0.008},
    {"abdelfattah-truncation", 0.79, every_pair, 0.00002},
    {"abdelfattah", 0.79, every_pair, 0.00002},
};

TEST(NamedBound, NamesAndSourcesAreDistinctAndFound) {
  std::set<std::string> names;
  for (const auto& bound : all_bounds()) {
    EXPECT_TRUE(names.insert(bound.name).second) << bound.name;
    EXPECT_FALSE(bound.source.empty()) << bound.name;
    EXPECT_EQ(&find_bound(bound.name), &bound);
  }
  EXPECT_THAT([] { find_bound("kappa"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("'kappa' is none of a-priori, a-posteriori, accumulation")));
}

TEST(NamedBound, OursArePartsOfThePlansBound) {
  const auto plan = SplitPlan::balanced(3, 2, 4);
  const double x[] = {1.75, -0x1p-9, 3};
  const CpuEngine engine({.threads = 1});
  const BoundInputs inputs(row_major(x, 1, 3, 3), column_major(x, 3, 1, 3), plan, engine);
  const auto value = [&](const char* name) { return find_bound(name).upper(inputs).relative.upper(0, 0); };
  EXPECT_GE(value("a-priori"), truncation_a_priori_upper(plan, 3));
  EXPECT_LE(value("a-priori"), next_up(truncation_a_priori_upper(plan, 3)));
  EXPECT_EQ(value("a-posteriori"), truncation_a_posteriori_upper(inputs.rows, inputs.columns, plan).upper(0, 0));
}

TEST(NamedBound, RefusesPlansOutsideItsConditions) {
  const CpuEngine engine({.threads = 1});
  const auto one = test::single(1);
  for (const auto& bound : all_bounds()) {
    int refused = 0;
    for (const auto& plan : plans()) {
      const BoundInputs inputs(one, one, plan, engine);
      if (bound.covers(plan)) {
        EXPECT_NO_THROW(static_cast<void>(bound.value(inputs))) << bound.name;
        continue;
      }
      ++refused;
      EXPECT_THAT([&] { static_cast<void>(bound.value(inputs)); },
                  ThrowsMessage<std::invalid_argument>(
                      HasSubstr(bound.name + " does not cover " + to_string(plan) + ": it needs " + bound.conditions)));
    }
    const bool covers_all = bound.conditions == "any plan" || bound.bounded == Bounded::native;
    EXPECT_EQ(refused == 0, covers_all) << bound.name;
  }
}

TEST(NamedBound, RefusesOperandsThatDoNotFit) {
  const CpuEngine engine({.threads = 1});
  const Matrix<double> a(2, 3), b(4, 2);
  EXPECT_THAT([&] { BoundInputs(a, b, SplitPlan::balanced(1, 1, 2), engine); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("b must have a's inner dimension, 3 rows: 4")));
  auto bad = SplitPlan::balanced(1, 1, 2);
  bad.cut = 9;
  EXPECT_THROW(BoundInputs(a, Matrix<double>(3, 2), bad, engine), std::invalid_argument);
}

/// A total bound has one part relative to the scales and one part that is a multiple of |A||B|, and both agree with the part's
/// own bound.
TEST(NamedBound, TotalsAreTheirParts) {
  const auto plan = parse_plan("truncated7:8x8:cut=9:per_diagonal").split();
  const CpuEngine engine({.threads = 1});
  const auto x = test::single(1.3);
  const BoundInputs inputs(x, x, plan, engine);
  const auto value = [&](const char* name) { return find_bound(name).upper(inputs); };
  for (const auto& [total, part] :
       {std::pair{"uchino-total", "uchino-refined-accumulation"}, std::pair{"uchino-groups-total", "uchino-groups"}}) {
    EXPECT_EQ(value(total).relative.upper(0, 0), value("uchino-truncation").relative.upper(0, 0));
    EXPECT_EQ(value(total).multiple, value(part).multiple);
  }
}

/// The largest ratio of error to bound, over every family and every plan, is at most 1 and at least the recorded figure.
TEST(NamedBound, HoldsAndIsAttainedOverTheFamilies) {
  std::map<std::string, double> attained;
  for (const Family family : all_families())
    for (const double phi : {0.0, 1.0, 4.0})
      for (const Index k : {1, 9}) {
        const auto problem = generate({family, 3, 3, k, phi, static_cast<std::uint64_t>(k)});
        for (const auto& plan : plans()) {
          const test::PlannedProduct product(problem.a, problem.b, plan);
          for (const auto& bound : all_bounds()) {
            if (bound.bounded == Bounded::native || !bound.covers(plan)) continue;
            const double ratio = product.worst_ratio(bound);
            EXPECT_LE(ratio, 1) << bound.name << ", " << to_string(plan) << ", " << generate_command(problem.recipe);
            attained[bound.name] = std::max(attained[bound.name], ratio);
          }
        }
      }
  for (const auto& bound : slack) EXPECT_GE(attained[bound.name], bound.families) << bound.name;
  EXPECT_EQ(attained.size(), std::size(slack));
}

/// On random data, bounds stay as far above the error as recorded: about sqrt(k) for norms, k for scales, and the range of the
/// elements for kappa.
TEST(NamedBound, IsAttainedToThisOnRandomData) {
  const auto problem = generate({Family::uniform, 4, 4, 1024, 0, 1});
  for (const auto& [name, families, plan, random] : slack) {
    const double attained = test::PlannedProduct(problem.a, problem.b, parse_plan(plan).split()).worst_ratio(find_bound(name));
    EXPECT_GE(attained, random) << name;
    EXPECT_LT(attained, 3 * random) << name;
  }
}

TEST(NamedBound, EachIsInTheDocs) {
  std::ifstream page(OZBOUND_DOCS "/bounds.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (const auto& bound : all_bounds()) EXPECT_THAT(text, HasSubstr("| `" + bound.name + "` |"));
}

}  // namespace
}  // namespace ozbound::named_bound_test
