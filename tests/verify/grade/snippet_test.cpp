// SPDX-License-Identifier: BSD-3-Clause
// Builds and runs the programs that show faults, with the faulty library and with a correct one.

#include "snippet.hpp"

#include "verify/grade/shown_faults.hpp"

namespace ozbound::test::snippet_test {
namespace {

class Snippets : public testing::TestWithParam<std::string> {};

TEST_P(Snippets, ShowTheFaultsOfALibrary) { expect_faults_shown(GetParam()); }

INSTANTIATE_TEST_SUITE_P(BadBlas, Snippets,
                         testing::Values("beta_zero_reads_c", "row_major_k_zero", "swallows_nan", "unordered_summation",
                                         "writes_past_ld", "crashes", "exits", "crashes_on_loading", "wrong_with_threads"),
                         [](const auto& one) { return one.param; });

#if defined(__x86_64__)
TEST(EnvironmentSnippets, ShowTheFaultsOfALibrary) { expect_faults_shown("changes_environment"); }
#endif

TEST(SnippetCalls, AreReadBackFromTheirDescription) {
  const double x = 0;
  BlasCall call{.row_major = true, .transpose_a = true, .transpose_b = false, .spelling = OpSpelling::lower_case};
  call.m = 7, call.n = 61, call.k = 68, call.alpha = -1.5, call.lda = 9, call.ldb = 70, call.beta = 0x1p-3, call.ldc = 100;
  call.a = call.b = &x;
  const auto text = grading::describe(call);
  ASSERT_TRUE(grading::described_call(text));
  EXPECT_EQ(grading::describe(*grading::described_call(text)), text);
  EXPECT_FALSE(grading::described_call("loading"));
  EXPECT_FALSE(grading::described_call("dgemm(NX, 1 x 2"));
}

}  // namespace
}  // namespace ozbound::test::snippet_test
