// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

// LAPACK's blocked algorithms over the C interface: every operand and every C is part of one array. Products are correctly
// rounded, so their bits equal those of products of copies, whatever method computes them.

namespace {

using Index = std::int64_t;

constexpr double unit_roundoff = 0x1p-53;

/// A part of an array.
struct Block {
  Index i, j, rows, cols;
};

/// An array of rows x cols, in either layout.
class Array {
 public:
  Array(int layout, Index rows, Index cols)
      : layout_(layout),
        ld_(3 + (layout == OZB_ROW_MAJOR ? cols : rows)),
        elements_(static_cast<std::size_t>(ld_ * (layout == OZB_ROW_MAJOR ? rows : cols))) {}

  double* at(Index i, Index j) { return elements_.data() + (layout_ == OZB_ROW_MAJOR ? i * ld_ + j : i + j * ld_); }
  double& operator()(Index i, Index j) { return *at(i, j); }
  [[nodiscard]] double operator()(Index i, Index j) const { return *const_cast<Array*>(this)->at(i, j); }
  [[nodiscard]] int layout() const { return layout_; }
  [[nodiscard]] Index ld() const { return ld_; }
  [[nodiscard]] const std::vector<double>& elements() const { return elements_; }

 private:
  int layout_;
  Index ld_;
  std::vector<double> elements_;
};

/// C += alpha op(A) op(B), or C = op(A) op(B), for blocks of one array.
struct Product {
  int op_a;
  Block a;
  int op_b;
  Block b;
  double alpha, beta;
  Block c;

  [[nodiscard]] Index k() const { return op_a == OZB_NONE ? a.cols : a.rows; }
};

void multiply(const Product& x, Array& a, Block at_a, Array& b, Block at_b, Array& c, Block at_c) {
  const int status = ozb_dgemm(c.layout(), x.op_a, x.op_b, x.c.rows, x.c.cols, x.k(), x.alpha, a.at(at_a.i, at_a.j), a.ld(),
                               b.at(at_b.i, at_b.j), b.ld(), x.beta, c.at(at_c.i, at_c.j), c.ld(), "cr", nullptr);
  ASSERT_EQ(status, OZB_SUCCESS) << ozb_last_error();
}

void multiply_in_place(Array& array, const Product& x) { multiply(x, array, x.a, array, x.b, array, x.c); }

/// The oracle: the same product of copies in separate arrays.
void multiply_copies(Array& array, const Product& x) {
  const auto copy = [&](Block block) {
    Array own(array.layout(), block.rows, block.cols);
    for (Index i = 0; i < block.rows; ++i)
      for (Index j = 0; j < block.cols; ++j) own(i, j) = array(block.i + i, block.j + j);
    return own;
  };
  auto a = copy(x.a), b = copy(x.b), c = copy(x.c);
  multiply(x, a, {}, b, {}, c, {});
  for (Index i = 0; i < x.c.rows; ++i)
    for (Index j = 0; j < x.c.cols; ++j) array(x.c.i + i, x.c.j + j) = c(i, j);
}

using Multiply = void (*)(Array&, const Product&);

/// Subtracts A B, with the blocks to the left of C and above it; does nothing if one of them is empty.
void update(Array& x, Multiply multiply, Block a, int op_b, Block b, Block c) {
  if (c.rows > 0 && c.cols > 0 && a.cols > 0) multiply(x, {OZB_NONE, a, op_b, b, -1, 1, c});
}

/// LU with partial pivoting of the n x n array (dgetrf): L below a diagonal of ones, U above. Returns the row order.
std::vector<Index> factor_lu(Array& x, Index n, Index width, Multiply multiply) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)] = i;
  for (Index first = 0; first < n; first += width) {
    const Index end = std::min(first + width, n);
    for (Index j = first; j < end; ++j) {
      Index pivot = j;
      for (Index i = j + 1; i < n; ++i)
        if (std::abs(x(i, j)) > std::abs(x(pivot, j))) pivot = i;
      std::swap(rows[static_cast<std::size_t>(j)], rows[static_cast<std::size_t>(pivot)]);
      for (Index l = 0; l < n && pivot != j; ++l) std::swap(x(j, l), x(pivot, l));
      for (Index i = j + 1; i < n; ++i) x(i, j) /= x(j, j);
      const Index below = j + 1, right = end - below;  // a row above C, a column beside it
      update(x, multiply, {below, j, n - below, 1}, OZB_NONE, {j, below, 1, right}, {below, below, n - below, right});
    }
    for (Index i = first + 1; i < end; ++i)  // U_12 = L_11^-1 A_12
      update(x, multiply, {i, first, 1, i - first}, OZB_NONE, {first, end, i - first, n - end}, {i, end, 1, n - end});
    update(x, multiply, {end, first, n - end, end - first}, OZB_NONE, {first, end, end - first, n - end},
           {end, end, n - end, n - end});
  }
  return rows;
}

/// A = L L^T of the lower half of the n x n array (dpotrf), left-looking.
void factor_cholesky(Array& x, Index n, Index width, Multiply multiply) {
  for (Index first = 0; first < n; first += width) {
    const Index end = std::min(first + width, n);
    update(x, multiply, {first, 0, n - first, first}, OZB_TRANSPOSE, {first, 0, end - first, first},
           {first, first, n - first, end - first});
    for (Index j = first; j < end; ++j) {
      update(x, multiply, {j, first, n - j, j - first}, OZB_TRANSPOSE, {j, first, 1, j - first}, {j, j, n - j, 1});
      const double root = std::sqrt(x(j, j));
      for (Index i = j; i < n; ++i) x(i, j) = i == j ? root : x(i, j) / root;
    }
  }
}

/// QR of the m x n part at (0, 0) by Householder's reflectors in compact WY form, I - V T V^T (dgeqrf, dlarft, dlarfb). The
/// same array holds V at (0, n) and T and two panels, their factors, at (m, 0), (m + width, 0), (m + 2 width, 0).
void factor_qr(Array& x, Index m, Index n, Index width, Multiply multiply) {
  for (Index first = 0; first < n; first += width) {
    const Index size = std::min(width, n - first), rows = m - first;
    for (Index l = 0; l < size; ++l) {
      const Index j = first + l;
      double sum = 0;
      for (Index i = j; i < m; ++i) sum += x(i, j) * x(i, j);
      const double head = x(j, j) + std::copysign(std::sqrt(sum), x(j, j));
      double square = 1;
      for (Index i = first; i < m; ++i) x(i, n + l) = i < j ? 0 : i == j ? 1 : x(i, j) / head;
      for (Index i = j + 1; i < m; ++i) square += x(i, n + l) * x(i, n + l);
      const double tau = 2 / square;
      const Block v{first, n + l, rows, 1}, rest{first, j, rows, first + size - j}, product{m + width, 0, 1, first + size - j};
      multiply(x, {OZB_TRANSPOSE, v, OZB_NONE, rest, 1, 0, product});
      multiply(x, {OZB_NONE, v, OZB_NONE, product, -tau, 1, rest});
      // Column l of T: -tau T (V^T v), then tau on the diagonal.
      for (Index i = l; i < width; ++i) x(m + i, l) = i == l ? tau : 0;
      if (l == 0) continue;
      const Block dots{m + 2 * width, 0, l, 1};
      multiply(x, {OZB_TRANSPOSE, {first, n, rows, l}, OZB_NONE, v, -tau, 0, dots});
      multiply(x, {OZB_NONE, {m, 0, l, l}, OZB_NONE, dots, 1, 0, {m, l, l, 1}});
    }
    const Index right = n - first - size;
    if (right == 0) return;
    const Block v{first, n, rows, size}, t{m, 0, size, size}, rest{first, first + size, rows, right};
    const Block products{m + width, 0, size, right}, scaled{m + 2 * width, 0, size, right};
    multiply(x, {OZB_TRANSPOSE, v, OZB_NONE, rest, 1, 0, products});
    multiply(x, {OZB_TRANSPOSE, t, OZB_NONE, products, 1, 0, scaled});
    multiply(x, {OZB_NONE, v, OZB_NONE, scaled, -1, 1, rest});
  }
}

void fill(Array& x, Index rows, Index cols) {
  std::mt19937 engine(17);
  std::uniform_real_distribution<double> number(-1, 1);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = number(engine);
}

bool same_bits(const Array& x, const Array& y) {
  return std::memcmp(x.elements().data(), y.elements().data(), x.elements().size() * sizeof(double)) == 0;
}

/// Checks |A - L U| <= gamma |L| |U| by entry, with gamma of n operations, n + 1 with roots (Higham, Accuracy and Stability of
/// Numerical Algorithms, Theorems 9.3 and 10.3). A's rows are in the order of the factors; L and U are given as functions.
template <class A, class L, class U>
void expect_backward_stable(Index n, Index rounded, const A& a, const L& l, const U& u) {
  const long double steps = static_cast<long double>(rounded) * unit_roundoff, gamma = steps / (1 - steps);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      long double sum = 0, size = 0;
      for (Index p = 0; p < n; ++p) {
        sum += static_cast<long double>(l(i, p)) * u(p, j);
        size += std::abs(static_cast<long double>(l(i, p)) * u(p, j));
      }
      // These sums also round, by less than n 2^-63 of `size`.
      ASSERT_LE(std::abs(sum - a(i, j)), (gamma + static_cast<long double>(n) * 0x1p-63L) * size) << i << ", " << j;
    }
}

class BlockedFactorization : public testing::TestWithParam<std::tuple<int, Index, Index>> {};

TEST_P(BlockedFactorization, LuInOneArray) {
  const auto [layout, n, width] = GetParam();
  Array x(layout, n, n);
  fill(x, n, n);
  auto y = x;
  const auto a = x;
  const auto rows = factor_lu(x, n, width, multiply_in_place);
  EXPECT_EQ(rows, factor_lu(y, n, width, multiply_copies));
  EXPECT_TRUE(same_bits(x, y));
  expect_backward_stable(
      n, n, [&](Index i, Index j) { return a(rows[static_cast<std::size_t>(i)], j); },
      [&](Index i, Index p) { return p < i    ? x(i, p)
                                     : p == i ? 1
                                              : 0; },
      [&](Index p, Index j) { return p > j ? 0 : x(p, j); });
}

TEST_P(BlockedFactorization, CholeskyInOneArray) {
  const auto [layout, n, width] = GetParam();
  Array x(layout, n, n);
  fill(x, n, n);
  for (Index i = 0; i < n; ++i) x(i, i) += static_cast<double>(n);  // diagonally dominant
  auto y = x;
  const auto a = x;
  factor_cholesky(x, n, width, multiply_in_place);
  factor_cholesky(y, n, width, multiply_copies);
  EXPECT_TRUE(same_bits(x, y));
  const auto l = [&](Index i, Index p) { return p > i ? 0 : x(i, p); };
  expect_backward_stable(
      n, n + 1, [&](Index i, Index j) { return a(std::max(i, j), std::min(i, j)); }, l,
      [&](Index p, Index j) { return l(j, p); });
}

TEST_P(BlockedFactorization, QrInOneArray) {
  const auto [layout, n, width] = GetParam();
  const Index m = n + 5;
  Array x(layout, m + 3 * width, n + width);
  fill(x, m, n);
  auto y = x;
  const auto a = x;
  factor_qr(x, m, n, width, multiply_in_place);
  factor_qr(y, m, n, width, multiply_copies);
  EXPECT_TRUE(same_bits(x, y));
  EXPECT_FALSE(same_bits(x, a));
}

std::string name_of(const testing::TestParamInfo<BlockedFactorization::ParamType>& info) {
  const auto [layout, n, width] = info.param;
  return std::string(layout == OZB_ROW_MAJOR ? "Rows" : "Columns") + std::to_string(n) + "By" + std::to_string(width);
}

INSTANTIATE_TEST_SUITE_P(Layouts, BlockedFactorization,
                         testing::Combine(testing::Values(OZB_ROW_MAJOR, OZB_COLUMN_MAJOR), testing::Values<Index>(1, 13, 33),
                                          testing::Values<Index>(1, 8)),
                         name_of);

}  // namespace
