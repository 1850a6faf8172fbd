// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <vector>

#include "ozbound/verify/plot/plot.hpp"
#include "support/any_environment.hpp"

namespace ozbound::any_environment_test {
namespace {

TEST(AnyEnvironment, PlotsAreTheSame) {
  const std::vector<Series> curves{
      {.plot = "p", .label = "l", .x_axis = "x", .y_axis = "y", .points = {{1, 0.1}, {3, 0x1p-1074}}}};
  test::expect_the_same("plot", [&] { return svg(curves); });
}

}  // namespace
}  // namespace ozbound::any_environment_test
