// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/grade/grade.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "verify/grade/faulty_gemm.hpp"

namespace ozbound::grade_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Names = std::set<std::string>;

/// The findings of all parts, or of those named.
std::vector<Finding> graded(const ForeignGemm& gemm, const Names& parts = {}) {
  std::vector<Finding> all;
  for (const auto& part : grade_parts()) {
    if (!parts.empty() && !parts.contains(part.name)) continue;
    const auto found = part.run(gemm, {.seed = 0, .quick = true}).findings;
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

Names with(Outcome outcome, const std::vector<Finding>& findings) {
  Names names;
  for (const auto& finding : findings)
    if (finding.outcome == outcome) names.insert(finding.test);
  return names;
}

/// The detail of a finding.
std::string detail(const std::vector<Finding>& findings, const std::string& test) {
  for (const auto& finding : findings)
    if (finding.test == test) return finding.detail;
  return "no such finding";
}

double value(const std::vector<Finding>& findings, const std::string& test, const std::string& name) {
  for (const auto& finding : findings)
    for (const auto& [known, number] : finding.values)
      if (finding.test == test && known == name) return number;
  throw std::invalid_argument(test + " has no value " + name);
}

/// The difference that every library of plain loops has: partial sums overflow.
const Names usual{"accuracy.intermediate-overflow", "special.intermediate-overflow"};

Names joined(Names x, const Names& y) {
  x.insert(y.begin(), y.end());
  return x;
}

void expect_grade(Fault fault, const Names& fails, const Names& also_differs = {}) {
  const auto findings = graded(FaultyGemm(fault));
  EXPECT_EQ(with(Outcome::fail, findings), fails);
  EXPECT_EQ(with(Outcome::differs, findings), joined(also_differs, usual));
}

TEST(Grade, plainLoopsPassEverything) {
  const auto findings = graded(FaultyGemm(Fault::none));
  EXPECT_EQ(with(Outcome::fail, findings), Names{});
  EXPECT_EQ(with(Outcome::differs, findings), usual);
  EXPECT_EQ(with(Outcome::skipped, findings), Names{});
  Names names, parts;
  for (const auto& part : grade_parts()) parts.insert(part.name);
  for (const auto& finding : findings) {
    EXPECT_TRUE(names.insert(finding.test).second) << finding.test;
    EXPECT_TRUE(parts.contains(finding.test.substr(0, finding.test.find('.')))) << finding.test;
    EXPECT_FALSE(finding.statement.empty()) << finding.test;
    EXPECT_FALSE(finding.source.empty()) << finding.test;
    EXPECT_FALSE(finding.detail.empty()) << finding.test;
  }
  EXPECT_EQ(value(findings, "demmel.fixed-point", "pass_limit_b"), 128);
  EXPECT_EQ(value(findings, "demmel.fixed-point", "bits"), 2 * 128 + 53);
  EXPECT_GT(value(findings, "demmel.criterion-a", "slope"), 0.3);  // about 1/2: errors of either sign
  EXPECT_LT(value(findings, "demmel.criterion-a", "slope"), 0.8);
}

TEST(Grade, everyFindingIsDocumented) {
  std::ifstream file(OZBOUND_DOCS "/grading.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto findings = graded(FaultyGemm(Fault::none));
  for (const auto& finding : grade_threads(FaultyGemm(Fault::none), {.seed = 0, .quick = true}).findings)
    findings.push_back(finding);
  for (const auto& finding : findings) {
    const bool of_family = finding.outcome == Outcome::measured;
    const auto wanted = "`" + (of_family ? std::string("accuracy.FAMILY") : finding.test) + "`";
    EXPECT_NE(text.find(wanted), std::string::npos) << finding.test;
  }
}

TEST(Grade, rowMajorCallsAreSkippedWhereNotTaken) {
  const auto findings = graded(FaultyGemm(Fault::wrong_row_major, false), {"layouts", "memory", "bounds-of-memory"});
  EXPECT_EQ(with(Outcome::skipped, findings), Names{"layouts.row-major"});
  EXPECT_EQ(with(Outcome::fail, findings), Names{});
}

TEST(Grade, strassenIsFoundByItsZerosAndByComponents) {
  const auto findings = graded(FaultyGemm(Fault::strassen));
  EXPECT_EQ(with(Outcome::fail, findings), (Names{"demmel.strassen", "demmel.fixed-point", "demmel.fixed-point-strassen"}));
  EXPECT_THAT(detail(findings, "demmel.strassen"),
              HasSubstr("n = 64, seed 0, column-major: 9 of 32 zeros are missed, first C(15, 3) = 0x1p-51"));
}

TEST(Grade, singlePrecisionSumsAreFoundByTheirErrors) {
  expect_grade(Fault::single_precision,
               {"demmel.criterion-a-constant", "demmel.fixed-point", "demmel.fixed-point-strassen",
                "accuracy.conventional-bound", "accuracy.gradual-underflow", "accuracy.scaled", "accuracy.extreme-scalars",
                "accuracy.every-op", "shapes.small", "shapes.awkward", "shapes.long", "layouts.transposition",
                "layouts.row-major", "layouts.same-matrix", "reproducibility.accurate"});
}

TEST(Grade, threeSlicesHaveALimitOfBits) {
  const auto findings = graded(FaultyGemm(Fault::three_slices));
  EXPECT_EQ(with(Outcome::fail, findings),
            (Names{"demmel.criterion-a-constant", "demmel.fixed-point", "demmel.fixed-point-strassen",
                   "accuracy.conventional-bound", "accuracy.gradual-underflow", "accuracy.scaled", "accuracy.extreme-scalars",
                   "accuracy.every-op", "shapes.small", "shapes.awkward", "shapes.long", "layouts.transposition",
                   "layouts.row-major", "layouts.same-matrix", "reproducibility.accurate"}));
  EXPECT_EQ(value(findings, "demmel.fixed-point", "pass_limit_b"), -1);
  EXPECT_THAT(detail(findings, "demmel.fixed-point"), HasSubstr("fails already at b = 0"));
}

TEST(Grade, growthFasterThanLinearIsASlopeAboveOne) {
  const auto findings = graded(FaultyGemm(Fault::fast_growth), {"demmel"});
  EXPECT_EQ(with(Outcome::fail, findings),
            (Names{"demmel.criterion-a", "demmel.criterion-a-constant", "demmel.fixed-point", "demmel.fixed-point-strassen"}));
  EXPECT_GT(value(findings, "demmel.criterion-a", "slope"), 1.5);
  EXPECT_LE(value(findings, "demmel.criterion-a", "slope"), 2);
}

/// A slope beyond 1 is no fault if errors grow from little to those of conventional sums: f(n) <= n throughout.
TEST(Grade, growthFromLittleErrorsIsNoFault) {
  const auto findings = graded(FaultyGemm(Fault::late_growth), {"demmel"});
  EXPECT_EQ(with(Outcome::fail, findings), Names{});
  EXPECT_EQ(with(Outcome::differs, findings), Names{"demmel.criterion-a"});
  EXPECT_GT(value(findings, "demmel.criterion-a", "slope"), 1);
}

TEST(Grade, flushToZeroIsFoundBySubnormals) {
  expect_grade(Fault::flushes_results,
               {"special.subnormal-results", "special.subnormal-differences", "accuracy.gradual-underflow"});
}

TEST(Grade, subnormalsAreZeroIsFoundByInputs) {
  expect_grade(Fault::subnormals_are_zero, {"special.subnormal-inputs", "accuracy.gradual-underflow"});
}

TEST(Grade, betaZeroReadingCIsFound) { expect_grade(Fault::beta_zero_reads_c, {"special.beta-zero-ignores-c"}); }

TEST(Grade, swallowedNansAreFound) {
  expect_grade(Fault::swallows_nan, {"special.nan-in-a", "special.nan-in-b"},
               {"special.zero-times-special", "special.nan-payload"});
}

TEST(Grade, irreproducibleSumsAreFoundFromRunToRun) {
  expect_grade(Fault::irreproducible, {"reproducibility.run-to-run"},
               {"reproducibility.alignment", "reproducibility.position", "layouts.agreement"});
}

TEST(Grade, writesPastLdAreFound) {
  const auto findings = graded(FaultyGemm(Fault::writes_past_ld));
  EXPECT_EQ(with(Outcome::fail, findings), (Names{"memory.canaries", "bounds-of-memory.guard-pages"}));
  EXPECT_THAT(detail(findings, "memory.canaries"),
              HasSubstr("dgemm(NN, 1 x 1 x 1, alpha=0x1p+0, lda=2, ldb=2, beta=0x0p+0, ldc=2) "
                        "writes element 1 + 0 ld of C"));
}

TEST(Grade, readsBeyondAnOperandAreFoundByGuardPages) {
  auto findings = graded(FaultyGemm(Fault::reads_past_a));
  EXPECT_EQ(with(Outcome::fail, findings), Names{"bounds-of-memory.guard-pages"});
  EXPECT_THAT(detail(findings, "bounds-of-memory.guard-pages"), HasSubstr("reaches 0 bytes after the end of A"));
  EXPECT_THAT(detail(findings, "bounds-of-memory.guard-pages"), HasSubstr("the first five faults ended it"));
  findings = graded(FaultyGemm(Fault::reads_before_b), {"bounds-of-memory"});
  EXPECT_THAT(detail(findings, "bounds-of-memory.guard-pages"), HasSubstr("reaches 8 bytes before the start of B"));
}

TEST(Grade, whatElseEndsACallIsFoundByGuardPages) {
  const auto told = [](Fault fault) {
    const auto findings = graded(FaultyGemm(fault), {"bounds-of-memory"});
    EXPECT_EQ(with(Outcome::fail, findings), Names{"bounds-of-memory.guard-pages"});
    return detail(findings, "bounds-of-memory.guard-pages");
  };
  EXPECT_THAT(told(Fault::touches_a), HasSubstr("5 of 5 cases contradict it; the first five faults ended it; "
                                                "dgemm(NN, 1 x 1 x 1, alpha=0x1p+0, lda=2, ldb=2, beta=0x0p+0, ldc=2) "
                                                "writes into A"));
  EXPECT_THAT(told(Fault::exits), HasSubstr("dgemm(NN, 17 x 1 x "));
  EXPECT_THAT(told(Fault::exits), HasSubstr(" ends the process (exit 0)"));
  EXPECT_THAT(told(Fault::exits_on_a_fault), HasSubstr("reaches 0 bytes after the end of A"));
}

TEST(Grade, reasonsAreSaidOnlyWhereTheyAreSeen) {
  const auto said = [](Fault fault, const std::string& test) { return detail(graded(FaultyGemm(fault), {"special"}), test); };
  EXPECT_THAT(said(Fault::subnormals_are_zero, "special.subnormal-inputs"),
              HasSubstr("; subnormal inputs are treated as zero"));
  EXPECT_THAT(said(Fault::flushes_results, "special.subnormal-results"), HasSubstr("; subnormal results are flushed to zero"));
  EXPECT_THAT(said(Fault::subnormals_are_doubled, "special.subnormal-inputs"), Not(HasSubstr("treated as zero")));
  EXPECT_THAT(said(Fault::subnormals_are_doubled, "special.subnormal-results"), Not(HasSubstr("flushed")));
  EXPECT_THAT(said(Fault::overflow_is_nan, "special.overflow"),
              HasSubstr("are infinite or NaN and should not be so, first (0, 0): computed nan, exact inf"));
}

struct Expected {
  Fault fault;
  Names parts, fails, differs;
};

/// Each of the other findings has a fault that only it, or it and related findings, reveal.
TEST(Grade, everyOtherFindingHasItsFault) {
  const std::vector<Expected> table{
      {Fault::saturates, {"special"}, {"special.overflow"}, {"special.intermediate-overflow"}},
      {Fault::overflow_is_nan, {"special"}, {"special.overflow"}, {"special.intermediate-overflow"}},
      {Fault::subnormals_are_doubled,
       {"special"},
       {"special.subnormal-inputs", "special.subnormal-results", "special.subnormal-differences"},
       {"special.intermediate-overflow"}},
      {Fault::beta_zero_reads_large_c, {"special"}, {"special.beta-zero-ignores-c"}, {"special.intermediate-overflow"}},
      {Fault::beta_nan_is_zero, {"special"}, {"special.nan-scalar"}, {"special.intermediate-overflow"}},
      {Fault::swallows_nan_in_c, {"special"}, {"special.nan-in-c", "special.k-zero"}, {"special.intermediate-overflow"}},
      {Fault::nan_spreads, {"special"}, {"special.nan-in-a"}, {"special.zero-times-special", "special.intermediate-overflow"}},
      {Fault::infinity_is_nan,
       {"special"},
       {"special.infinity", "special.infinity-minus-infinity"},
       {"special.intermediate-overflow"}},
      {Fault::keeps_infinity,
       {"special"},
       {"special.infinity-minus-infinity"},
       {"special.zero-times-special", "special.intermediate-overflow"}},
      {Fault::forgets_beta_without_alpha,
       {"special", "accuracy"},
       {"special.alpha-zero", "special.k-zero", "accuracy.scaled"},
       {"special.alpha-zero-ignores-a-and-b", "special.intermediate-overflow", "accuracy.intermediate-overflow"}},
      {Fault::forgets_beta_without_k,
       {"special"},
       {"special.k-zero", "special.beta-zero-ignores-c"},
       {"special.intermediate-overflow"}},
      {Fault::infinite_scalar_is_nan, {"special"}, {"special.infinite-scalar"}, {"special.intermediate-overflow"}},
      {Fault::writes_before_c, {"memory"}, {"memory.canaries"}, {}},
      {Fault::writes_past_large_ld, {"memory"}, {"memory.canaries"}, {}},
      {Fault::changes_a, {"memory"}, {"memory.operands-unchanged"}, {}},
      {Fault::wrong_transposition,
       {"layouts"},
       {"layouts.transposition", "layouts.row-major", "layouts.same-matrix"},
       {"layouts.agreement"}},
      {Fault::wrong_row_major,
       {"layouts"},
       {"layouts.row-major", "layouts.same-matrix", "layouts.far-columns"},
       {"layouts.agreement"}},
      {Fault::misreads_letters, {"layouts"}, {"layouts.transposition", "layouts.row-major"}, {"layouts.agreement"}},
      {Fault::misreads_large_ld, {"layouts"}, {"layouts.transposition", "layouts.row-major"}, {"layouts.agreement"}},
      {Fault::wrong_update, {"layouts"}, {"layouts.transposition", "layouts.row-major"}, {}},
      {Fault::wrong_same_matrix, {"layouts"}, {"layouts.same-matrix"}, {}},
      {Fault::wraps_offsets, {"layouts"}, {"layouts.far-columns"}, {}},
      {Fault::drops_fifth_term, {"shapes", "accuracy", "layouts"}, {"shapes.small"}, {"accuracy.intermediate-overflow"}},
      {Fault::writes_empty_c, {"shapes"}, {"shapes.empty"}, {}},
      {Fault::starts_with_first_term, {"special"}, {}, {"special.zero-sign", "special.intermediate-overflow"}},
      {Fault::multiplies_by_zero_alpha,
       {"special"},
       {},
       {"special.alpha-zero-ignores-a-and-b", "special.intermediate-overflow"}},
      {Fault::skips_zeros_of_b, {"special"}, {}, {"special.zero-times-special", "special.intermediate-overflow"}},
      {Fault::drops_nan_payload, {"special"}, {}, {"special.nan-payload", "special.intermediate-overflow"}},
      {Fault::order_by_address, {"reproducibility"}, {}, {"reproducibility.alignment"}},
      {Fault::wrong_when_shifted, {"reproducibility"}, {"reproducibility.accurate"}, {"reproducibility.alignment"}},
      {Fault::wrong_at_63_rows, {"reproducibility"}, {"reproducibility.accurate"}, {"reproducibility.position"}},
      {Fault::order_by_place, {"reproducibility"}, {}, {"reproducibility.position"}},
      {Fault::order_by_transposition, {"layouts", "reproducibility"}, {}, {"layouts.agreement"}},
  };
  for (const auto& [fault, parts, fails, differs] : table) {
    SCOPED_TRACE(static_cast<int>(fault));
    const auto findings = graded(FaultyGemm(fault), parts);
    EXPECT_EQ(with(Outcome::fail, findings), fails);
    EXPECT_EQ(with(Outcome::differs, findings), differs);
  }
}

TEST(Grade, theSeedChoosesTheData) {
  const FaultyGemm gemm(Fault::none);
  const auto slope = [&](std::uint64_t seed) {
    return grade_parts()[0].run(gemm, {.seed = seed, .quick = true}).findings.at(0).values.at(0).second;
  };
  EXPECT_EQ(slope(1), slope(1));
  EXPECT_NE(slope(1), slope(2));
}

TEST(Fingerprint, isOfTheBits) {
  const auto of = [](Fault fault, std::uint64_t seed) { return fingerprint(FaultyGemm(fault), {.seed = seed, .quick = true}); };
  EXPECT_EQ(of(Fault::none, 0), of(Fault::none, 0));
  EXPECT_NE(of(Fault::none, 0), of(Fault::none, 1));
  EXPECT_NE(of(Fault::none, 0), of(Fault::order_by_place, 0));
}

TEST(GradeThreads, repeatsAndJudgesProducts) {
  const auto failing = [](Fault fault) {
    return with(Outcome::fail, grade_threads(FaultyGemm(fault), {.seed = 0, .quick = true}).findings);
  };
  EXPECT_EQ(failing(Fault::none), Names{});
  EXPECT_EQ(failing(Fault::irreproducible), Names{"reproducibility.threads-run-to-run"});
  EXPECT_EQ(failing(Fault::three_slices), Names{"reproducibility.threads-accurate"});
}

}  // namespace
}  // namespace ozbound::grade_test
