// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "properties/disturbed.hpp"

namespace ozbound::test {

/// Checks that work() gives in every setting the result of the caller's setting, and leaves the setting in force.
template <class Work>
void expect_the_same(const std::string& what, const Work& work) {
  const auto expected = work();
  for (const auto& setting : settings) {
    auto other = expected;
    {
      const Disturbed caller(setting);
      other = work();
      EXPECT_TRUE(Disturbed::in_force(setting)) << what << ", " << setting.name;
    }
    EXPECT_EQ(other, expected) << what << ", " << setting.name;
  }
}

}  // namespace ozbound::test
