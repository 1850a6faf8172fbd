// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/entry_selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace ozbound::entry_selection_test {
namespace {

TEST(EntrySelection, isEverythingUnlessSampled) {
  EXPECT_TRUE(EntrySelection{}.is_all());
  EXPECT_TRUE(EntrySelection::all().is_all());
  EXPECT_FALSE(EntrySelection::sample(3, 1).is_all());
}

TEST(EntrySelection, samplesDistinctEntriesAndTheCorners) {
  const auto positions = EntrySelection::sample(50, 7).positions(20, 30);
  EXPECT_EQ(positions.size(), 50U);
  EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
  EXPECT_EQ(std::adjacent_find(positions.begin(), positions.end()), positions.end());
  EXPECT_GE(positions.front(), 0);
  EXPECT_LT(positions.back(), 600);
  for (Index corner : {0, 29, 570, 599}) EXPECT_TRUE(std::binary_search(positions.begin(), positions.end(), corner)) << corner;
}

TEST(EntrySelection, dependsOnTheSeedAlone) {
  EXPECT_EQ(EntrySelection::sample(50, 7).positions(20, 30), EntrySelection::sample(50, 7).positions(20, 30));
  EXPECT_NE(EntrySelection::sample(50, 7).positions(20, 30), EntrySelection::sample(50, 8).positions(20, 30));
  EXPECT_EQ(EntrySelection::sample(6, 1).positions(1000, 1000), (std::vector<Index>{0, 999, 311528, 432462, 999000, 999999}));
}

TEST(EntrySelection, takesNoMoreThanThereIs) {
  std::vector<Index> everything(12);
  std::iota(everything.begin(), everything.end(), Index{0});
  EXPECT_EQ(EntrySelection::sample(1000, 1).positions(3, 4), everything);
  EXPECT_EQ(EntrySelection::sample(0, 1).positions(3, 4), (std::vector<Index>{0, 3, 8, 11}));
  EXPECT_EQ(EntrySelection::sample(5, 1).positions(1, 1), (std::vector<Index>{0}));
  EXPECT_EQ(EntrySelection::sample(1, 1).positions(1, 9), (std::vector<Index>{0, 8}));
  EXPECT_TRUE(EntrySelection::sample(5, 1).positions(0, 7).empty());
}

TEST(EntrySelection, refusesANegativeCount) { EXPECT_THROW(EntrySelection::sample(-1, 1), std::invalid_argument); }

}  // namespace
}  // namespace ozbound::entry_selection_test
