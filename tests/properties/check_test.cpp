// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "support/faulty_engine.hpp"
#include "support/temporary_directory.hpp"

namespace ozbound::check_test {
namespace {

using test::FaultyEngine;
using test::read_bytes;
using test::TemporaryDirectory;
using test::write_bytes;

CheckOptions options(const TemporaryDirectory& directory) {
  CheckOptions options;
  options.seconds = 30;
  options.cases = 300;
  options.seed = 4;
  options.store = directory / "cases";
  return options;
}

FaultyEngine faulty() {
  return test::flipping([](const SlicedMatrix& a, const SlicedMatrix&, const OutputView& c, Index i, Index j) {
    return a.inner_dimension() >= 3 && i == 1 && j + 1 == c.cols();
  });
}

/// A counterexample is shrunk to the least sizes that show the fault, stored, replayed first, and no longer reported once the
/// fault is fixed.
TEST(Check, FindsShrinksStoresAndReplays) {
  const TemporaryDirectory directory;
  const auto& property = find_property("rounded-once");
  const auto found = check(property, faulty(), options(directory));
  ASSERT_FALSE(found.holds());
  EXPECT_EQ(found.replayed, 0);
  const auto& shrunk = found.counterexample->gemm_case;
  EXPECT_EQ(shrunk.m(), 2);
  EXPECT_EQ(shrunk.n(), 1);
  EXPECT_EQ(shrunk.k(), 3);
  EXPECT_EQ(shrunk.plan,
            Plan(SplitPlan{{shrunk.plan.split().a.encoding, 1}, {shrunk.plan.split().b.encoding, 1}, 2, Accumulation::exact}));
  EXPECT_EQ(shrunk.alpha, 1);
  EXPECT_EQ(shrunk.beta, 0);
  EXPECT_EQ(shrunk.a.values(0, 0), 0);
  EXPECT_THAT(found.counterexample->explanation, testing::HasSubstr("C(1, 0)"));

  const auto file = found.counterexample->file;
  EXPECT_EQ(directory.names(), std::set<std::string>{"cases"});
  EXPECT_EQ(case_files(directory / "cases"), std::vector{file});
  EXPECT_THAT(file.filename().string(), testing::MatchesRegex("rounded-once-[0-9a-f]+\\.json"));
  EXPECT_TRUE(read_case(file).gemm_case == shrunk);

  const auto replayed = check(property, faulty(), options(directory));
  ASSERT_FALSE(replayed.holds());
  EXPECT_EQ(replayed.replayed, 1);
  EXPECT_EQ(replayed.drawn, 0);
  EXPECT_EQ(replayed.counterexample->file, file);
  EXPECT_EQ(case_files(directory / "cases").size(), 1u);

  const auto mended = check(property, FaultyEngine(), options(directory));
  EXPECT_TRUE(mended.holds());
  EXPECT_EQ(mended.replayed, 1);
  EXPECT_EQ(mended.drawn, 300);
  EXPECT_EQ(check(find_property("sign"), FaultyEngine(), options(directory)).replayed, 0) << "the file is not for this one";
}

TEST(Check, TheSeedFixesTheCases) {
  const TemporaryDirectory one, other;
  auto with_seed = [](const TemporaryDirectory& directory, std::uint64_t seed) {
    auto seeded = options(directory);
    seeded.seed = seed;
    return check(find_property("rounded-once"), faulty(), seeded);
  };
  const auto first = with_seed(one, 9), again = with_seed(other, 9);
  EXPECT_EQ(first.drawn, again.drawn);
  EXPECT_TRUE(first.counterexample->gemm_case == again.counterexample->gemm_case);
}

/// Properties that a user defines are checked in the same way as Ozbound's own.
TEST(Check, TakesPropertiesOfOthers) {
  const Property own{"own", "C has no rows", "this test", {.floats = false}, [](const GemmCase& one, const Engine&) {
                       return one.m() > 0 ? std::optional<std::string>("it has") : std::nullopt;
                     }};
  const auto result = check(own, FaultyEngine(), {.seconds = 30, .cases = 100});
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.counterexample->gemm_case.m(), 1);
  EXPECT_EQ(result.counterexample->gemm_case.n(), 0);
  EXPECT_EQ(result.counterexample->gemm_case.k(), 0);
  EXPECT_TRUE(result.counterexample->file.empty());
}

TEST(Check, TimeEndsIt) {
  const Property endless{
      "endless", "nothing", "this test", {}, [](const GemmCase&, const Engine&) -> std::optional<std::string> { return {}; }};
  double last = 0;
  CheckOptions brief;
  brief.seconds = 0.05;
  brief.progress = [&](double share) { last = share; };
  const auto result = check(endless, FaultyEngine(), brief);
  EXPECT_TRUE(result.holds());
  EXPECT_GT(result.drawn, 0);
  EXPECT_GT(last, 0);
  EXPECT_LE(last, 1);
}

TEST(Check, AWrongFileIsNamed) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "cases");
  write_bytes(directory / "cases" / "wrong.json", "{\"schema\": \"ozbound-case-1\"}");
  EXPECT_THAT([&] { (void)check(find_property("sign"), FaultyEngine(), options(directory)); },
              testing::ThrowsMessage<std::invalid_argument>(
                  testing::AllOf(testing::HasSubstr("wrong.json: "), testing::HasSubstr("is missing"))));
}

using Look = std::function<void(const GemmCase&)>;

/// A property that is false wherever C has entries. `look` is called with each such case.
Property false_of_entries(Look look) {
  return {"own", "C has no entries", "this test", {}, [look](const GemmCase& one, const Engine&) {
            if (one.m() * one.n() == 0) return std::optional<std::string>();
            look(one);
            return std::optional<std::string>("it has");
          }};
}

TEST(Check, AFolderThatCannotBeMadeIsRefusedBeforeAnyCase) {
  const TemporaryDirectory directory;
  write_bytes(directory / "cases", "");
  int judged = 0;
  EXPECT_THAT([&] { (void)check(false_of_entries([&](const GemmCase&) { ++judged; }), FaultyEngine(), options(directory)); },
              testing::ThrowsMessage<std::invalid_argument>(
                  testing::AllOf(testing::HasSubstr("cases: "), testing::HasSubstr("no directory"))));
  EXPECT_EQ(judged, 0);
}

/// The drawn case is on file while it is shrunk, so an interruption does not lose it; afterwards the shrunk case replaces it.
TEST(Check, WhatIsFoundIsStoredBeforeItIsShrunk) {
  const TemporaryDirectory directory;
  std::vector<GemmCase> falsified, on_file;
  const auto look = [&](const GemmCase& one) {
    falsified.push_back(one);
    if (falsified.size() == 2)
      for (const auto& file : case_files(directory / "cases")) on_file.push_back(read_case(file).gemm_case);
  };
  const auto result = check(false_of_entries(look), FaultyEngine(), options(directory));
  ASSERT_FALSE(result.holds());
  ASSERT_EQ(on_file.size(), 1u);
  EXPECT_TRUE(on_file[0] == falsified[0]);
  EXPECT_FALSE(result.counterexample->gemm_case == falsified[0]);
  EXPECT_EQ(case_files(directory / "cases"), std::vector{result.counterexample->file});
  EXPECT_TRUE(read_case(result.counterexample->file).gemm_case == result.counterexample->gemm_case);
}

/// A counterexample that cannot be stored is still reported. The folder becomes unusable after the first look at it.
TEST(Check, WhatCannotBeStoredIsNotLost) {
  const TemporaryDirectory directory;
  const auto block = [&](const GemmCase&) { write_bytes(directory / "cases", ""); };
  const auto result = check(false_of_entries(block), FaultyEngine(), options(directory));
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.counterexample->file, "");
  EXPECT_THAT(result.counterexample->not_stored, testing::MatchesRegex(".*/cases/own-.*\\.json: cannot be written"));
  EXPECT_EQ(result.counterexample->gemm_case.m(), 1);
}

/// A replayed case is shown unchanged, with its properties and its note.
TEST(Check, AReplayedCaseKeepsItsPurpose) {
  const TemporaryDirectory directory;
  auto one = sample_case({}, 1);
  one.a.values = one.b.values = one.c0.values = Matrix<double>(1, 1);
  const auto file = store_case({{}, "by hand", one}, directory / "cases");
  const auto result = check(false_of_entries([](const GemmCase&) {}), FaultyEngine(), options(directory));
  ASSERT_FALSE(result.holds());
  EXPECT_EQ(result.counterexample->file, file);
  EXPECT_EQ(to_text(*result.counterexample), read_bytes(file));
}

// Shrinking.

TEST(SimplerCases, AreValidAndOther) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto one = sample_case({.largest = 4, .specials = true, .targets = true}, seed);
    for (const auto& simpler : simpler_cases(one)) {
      ASSERT_NO_THROW(simpler.validate()) << seed;
      ASSERT_FALSE(simpler == one) << seed;
    }
  }
}

/// Takes the first simpler case for which `falsified` still holds, and repeats to the end.
GemmCase shrunk(GemmCase one, const std::function<bool(const GemmCase&)>& falsified) {
  EXPECT_TRUE(falsified(one));
  for (bool simplified = true; simplified;) {
    const auto simpler = simpler_cases(one);
    const auto next = std::find_if(simpler.begin(), simpler.end(), falsified);
    simplified = next != simpler.end();
    if (simplified) one = *next;
  }
  return one;
}

bool has_bit(double x, int below_leading) { return (bits_of(x) >> (52 - below_leading) & 1) != 0; }

/// Shrinking keeps only the part of a number that matters: its sign, the exponent nearest to 0 that is possible, or a bit in
/// the middle.
TEST(SimplerCases, ReachTheSimplestNumbers) {
  struct {
    double complicated;
    std::function<bool(double)> falsified;
    double simplest;
  } const numbers[] = {
      {-0x1.f0f3f1234p+900, [](double x) { return x < 0 && std::ilogb(x) >= 100 && has_bit(x, 20); }, -0x1.00001p+100},
      {0x1.fffffffffffffp-3, [](double x) { return has_bit(x, 1) && has_bit(x, 30) && x < 0.25; }, 0x1.80000004p-3},
      {0x0.00000000fedcbp-1022, [](double x) { return x != 0 && std::ilogb(x) <= -1055; }, 0x1p-1055},
      {-0x1.23456p+300, [](double x) { return x < -0x1p40; }, -0x1p+41},
      {double_from_bits(0xfff8000000000012), [](double x) { return std::isnan(x); }, double_from_bits(binary64.nan)},
      {-0.0, [](double x) { return x == 0; }, 0}};
  for (const auto& [complicated, falsified, simplest] : numbers) {
    const auto check_member = [&, &falsified = falsified, &simplest = simplest](const GemmCase& one, const auto& number) {
      const auto found = shrunk(one, [&](const GemmCase& tried) { return falsified(number(tried)); });
      EXPECT_EQ(bits_of(number(found)), bits_of(simplest)) << number(found) << " is not " << simplest;
    };
    GemmCase one;
    one.a.values = one.b.values = one.c0.values = Matrix<double>(1, 1);
    one.alpha = one.beta = one.a.values(0, 0) = complicated;
    check_member(one, [](const GemmCase& tried) { return tried.m() * tried.k() == 0 ? 1 : tried.a.values(0, 0); });
    check_member(one, [](const GemmCase& tried) { return tried.beta; });
    check_member(one, [](const GemmCase& tried) { return tried.alpha; });
  }
}

TEST(SimplerCases, ReachTheSimplestTarget) {
  GemmCase one;
  one.target = Target::componentwise(0x1.8abcp-40);
  const auto strict = [](const GemmCase& tried) {
    return tried.target->kind == Target::Kind::componentwise && tried.target->tau < 0x1p-30;
  };
  EXPECT_EQ(shrunk(one, strict).target, Target::componentwise(0x1p-31));
  EXPECT_EQ(shrunk(one, [](const GemmCase&) { return true; }).target, Target::dgemm());
}

/// Any sequence of shrinking steps ends at the case without entries.
TEST(SimplerCases, End) {
  sampling::RandomBits random(1);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    auto one = sample_case({.largest = 3, .specials = true, .targets = true}, seed);
    int steps = 0;
    for (auto simpler = simpler_cases(one); !simpler.empty(); simpler = simpler_cases(one)) {
      one = simpler[static_cast<std::size_t>(random.below(static_cast<int>(simpler.size())))];
      ASSERT_LT(++steps, 20000) << seed;
    }
    EXPECT_EQ(one.m() + one.n() + one.k(), 0);
    EXPECT_EQ(one.plan.products(), 1);
    EXPECT_EQ(one.inner_repeat, 1);
  }
}

}  // namespace
}  // namespace ozbound::check_test
