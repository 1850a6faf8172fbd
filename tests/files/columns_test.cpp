// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/columns.hpp"

#include <gtest/gtest.h>

namespace ozbound::cli {
namespace {

TEST(Columns, NumbersStandToTheRight) {
  EXPECT_EQ(format_columns({{"name", "count", "plan"}, {"a", "12", "x"}, {"long one", "1e-3", ""}, {"", "-", "inf"}}),
            "name      count  plan\n"
            "a            12  x\n"
            "long one   1e-3\n"
            "              -  inf\n");
}

TEST(Columns, RowsMayBeOfAnyLength) {
  EXPECT_EQ(format_columns({}), "");
  EXPECT_EQ(format_columns({{"a"}, {"b", "c"}, {}}), "a\nb  c\n\n");
}

}  // namespace
}  // namespace ozbound::cli
