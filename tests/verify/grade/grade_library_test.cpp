// SPDX-License-Identifier: BSD-3-Clause
// Correct libraries are told from faulty ones, and the fault is named.

#include "ozbound/verify/grade/grade_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

#include "verify/grade/graded.hpp"

namespace ozbound::test::grade_library_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;

struct WrongLibrary {
  std::string name;
  Names faults;  ///< exactly these

  friend void PrintTo(const WrongLibrary& library, std::ostream* out) { *out << library.name; }
};

class AWrongLibrary : public testing::TestWithParam<WrongLibrary> {};

TEST_P(AWrongLibrary, IsToldByItsFaults) {
  const auto& [name, expected] = GetParam();
  EXPECT_EQ(faults(graded(bad_blas(name), true)), expected);
}

Names joined(Names names, const Names& more) {
  names.insert(more.begin(), more.end());
  return names;
}

/// The findings for a library whose every result is inaccurate.
const Names few_digits{"demmel.criterion-a-constant",
                       "demmel.fixed-point",
                       "demmel.fixed-point-strassen",
                       "accuracy.conventional-bound",
                       "accuracy.gradual-underflow",
                       "accuracy.scaled",
                       "accuracy.extreme-scalars",
                       "accuracy.every-op",
                       "shapes.small",
                       "shapes.awkward",
                       "shapes.long",
                       "layouts.transposition",
                       "layouts.row-major",
                       "layouts.same-matrix",
                       "reproducibility.accurate",
                       "reproducibility.threads-accurate"};

INSTANTIATE_TEST_SUITE_P(
    BadBlas, AWrongLibrary,
    testing::Values(
        WrongLibrary{
            "strassen",
            {"demmel.criterion-a", "demmel.criterion-a-constant", "demmel.strassen", "demmel.fixed-point",
             "demmel.fixed-point-strassen", "accuracy.conventional-bound", "accuracy.gradual-underflow", "accuracy.scaled"}},
        WrongLibrary{"fp32_accumulation", joined(few_digits, {"special.overflow", "special.subnormal-inputs",
                                                              "special.subnormal-results", "special.subnormal-differences"})},
        WrongLibrary{"three_slices", few_digits},
        WrongLibrary{"flush_to_zero",
                     {"accuracy.gradual-underflow", "special.subnormal-inputs", "special.subnormal-results",
                      "special.subnormal-differences"}},
        WrongLibrary{"beta_over_alpha", {"accuracy.every-op"}}, WrongLibrary{"loses_alpha", {"accuracy.every-op"}},
        WrongLibrary{"beta_zero_reads_c", {"special.beta-zero-ignores-c"}},
        WrongLibrary{"row_major_k_zero", {"special.beta-zero-ignores-c", "special.k-zero"}},
        WrongLibrary{"shared_buffer", {"callers.at-once", "reproducibility.threads-callers"}},
        WrongLibrary{"swallows_nan", {"special.nan-in-a", "special.nan-in-b"}},
        WrongLibrary{"unordered_summation",
                     {"reproducibility.run-to-run", "reproducibility.threads-run-to-run", "reproducibility.processes"}},
        WrongLibrary{"unordered_with_threads", {"reproducibility.threads-run-to-run"}},
        WrongLibrary{"wrong_with_threads", {"reproducibility.threads-accurate"}},
        WrongLibrary{"writes_past_ld", {"memory.canaries", "bounds-of-memory.guard-pages"}},
        WrongLibrary{"crashes",
                     {"demmel.completes: crashed", "accuracy.completes: crashed", "shapes.completes: crashed",
                      "layouts.completes: crashed", "callers.completes: crashed", "reproducibility.completes: crashed",
                      "threads.completes: crashed"}},
        WrongLibrary{"throws",
                     {"demmel.completes: crashed", "accuracy.completes: crashed", "shapes.completes: crashed",
                      "layouts.completes: crashed", "callers.completes: crashed", "reproducibility.completes: crashed",
                      "threads.completes: crashed"}},
        WrongLibrary{"exits", {"loading.completes: crashed"}},
        WrongLibrary{"crashes_on_loading", {"loading.completes: crashed"}}),
    [](const auto& one) { return one.param.name; });

#ifdef __x86_64__
TEST(GradeLibrary, FindsWhoChangesTheEnvironmentOfOthers) {
  EXPECT_EQ(faults(graded(bad_blas("loads_flush_to_zero"), true)),
            (Names{"loading.environment", "accuracy.gradual-underflow", "special.subnormal-inputs", "special.subnormal-results",
                   "special.subnormal-differences"}));
}

/// A changed environment of the caller is found, and none of its consequences is reported.
TEST(GradeLibrary, FindsWhoChangesTheEnvironmentOfItsCaller) {
  const auto grade = graded(bad_blas("changes_environment"), true);
  EXPECT_EQ(faults(grade),
            (Names{"demmel.environment-of-caller", "accuracy.environment-of-caller", "special.environment-of-caller",
                   "shapes.environment-of-caller", "layouts.environment-of-caller", "callers.environment-of-caller",
                   "reproducibility.environment-of-caller", "threads.environment-of-caller"}));
  EXPECT_THAT(find(grade, "demmel.environment-of-caller").detail, HasSubstr("after dgemm(NN, 32 x 32 x 32, "));
  EXPECT_THAT(faults(graded(bad_blas("changes_x87"), true)), testing::Contains("loading.environment-of-caller"));
}
#endif

class ARightLibrary : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(ARightLibrary, HasNoFaults) {
  const auto grade = graded(bad_blas(GetParam().first), true, GetParam().second);
  EXPECT_THAT(faults(grade), IsEmpty());
  EXPECT_TRUE(grade.holds());
  EXPECT_TRUE(is_complete(grade));
  EXPECT_EQ(grade.identity.symbol, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(Right, ARightLibrary,
                         testing::Values(std::pair{"correct", "cblas_dgemm"}, std::pair{"correct", "dgemm_"},
                                         std::pair{"ilp64", "cblas_dgemm64_"}, std::pair{"ilp64", "dgemm_64_"},
                                         std::pair{"prints", "cblas_dgemm"}, std::pair{"writes_to_descriptors", "dgemm_"}),
                         [](const auto& one) { return one.param.first + "_" + one.param.second; });

TEST(GradeLibrary, GivesTheSameRecordTwice) {
  const auto record = [] { return to_json(graded(bad_blas("correct"), true)).dump(); };
  EXPECT_EQ(record(), record());
}

/// A worker killed from outside, for example by the kernel when memory runs out, gives no verdict.
TEST(GradeLibrary, GivesNoVerdictOnWhatWasKilled) {
  EXPECT_THAT(
      [] { graded(bad_blas("killed"), true); },
      testing::ThrowsMessage<std::runtime_error>(HasSubstr("loading cannot be graded: its process was ended by SIGKILL")));
}

TEST(GradeLibrary, SaysWhereItCrashed) {
  const auto grade = graded(bad_blas("crashes"), true);
  EXPECT_THAT(find(grade, "demmel.completes").detail,
              AllOf(HasSubstr("SIGSEGV (Segmentation fault) in dgemm("), HasSubstr("64 x 64 x 64")));
  EXPECT_EQ(grade.parts[1].printed, "kernel of 64 <inner> & more\n");
  EXPECT_EQ(find(graded(bad_blas("exits"), true), "loading.completes").detail.substr(0, 38),
            "it ended the process (exit 0) in dgemm");
  EXPECT_EQ(find(graded(bad_blas("crashes_on_loading"), true), "loading.completes").detail,
            "it ended the process by SIGABRT (Aborted) in loading");
  EXPECT_THAT(find(graded(bad_blas("throws"), true), "threads.completes").detail, HasSubstr("SIGABRT (Aborted) in dgemm("));
}

Grade graded_in_time(const std::string& name, std::vector<std::string> parts, std::chrono::milliseconds limit) {
  return grade_library({.library = bad_blas(name),
                        .parts = std::move(parts),
                        .options = {.quick = true},
                        .time_limit = limit,
                        .worker = OZBOUND_GRADE_WORKER});
}

TEST(GradeLibrary, SaysWithHowManyThreads) {
  const auto request = [](const char* name) {
    return GradeRequest{
        .library = bad_blas(name), .parts = {"threads"}, .options = {.quick = true}, .worker = OZBOUND_GRADE_WORKER};
  };
  const auto wrong = grade_library(request("wrong_with_threads"));
  EXPECT_THAT(find(wrong, "reproducibility.threads-accurate").detail, testing::StartsWith("with 2 threads: "));
  EXPECT_EQ(find(wrong, "reproducibility.threads").outcome, Outcome::differs);
  const auto unordered = grade_library(request("unordered_summation"));
  EXPECT_THAT(find(unordered, "reproducibility.threads-run-to-run").detail, testing::StartsWith("with 1 thread: "));
  const auto right = grade_library(request("correct"));
  EXPECT_THAT(find(right, "reproducibility.threads-accurate").detail, testing::StartsWith("each with 1, 2"));
  EXPECT_THAT(find(right, "reproducibility.threads-run-to-run").detail, testing::ContainsRegex(" threads: [0-9]+ cases"));
}

/// A library that hangs costs its time limit, and the other parts still get their verdicts.
TEST(GradeLibrary, EndsWhatHangs) {
  for (const auto* const name : {"hangs", "leaves_its_group"}) {
    const auto grade = graded_in_time(name, {"demmel", "special"}, 3s);
    EXPECT_EQ(faults(grade), Names{"demmel.completes: hung"});
    EXPECT_THAT(find(grade, "demmel.completes").detail, HasSubstr("not returned after 3 s in dgemm("));
    ASSERT_EQ(grade.parts.size(), 3U);
    EXPECT_GT(grade.parts[2].findings.findings.size(), 10U);
  }
}

/// Grading waits only for the library, not for processes that the library started.
TEST(GradeLibrary, WaitsForNobodyButTheLibrary) {
  EXPECT_THAT(faults(graded_in_time("starts_helper", {"special"}, 20s)), IsEmpty());
}

/// A worker that answers every question with `text`.
class AnAnswer : public testing::TestWithParam<std::string> {
 protected:
  AnAnswer() : worker_(testing::TempDir() + "ozbound-answer-" + std::to_string(getpid())) {
    std::ofstream(worker_) << "#!/bin/sh\nprintf note >&4\nprintf '%s' '" << GetParam() << "' >&3\n";
    std::filesystem::permissions(worker_, std::filesystem::perms::owner_all);
  }
  ~AnAnswer() override { std::filesystem::remove(worker_); }

  std::filesystem::path worker_;
};

TEST_P(AnAnswer, ThatCannotBeReadIsAFinding) {
  const auto grade = grade_library({.library = bad_blas("correct"), .worker = worker_});
  EXPECT_EQ(faults(grade), Names{"loading.completes: crashed"});
  EXPECT_THAT(find(grade, "loading.completes").detail,
              HasSubstr("the answer of its process is unreadable, " + std::to_string(GetParam().size()) + " bytes"));
  EXPECT_EQ(grade.parts.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Unreadable, AnAnswer,
                         testing::Values("garbage", "[]", R"({"findings": 3})", R"({"error": 3})", R"({"failure": {}})",
                                         R"({"findings": [], "series": []})", R"({"findings": [], "series": []}{})",
                                         R"({"findings": [], "series": [], "library": {"file": 3}})"),
                         [](const auto& one) { return std::to_string(one.index); });

TEST(GradeLibrary, GradesThePartsThatAreAskedFor) {
  GradeRequest request{.library = bad_blas("correct"), .symbol = "", .parts = {"threads"}, .options = {.quick = true}};
  request.worker = OZBOUND_GRADE_WORKER;
  std::vector<double> told;
  const auto grade = grade_library(request, [&](double done) { told.push_back(done); });
  ASSERT_EQ(grade.parts.size(), 2U);
  EXPECT_EQ(grade.parts[0].name, "loading");
  EXPECT_EQ(grade.parts[1].name, "threads");
  EXPECT_EQ(told.size(), gradable_parts().size());
  EXPECT_EQ(told.front(), 0);
  EXPECT_LT(told.back(), 1);
  request.parts = {"nothing"};
  EXPECT_THROW(grade_library(request), std::invalid_argument);
}

TEST(GradeLibrary, RefusesWhatIsNoBlas) {
  EXPECT_THROW(graded("/nonexistent.so", true), std::invalid_argument);
  EXPECT_THROW(graded(bad_blas("no_symbol"), true), std::invalid_argument);
  EXPECT_THROW(graded(bad_blas("correct"), true, "sgemm_"), std::invalid_argument);
}

TEST(GradeLibrary, NeedsItsWorker) {
  EXPECT_THROW(grade_library({.library = bad_blas("correct"), .worker = "/nonexistent"}), std::system_error);
  EXPECT_THROW(grade_library({.library = bad_blas("correct"), .worker = "/bin/echo"}), std::runtime_error);
}

class AKnownLibrary : public testing::TestWithParam<KnownLibrary> {};

TEST_P(AKnownLibrary, HasNoOtherFaults) {
  const auto& [name, file, known] = GetParam();
  if (!GetParam().installed()) GTEST_SKIP() << name << " is not installed";
  for (const std::string symbol : {"cblas_dgemm", "dgemm_"}) {
    const auto grade = graded(file, true, symbol);
    EXPECT_TRUE(is_complete(grade));
    EXPECT_THAT(faults(grade), IsSubsetOf(known));
  }
}

INSTANTIATE_TEST_SUITE_P(Debian, AKnownLibrary, testing::ValuesIn(known_libraries()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ozbound::test::grade_library_test
