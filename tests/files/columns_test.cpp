// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace ozbound::files::test::columns_test {
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

/// The length of the widest line.
std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) width = std::max(width, width_of(line));
  return width;
}

const std::vector<Cells> wide{
    {"family", "plan that would do", "error/bound"}, {"uniform", "balanced:7x7:cut=8:exact", "0.5"}, {"wide", "none", "12.25"}};

TEST(Columns, HeadingsAreCutFirst) {
  EXPECT_EQ(format_columns(wide, 46),
            "family   plan that would do        error/bound\n"
            "uniform  balanced:7x7:cut=8:exact          0.5\n"
            "wide     none                            12.25\n");
  EXPECT_EQ(format_columns(wide, 45),
            "family   plan that would do            error/\n"
            "                                        bound\n"
            "uniform  balanced:7x7:cut=8:exact         0.5\n"
            "wide     none                           12.25\n");
}

TEST(Columns, ThenTheWidestCells) {
  EXPECT_EQ(format_columns(wide, 32),
            "family   plan that would  error/\n"
            "         do                bound\n"
            "uniform  balanced:7x7:       0.5\n"
            "         cut=8:exact\n"
            "wide     none              12.25\n");
}

TEST(Columns, RowsBecomeRecordsWhereNothingElseFits) {
  EXPECT_EQ(format_columns(wide, 20),
            "family              uniform\n"
            "plan that would do  balanced:7x7:cut=8:exact\n"
            "error/bound         0.5\n"
            "\n"
            "family              wide\n"
            "plan that would do  none\n"
            "error/bound         12.25\n");
}

TEST(Columns, NoLineIsWiderThanItMayBe) {
  for (std::size_t width = 26; width < 60; ++width) EXPECT_LE(widest(format_columns(wide, width)), width);
  EXPECT_EQ(format_columns(wide), format_columns(wide, 46));
}

TEST(Columns, CharactersCountNotBytes) {
  EXPECT_EQ(width_of("‖φ‖"), 3U);
  EXPECT_EQ(format_columns({{"φ", "x"}, {"ab", "y"}}), "φ   x\nab  y\n");
}

TEST(Hanging, CutsAtSpaces) {
  EXPECT_EQ(hanging("one two three", 0, 7), "one two\nthree");
  EXPECT_EQ(hanging("one two three", 2, 9), "one two\n  three");
  EXPECT_EQ(hanging("one two three", 2, 10), "one two\n  three");
  EXPECT_EQ(hanging("one two three", 2, unlimited_width), "one two three");
  EXPECT_EQ(hanging("a/long/path here", 4, 8), "a/long/path\n    here") << "a word stays whole";
  EXPECT_EQ(hanging("", 4, 8), "");
}

}  // namespace
}  // namespace ozbound::files::test::columns_test
