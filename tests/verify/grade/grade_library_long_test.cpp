// SPDX-License-Identifier: BSD-3-Clause
// The full grade of common libraries: a report with every part, and no fault that their maintainers would dispute.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/grade/graded.hpp"

namespace ozbound::test::grade_library_long_test {
namespace {

class AFullGrade : public testing::TestWithParam<KnownLibrary> {};

TEST_P(AFullGrade, HasNoOtherFaults) {
  if (!GetParam().installed()) GTEST_SKIP() << GetParam().name << " is not installed";
  const auto grade = graded(GetParam().file, false);
  EXPECT_TRUE(is_complete(grade));
  EXPECT_THAT(faults(grade), testing::IsSubsetOf(GetParam().faults));
}

INSTANTIATE_TEST_SUITE_P(Debian, AFullGrade, testing::ValuesIn(known_libraries()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ozbound::test::grade_library_long_test
