// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/result_view.hpp"

#include <gtest/gtest.h>

namespace ozbound::result_view_test {
namespace {

TEST(ResultView, readsDoublesAndFloatsInPlace) {
  Matrix<double> doubles(2, 3);
  doubles(1, 2) = 0.1;
  Matrix<float> floats(3, 2);
  floats(2, 1) = 0.1F;
  const ResultView of_doubles = doubles;
  const ResultView of_floats = floats.view();
  EXPECT_EQ(of_doubles.format(), ResultFormat::of_double);
  EXPECT_EQ(of_floats.format(), ResultFormat::of_float);
  EXPECT_EQ(of_doubles(1, 2), 0.1);
  EXPECT_EQ(of_floats(2, 1), static_cast<double>(0.1F));
  EXPECT_EQ(of_doubles.rows(), 2);
  EXPECT_EQ(of_doubles.cols(), 3);
  EXPECT_EQ(of_floats.rows(), 3);
  EXPECT_EQ(of_floats.cols(), 2);
  EXPECT_EQ(ResultView(doubles.view().transposed())(2, 1), 0.1);
}

}  // namespace
}  // namespace ozbound::result_view_test
