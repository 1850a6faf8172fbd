// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/generators.hpp"

namespace ozbound::plan_test {
namespace {

constexpr Accumulation accumulations[] = {Accumulation::exact, Accumulation::per_product, Accumulation::per_diagonal};

SplitPlan plan_of(Encoding a, Encoding b, int slices_a, int slices_b, int cut,
                  Accumulation accumulation = Accumulation::exact) {
  return {{a, slices_a}, {b, slices_b}, cut, accumulation};
}

/// Any valid plan, from a seed.
SplitPlan sample_plan(test::RandomBits& random) {
  const auto encodings = all_encodings();
  const auto a = encodings[static_cast<std::size_t>(random.below(static_cast<int>(encodings.size())))];
  auto b = a;
  if (random.once_in(2)) b = case_sampling::of_radix(a.beta, random);
  const int slices_a = random.between(1, max_slices);
  const int slices_b = random.between(1, max_slices);
  const int cut = random.between(2, slices_a + slices_b);
  const auto accumulation = random.pick(accumulations);
  return plan_of(a, b, slices_a, slices_b, cut,
                 a.common_ratio() && b.common_ratio() ? accumulation : Accumulation::per_product);
}

template <class F>
void for_each_shape(F&& f) {
  for (int a = 1; a <= max_slices; ++a)
    for (int b = 1; b <= max_slices; ++b)
      for (int cut = 2; cut <= a + b; ++cut) f(a, b, cut);
}

/// The message with which parse_plan refuses a text; "" if it accepts it.
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_plan(text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

RC_GTEST_PROP(PlanTest, ReadsWhatItPrints, ()) {
  test::RandomBits random(*test::gen::seed());
  for (int i = 0; i < 20; ++i) {
    const auto plan = sample_plan(random);
    RC_ASSERT(parse_plan(to_string(plan)) == plan);
    RC_ASSERT(to_string(parse_plan(to_string(plan))) == to_string(plan));
  }
}

TEST(PlanTest, HasOneSpelling) {
  EXPECT_EQ(to_string(SplitPlan::balanced(7, 7, 8)), "balanced:7x7:cut=8:exact");
  EXPECT_EQ(to_string(SplitPlan::balanced(7, 7, 14)), "balanced:7x7:full:exact");
  EXPECT_EQ(to_string(plan_of(Encoding::truncated(7), Encoding::nearest(7), 8, 9, 17, Accumulation::per_diagonal)),
            "truncated7,nearest7:8x9:full:per_diagonal");
  EXPECT_EQ(to_string(plan_of(Encoding::nearest(3), Encoding::nearest(3), 1, 20, 2, Accumulation::per_product)),
            "nearest3:1x20:cut=2:per_product");
  EXPECT_EQ(parse_plan("balanced,balanced:7x7:cut=14:exact"), SplitPlan::balanced(7, 7, 14));
  EXPECT_EQ(parse_plan("balanced:20x1:cut=21:exact"), parse_plan("balanced:20x1:full:exact"));
  EXPECT_EQ(SplitPlan{}, SplitPlan::balanced(1, 1, 2));
  for (const auto accumulation : accumulations)
    EXPECT_EQ(parse_plan("balanced:1x1:full:" + to_string(accumulation)).split().accumulation, accumulation);
}

TEST(PlanTest, APlanOfSlicesIsWhatItsSplitPlanIs) {
  test::RandomBits random(7);
  for (int i = 0; i < 100; ++i) {
    const auto split = sample_plan(random), other = sample_plan(random);
    const Plan plan = split;
    EXPECT_EQ(plan.split(), split);
    EXPECT_EQ(plan.products(), split.products());
    EXPECT_EQ(plan, Plan(split));
    EXPECT_EQ(plan == other, split == other) << to_string(split) << " " << to_string(other);
    EXPECT_EQ(parse_plan(to_string(plan)), plan);
  }
}

TEST(PlanTest, IsVisitedByTheCaseOfItsKind) {
  struct OfNoPlan {};
  const Plan plan = SplitPlan::balanced(2, 3, 4);
  EXPECT_EQ(plan.visit([](const SplitPlan& slices) { return slices.cut; }, [](const ResiduePlan&) { return -1; }), 4);
  EXPECT_EQ(plan.visit([](const SplitPlan& slices) { return &slices; },
                       [](const ResiduePlan&) -> const SplitPlan* { return nullptr; }),
            &plan.split());
}

TEST(PlanTest, RefusalsNameThePart) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "plan: must read ENCODING[,ENCODING_B]:SAxSB:cut=G|full:ACCUMULATION: ''"},
      {"balanced:7x7:cut=8", "must read ENCODING"},
      {"balanced:7x7:cut=8:exact:", "must read ENCODING"},
      {"balanced,balanced,balanced:7x7:cut=8:exact", "at most two encodings"},
      {"unsigned7:7x7:cut=8:exact", "encoding must be"},
      {"balanced,:7x7:cut=8:exact", "encoding must be"},
      {",balanced:7x7:cut=8:exact", "encoding must be"},
      {"truncated8:7x7:cut=8:exact", "encoding must be"},
      {" balanced:7x7:cut=8:exact", "encoding must be"},
      {"balanced:7:cut=8:exact", "slice counts must read SAxSB"},
      {"balanced:7x7x7:cut=8:exact", "slice counts must read SAxSB"},
      {"balanced:x7:cut=8:exact", "s_A must be an integer"},
      {"balanced:7x:cut=8:exact", "s_B must be an integer"},
      {"balanced:07x7:cut=8:exact", "s_A must be an integer"},
      {"balanced:+7x7:cut=8:exact", "s_A must be an integer"},
      {"balanced:7x7.0:cut=8:exact", "s_B must be an integer"},
      {"balanced:7x99999999999999999999:cut=8:exact", "s_B must be an integer"},
      {"balanced:-7x7:cut=8:exact", "s_A is out of range"},
      {"balanced:7x2000000000:cut=8:exact", "s_B is out of range"},
      {"balanced:0x7:cut=2:exact", "slice counts must be 1 … 20: '0'"},
      {"balanced:7x0:cut=2:exact", "slice counts must be 1 … 20: '0'"},
      {"balanced:21x7:cut=8:exact", "slice counts must be 1 … 20: '21'"},
      {"balanced:7x21:cut=8:exact", "slice counts must be 1 … 20: '21'"},
      {"balanced:7x7:8:exact", "cut must read cut=G or full"},
      {"balanced:7x7:Full:exact", "cut must read cut=G or full"},
      {"balanced:7x7:cut=:exact", "cut must be an integer"},
      {"balanced:7x7:cut=8 :exact", "cut must be an integer"},
      {"balanced:7x7:cut=full:exact", "cut must be an integer"},
      {"balanced:7x7:cut=1:exact", "cut must be 2 … s_A + s_B = 14: '1'"},
      {"balanced:7x7:cut=0:exact", "cut must be 2 … s_A + s_B = 14: '0'"},
      {"balanced:7x7:cut=15:exact", "cut must be 2 … s_A + s_B = 14: '15'"},
      {"balanced:7x7:cut=8:", "accumulation must be"},
      {"balanced:7x7:cut=8:Exact", "accumulation must be"},
      {"balanced:7x7:cut=8:exact ", "accumulation must be"},
      {"balanced,truncated7:7x7:cut=8:exact", "both encodings must have one radix: 'balanced,truncated7'"},
      {"unsigned8,nearest7:7x7:cut=8:exact", "both encodings must have one radix: 'unsigned8,nearest7'"},
      {"nearest_adaptive7:7x7:cut=8:exact", "accumulation must be per_product for digits whose scale is found anew"},
      {"nearest7,nearest_adaptive7:7x7:cut=8:per_diagonal", "accumulation must be per_product"},
      {"nearest_adaptive8:7x7:cut=8:per_product", "encoding must be"},
      {"truncated6,nearest7:7x7:cut=8:exact", "both encodings must have one radix"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(refusal(text).find(part), std::string::npos) << text << ": " << refusal(text);
}

TEST(PlanTest, RefusesPlansBuiltByHand) {
  auto plan = SplitPlan::balanced(7, 7, 8);
  EXPECT_NO_THROW(plan.validate());
  const auto refuses = [&](auto&& change) {
    auto changed = plan;
    change(changed);
    EXPECT_THROW(changed.validate(), std::invalid_argument)
        << changed.a.slices << 'x' << changed.b.slices << " cut " << changed.cut;
    EXPECT_THROW(Plan(changed).validate(), std::invalid_argument);
  };
  refuses([](SplitPlan& p) { p.a.slices = 0; });
  refuses([](SplitPlan& p) { p.b.slices = -1; });
  refuses([](SplitPlan& p) { p.a.slices = 21; });
  refuses([](SplitPlan& p) { p.b.slices = 21; });
  refuses([](SplitPlan& p) { p.cut = 1; });
  refuses([](SplitPlan& p) { p.cut = 15; });
  refuses([](SplitPlan& p) { p.b.encoding = Encoding::nearest(7); });
  refuses([](SplitPlan& p) { p.a.encoding = p.b.encoding = {Encoding::Kind::truncated, 8}; });
  refuses([](SplitPlan& p) { p.a.encoding = p.b.encoding = {Encoding::Kind::nearest, 0}; });
  refuses([](SplitPlan& p) { p.a.encoding = p.b.encoding = {Encoding::Kind::balanced, 7}; });
  refuses([](SplitPlan& p) { p.a.encoding = p.b.encoding = {Encoding::Kind::unsigned8, 7}; });
  EXPECT_THROW(static_cast<void>(to_string(static_cast<Accumulation>(3))), std::invalid_argument);
}

/// Groups contain every pair with p + q <= cut once, in the promised order.
TEST(PlanTest, GroupsAreThePairsOfTheCut) {
  for_each_shape([](int a, int b, int cut) {
    std::set<std::pair<int, int>> pairs;
    for (int p = 1; p <= a; ++p)
      for (int q = 1; q <= b; ++q)
        if (p + q <= cut) pairs.insert({p, q});
    for (const auto accumulation : accumulations) {
      auto plan = SplitPlan::balanced(a, b, cut);
      plan.accumulation = accumulation;
      std::set<std::pair<int, int>> seen;
      std::vector<std::pair<int, int>> order;
      std::size_t total = 0;
      for (const auto& group : plan.groups(1)) {
        ASSERT_GE(group.pairs(), 1);
        if (accumulation == Accumulation::per_product) {
          ASSERT_EQ(group.pairs(), 1);
          order.emplace_back(group.first_a, group.diagonal - group.first_a);
        } else {
          order.emplace_back(group.diagonal, 0);
        }
        total += static_cast<std::size_t>(group.pairs());
        for (int p = group.first_a; p <= group.last_a; ++p) seen.insert({p, group.diagonal - p});
      }
      ASSERT_EQ(seen, pairs) << to_string(plan);
      ASSERT_EQ(total, pairs.size()) << to_string(plan);
      ASSERT_TRUE(std::is_sorted(order.begin(), order.end())) << to_string(plan);
      ASSERT_EQ(plan.products(), static_cast<int>(pairs.size())) << to_string(plan);
    }
    const auto plan = SplitPlan::balanced(a, b, cut);
    ASSERT_EQ(plan.groups(1 << 30).size(), static_cast<std::size_t>(cut - 1)) << to_string(plan);
    for (int p = 1; p <= a; ++p) {
      const auto count = std::count_if(pairs.begin(), pairs.end(), [p](const auto& pair) { return pair.first == p; });
      ASSERT_EQ(plan.last_b(p), count) << to_string(plan) << ' ' << p;
    }
  });
}

/// Diagonals come in order, each cut into runs of r pairs with a shorter last run; r is the 64-bit product of its definition.
TEST(PlanTest, DiagonalsAreCutIntoErrorFreeGroups) {
  for (const auto& encoding : {Encoding::truncated(7), Encoding::nearest(7), Encoding::balanced(), Encoding::truncated(1)})
    for (const Index k : {Index{0}, Index{1}, Index{6657}, Index{6658}, Index{16384}, Index{65535}, Index{65536}, Index{131072},
                          Index{262143}, Index{262144}, Index{1} << 31, Index{1} << 40}) {
      const auto plan = plan_of(encoding, encoding, 20, 7, 22, Accumulation::per_diagonal);
      const auto largest = k * encoding.digit_magnitude() * encoding.digit_magnitude();
      Index r = 1;
      while (r < max_slices && (r + 1) * largest <= 0x7fffffff) ++r;
      EXPECT_EQ(plan.error_free_pairs(k), r) << to_string(plan) << ' ' << k;
      std::vector<ProductGroup> expected;
      for (int g = 2; g <= 22; ++g)
        for (int p = std::max(1, g - 7); p <= std::min(20, g - 1); ++p) {
          const bool joins = !expected.empty() && expected.back().diagonal == g && expected.back().pairs() < r;
          if (joins)
            expected.back().last_a = p;
          else
            expected.push_back({g, p, p});
        }
      EXPECT_EQ(plan.groups(k), expected) << to_string(plan) << ' ' << k;
    }
}

TEST(PlanTest, CountsTheProductsOfTheTable) {
  EXPECT_EQ(SplitPlan::balanced(7, 7, 8).products(), 28);
  EXPECT_EQ(SplitPlan::balanced(8, 8, 9).products(), 36);
  EXPECT_EQ(SplitPlan::balanced(6, 6, 7).products(), 21);
  EXPECT_EQ(SplitPlan::balanced(7, 8, 9).products(), 35);
  EXPECT_EQ(SplitPlan::balanced(8, 9, 10).products(), 44);
  EXPECT_EQ(SplitPlan::balanced(9, 9, 10).products(), 45);
  EXPECT_EQ(SplitPlan::balanced(10, 10, 11).products(), 55);
  EXPECT_EQ(SplitPlan::balanced(11, 11, 13).products(), 76);
  EXPECT_EQ(SplitPlan::balanced(1, 7, 8).products(), 7);
  EXPECT_EQ(SplitPlan::balanced(20, 20, 40).products(), 400);
}

TEST(PlanTest, WeightOfADiagonalIsThatOfItsPairs) {
  const auto encodings = all_encodings();
  for (const auto& a : encodings)
    for (const auto& b : encodings) {
      if (a.radix_bits() != b.radix_bits()) continue;
      const auto plan = plan_of(a, b, 3, 4, 7);
      for (int p = 1; p <= 3; ++p)
        for (int q = 1; q <= 4; ++q)
          EXPECT_EQ(plan.weight_exponent(p + q), a.weight_exponent(p) + b.weight_exponent(q)) << to_string(plan);
    }
}

/// int32_terms() is the largest number of terms that INT32 holds: one more overflows.
TEST(PlanTest, Int32Terms) {
  const auto terms = [](Encoding a, Encoding b) { return plan_of(a, b, 1, 1, 2).int32_terms(); };
  EXPECT_EQ(terms(Encoding::balanced(), Encoding::balanced()), 131071);
  EXPECT_EQ(terms(Encoding::truncated(7), Encoding::truncated(7)), 133144);
  EXPECT_EQ(terms(Encoding::nearest(7), Encoding::nearest(7)), 524287);
  EXPECT_EQ(terms(Encoding::truncated(7), Encoding::nearest(7)), 264208);
  EXPECT_EQ(terms(Encoding::unsigned8(), Encoding::unsigned8()), 33025);
  EXPECT_EQ(terms(Encoding::unsigned8(), Encoding::balanced()), 65793);
  EXPECT_EQ(terms(Encoding::nearest(1), Encoding::truncated(1)), 2147483647);
  for (const auto& e : all_encodings()) {
    const Index product = Index{e.digit_magnitude()} * e.digit_magnitude();
    EXPECT_LE(terms(e, e) * product, 2147483647) << to_string(e);
    EXPECT_GT((terms(e, e) + 1) * product, 2147483647) << to_string(e);
  }
}

}  // namespace
}  // namespace ozbound::plan_test
