// SPDX-License-Identifier: BSD-3-Clause
// Builds and runs the programs that show faults, for libraries with many faults: with the faulty library and with a correct
// one.

#include "verify/grade/shown_faults.hpp"

namespace ozbound::test::snippet_long_test {
namespace {

class Snippets : public testing::TestWithParam<std::string> {};

TEST_P(Snippets, ShowTheFaultsOfALibrary) { expect_faults_shown(GetParam()); }

INSTANTIATE_TEST_SUITE_P(BadBlas, Snippets,
                         testing::Values("strassen", "fp32_accumulation", "three_slices", "flush_to_zero", "throws"),
                         [](const auto& one) { return one.param; });

#if defined(__x86_64__)
TEST(EnvironmentSnippets, ShowTheFaultsOfALibrary) { expect_faults_shown("loads_flush_to_zero"); }
#endif

}  // namespace
}  // namespace ozbound::test::snippet_long_test
