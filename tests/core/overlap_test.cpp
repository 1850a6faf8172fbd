// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/detail/overlap.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bitset>
#include <complex>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace ozbound {

// Prints a view in messages of failed tests.
template <class View>
void print(const View& view, std::ostream& out) {
  std::visit(
      [&](const auto& v) {
        out << v.rows() << " x " << v.cols() << " at byte " << reinterpret_cast<std::uintptr_t>(v.data()) << ", strides "
            << v.row_stride() << " and " << v.col_stride() << ", elements of " << sizeof(*v.data()) << " bytes";
      },
      view.typed());
}
void PrintTo(const OutputView& view, std::ostream* out) { print(view, *out); }
void PrintTo(const ComplexOutputView& view, std::ostream* out) { print(view, *out); }

}  // namespace ozbound

namespace ozbound::overlap_test {
namespace {

/// A view at any address; views are not dereferenced.
template <class T>
MatrixView<T> view_at(std::uint64_t byte, Index rows, Index cols, Index row_stride, Index col_stride) {
  return {reinterpret_cast<T*>(byte), rows, cols, row_stride, col_stride};
}

constexpr std::uint64_t base = 4096;
using Bytes = std::bitset<4096>;

template <class T>
using OutputOf = std::conditional_t<std::is_floating_point_v<T>, OutputView, ComplexOutputView>;

/// A view in [base, base + 4096), its bytes, and a flag that is true if two elements share a byte.
template <class View>
struct Placed {
  View view;
  Bytes bytes;
  bool repeats;
};

template <class T>
Placed<OutputOf<T>> place(const MatrixView<T>& view) {
  Placed<OutputOf<T>> placed{view, {}, false};
  const auto start = reinterpret_cast<std::uintptr_t>(view.data()) - base;
  for (Index i = 0; i < view.rows(); ++i)
    for (Index j = 0; j < view.cols(); ++j)
      for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
        const auto at = start + static_cast<std::size_t>(i * view.row_stride() + j * view.col_stride()) * sizeof(T) + byte;
        placed.repeats = placed.repeats || placed.bytes.test(at);
        placed.bytes.set(at);
      }
  return placed;
}

/// An array: its strides in elements, and its start.
struct Array {
  Index rows, cols, row_stride, col_stride;
  std::uint64_t byte = 0;
};

/// Adds every non-empty block of an array, with all of its rows and columns or every second one.
template <class T>
void place_blocks(const Array& array, std::vector<Placed<OutputOf<T>>>& blocks) {
  for (const Index step : {1, 2})
    for (Index i = 0; i < array.rows; ++i)
      for (Index j = 0; j < array.cols; ++j)
        for (Index rows = 1; i + (rows - 1) * step < array.rows; ++rows)
          for (Index cols = 1; j + (cols - 1) * step < array.cols; ++cols) {
            const auto at = static_cast<std::uint64_t>(i * array.row_stride + j * array.col_stride) * sizeof(T);
            blocks.push_back(
                place(view_at<T>(base + array.byte + at, rows, cols, step * array.row_stride, step * array.col_stride)));
          }
}

/// Compares every pair of views, as they are and transposed.
template <class View>
void expect_exact(const std::vector<Placed<View>>& views) {
  std::size_t wrong = 0;
  for (const auto& y : views) {
    EXPECT_EQ(overlaps_itself(y.view), y.repeats) << testing::PrintToString(y.view);
    for (const auto& x : views) {
      const bool expected = (x.bytes & y.bytes).any();
      const auto input = x.view.as_input();
      if (overlap(input, y.view) == expected && overlap(input.transposed(), y.view) == expected) continue;
      ADD_FAILURE() << testing::PrintToString(x.view) << "\n" << testing::PrintToString(y.view) << "\nshare: " << expected;
      if (++wrong == 5) return;
    }
  }
}

TEST(OverlapTest, EveryPlacementOfBlocksOfOneArray) {
  std::vector<Placed<OutputView>> rows, columns;
  place_blocks<double>({4, 5, 5, 1}, rows);
  expect_exact(rows);
  place_blocks<double>({4, 5, 1, 4}, columns);
  expect_exact(columns);
}

TEST(OverlapTest, EveryPlacementOfBlocksOfArraysOfDifferentShapeAndType) {
  std::vector<Placed<OutputView>> blocks;
  place_blocks<double>({3, 3, 5, 1}, blocks);
  place_blocks<double>({3, 3, 1, 4, 16}, blocks);
  place_blocks<double>({2, 3, 2, 5, 24}, blocks);  // no stride is 1
  place_blocks<float>({3, 3, 7, 1, 4}, blocks);
  place_blocks<float>({3, 3, 2, 9, 20}, blocks);
  place_blocks<float>({2, 3, 1, 5, 11}, blocks);  // without any alignment
  expect_exact(blocks);
}

TEST(OverlapTest, EveryPlacementOfBlocksOfComplexArrays) {
  std::vector<Placed<ComplexOutputView>> blocks;
  place_blocks<std::complex<double>>({3, 3, 5, 1}, blocks);
  place_blocks<std::complex<double>>({3, 3, 1, 4, 8}, blocks);  // half an element apart
  place_blocks<std::complex<float>>({3, 3, 7, 1, 4}, blocks);
  place_blocks<std::complex<float>>({3, 3, 2, 9, 11}, blocks);
  expect_exact(blocks);
  EXPECT_EQ(overlap(blocks[0].view.as_input().conjugate(), blocks[0].view), true);
}

/// In the rank-1 update of a blocked LU, a row of 49 elements does not overlap the 49 lines of 2 below it.
TEST(OverlapTest, ARowAboveC) {
  const auto c = view_at<double>(base + 8, 2, 49, 1, 50);
  EXPECT_FALSE(overlap(view_at<double>(base, 1, 49, 1, 50), OutputView(c)));
  EXPECT_TRUE(overlap(view_at<double>(base, 2, 49, 1, 50), OutputView(c)));
  EXPECT_FALSE(overlap(view_at<double>(base + 24, 1, 49, 1, 50), OutputView(c)));
}

TEST(OverlapTest, EmptyViewsShareNothing) {
  const OutputView c = view_at<double>(base, 3, 3, 3, 1);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 3}, {3, 0}, {0, 0}}) {
    const auto empty = view_at<double>(base, rows, cols, 3, 1);
    EXPECT_FALSE(overlap(empty, c));
    EXPECT_FALSE(overlap(c.as_input(), OutputView(empty)));
    EXPECT_FALSE(overlaps_itself(OutputView(view_at<double>(base, rows, cols, 0, 0))));
    EXPECT_FALSE(overlap(MatrixView<const double>(nullptr, rows, cols, 3, 1), c));
  }
}

/// A random view whose strides start at 0: elements may repeat, lines may mesh, and distances have small common divisors.
template <class T>
Placed<OutputOf<T>> draw() {
  const auto size = rc::gen::inRange<Index>(0, 8);
  const auto stride = rc::gen::inRange<Index>(0, 17);
  const auto byte = base + static_cast<std::uint64_t>(*rc::gen::inRange(0, 200));
  return place(view_at<T>(byte, *size, *size, *stride, *stride));
}

template <class T, class U>
void check_random_strides() {
  std::vector<Placed<OutputOf<T>>> views;
  for (int t = 0; t < 10; ++t) views.push_back(draw<T>()), views.push_back(draw<U>());
  expect_exact(views);
  RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(OverlapProperty, HoldsForAllStrides, ()) { check_random_strides<double, float>(); }
RC_GTEST_PROP(OverlapProperty, HoldsForAllComplexStrides, ()) {
  check_random_strides<std::complex<double>, std::complex<float>>();
}

std::uint64_t power_up_to(int largest) {  // every size as likely
  return *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{2} << *rc::gen::inRange(0, largest));
}

/// Two lines with one common pair of elements, (i, p), and a reach of up to 2^61 bytes overlap if both reach that pair, and do
/// not if one is an element short.
RC_GTEST_PROP(OverlapProperty, HoldsForLongLines, ()) {
  const auto x_step = static_cast<Index>(power_up_to(27)), y_step = static_cast<Index>(power_up_to(27));
  const auto g = std::gcd(x_step, y_step);
  const auto i = *rc::gen::inRange<Index>(0, y_step / g), p = *rc::gen::inRange<Index>(0, x_step / g);
  const auto x_start = std::uint64_t{1} << 62;
  const auto y_start = x_start + 8 * static_cast<std::uint64_t>(i * x_step - p * y_step);
  const auto share = [&](Index x_length, Index y_length) {
    const auto y = view_at<double>(y_start, 1, y_length, 1, y_step);
    return overlap(view_at<double>(x_start, 1, x_length, 1, x_step), OutputView(y));
  };
  RC_ASSERT(share(i + 1, p + 1));
  RC_ASSERT(share(y_step / g, x_step / g));
  RC_ASSERT(!share(i, p + 1));
  RC_ASSERT(!share(i + 1, p));
  RC_ASSERT(!share(i, x_step / g));
  RC_ASSERT(!share(y_step / g, p));
}

/// The answer is right for a few elements in a view of up to 2^62 elements whose lines do not mesh.
RC_GTEST_PROP(OverlapProperty, HoldsForLargeViews, ()) {
  const auto y_step = static_cast<Index>(power_up_to(10)), y_length = static_cast<Index>(power_up_to(20));
  const auto y_line_step = y_step * y_length + static_cast<Index>(power_up_to(20));
  const auto y_lines = static_cast<Index>(power_up_to(60)) / y_line_step + 1;
  const auto y = view_at<float>(std::uint64_t{1} << 62, y_length, y_lines, y_step, y_line_step);
  // x meets an element of y, or misses it by a few bytes.
  const auto rows = *rc::gen::inRange<Index>(1, 30), cols = *rc::gen::inRange<Index>(1, 30);
  const auto row_stride = *rc::gen::inRange<Index>(0, y_line_step), col_stride = *rc::gen::inRange<Index>(0, 2 * y_step + 9);
  const auto met = 4 * (*rc::gen::inRange<Index>(0, y_lines) * y_line_step + *rc::gen::inRange<Index>(0, y_length) * y_step);
  const auto from = 8 * (*rc::gen::inRange<Index>(0, rows) * row_stride + *rc::gen::inRange<Index>(0, cols) * col_stride);
  const Index ahead = met - from + *rc::gen::inRange(-20, 20);  // distance of x's first byte from y's
  bool expected = false;
  const auto has = [&](Index byte) {  // true if y has this byte, counted from its first
    const Index line = 4 * y_line_step;
    return byte >= 0 && byte / line < y_lines && byte % line / (4 * y_step) < y_length && byte % (line) % (4 * y_step) < 4;
  };
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      for (Index byte = 0; byte < 8; ++byte) expected = expected || has(ahead + 8 * (i * row_stride + j * col_stride) + byte);
  const auto x =
      view_at<double>((std::uint64_t{1} << 62) + static_cast<std::uint64_t>(ahead), rows, cols, row_stride, col_stride);
  RC_CLASSIFY(expected, "share a byte");
  RC_ASSERT(overlap(x, OutputView(y)) == expected);
  RC_ASSERT(overlap(y, OutputView(x)) == expected);
  RC_ASSERT(overlap(y.transposed(), OutputView(x.transposed())) == expected);
}

/// Sizes and strides of 2^62 do not overflow; elements beyond the address space count as absent.
TEST(OverlapTest, SizesBeyondTheAddressSpace) {
  const Index huge = Index{1} << 62;
  const auto boundless = view_at<double>(base, huge, huge, huge, huge - 1);
  EXPECT_TRUE(overlap(boundless, OutputView(view_at<double>(base, 1, 1, huge, huge))));
  EXPECT_TRUE(overlap(boundless, OutputView(view_at<double>(base - 8, huge, 1, 1, huge))));
  EXPECT_FALSE(overlap(boundless, OutputView(view_at<double>(base + 8, huge, huge, 1, 1))));
  EXPECT_FALSE(overlap(boundless, OutputView(view_at<double>(base - 8, huge, huge, huge, huge))));
  EXPECT_FALSE(overlaps_itself(OutputView(boundless)));
  EXPECT_TRUE(overlaps_itself(OutputView(view_at<double>(base, huge, huge + 1, huge, huge - 1))));
  const auto complex = view_at<std::complex<double>>(base, huge, huge, huge, huge - 1);
  EXPECT_FALSE(overlaps_itself(ComplexOutputView(complex)));
  EXPECT_TRUE(overlap(complex, ComplexOutputView(complex)));
  EXPECT_FALSE(overlap(complex, ComplexOutputView(view_at<std::complex<double>>(base + 16, huge, huge, huge, huge))));
}

}  // namespace
}  // namespace ozbound::overlap_test
