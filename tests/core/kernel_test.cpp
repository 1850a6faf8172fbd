// SPDX-License-Identifier: BSD-3-Clause
// Every kernel that this processor runs gives the integers of plain loops, also at the limits, and rounds rows as combine
// rounds entries.

#include "ozbound/core/kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/progress.hpp"
#include "support/emulated_amx.hpp"
#include "support/full_digits.hpp"
#include "support/gemm_calls.hpp"

namespace ozbound::kernel_test {
namespace {

using test::RandomBits;
using test::StoredMatrix;

class KernelTest : public testing::TestWithParam<const Kernel*> {
 protected:
  const Kernel& kernel = *GetParam();
};

/// The panels of one slice in a kernel's layout.
struct Panels {
  PanelLayout rows, columns;
  Index a_vectors, b_vectors, digits;
  std::vector<std::int8_t> a, b;

  /// The slack behind each panel holds digits that would change a sum if they were read.
  Panels(const Kernel& kernel, Index m, Index n, Index inner)
      : rows(kernel.layout(Side::rows_of_a)),
        columns(kernel.layout(Side::columns_of_b)),
        a_vectors(m),
        b_vectors(n),
        digits(rows.filled_up(inner)),
        a(static_cast<std::size_t>(m * digits) + Kernel::panel_slack, 77),
        b(static_cast<std::size_t>(n * digits) + Kernel::panel_slack, 77) {}

  template <class A, class B>
  void fill(const A& a_digit, const B& b_digit) {
    for (std::size_t at = 0; at + Kernel::panel_slack < a.size(); ++at) a[at] = a_digit();
    for (std::size_t at = 0; at + Kernel::panel_slack < b.size(); ++at) b[at] = b_digit();
  }

  static std::int8_t digit(const PanelLayout& layout, const std::vector<std::int8_t>& panel, Index vectors, Index i, Index l) {
    return panel[static_cast<std::size_t>((l / layout.step * vectors + i) * layout.step + l % layout.step)];
  }

  [[nodiscard]] std::uint32_t sum(Index i, Index j) const {
    std::uint32_t total = 0;
    for (Index l = 0; l < digits; ++l) {
      const int x = digit(rows, a, a_vectors, i, l), byte = digit(columns, b, b_vectors, j, l);
      total += static_cast<std::uint32_t>(x * (columns.unsigned_bytes ? byte & 0xff : byte));
    }
    return total;
  }
};

testing::AssertionResult multiplies_rightly(const Kernel& kernel, const Panels& panels) {
  const KernelScope scope(kernel);
  std::vector<std::int32_t> products(static_cast<std::size_t>(kernel.rows() * kernel.columns()));
  kernel.multiply(panels.a.data(), panels.a_vectors, panels.b.data(), panels.b_vectors, panels.digits, products.data());
  for (Index i = 0; i < panels.a_vectors; ++i)
    for (Index j = 0; j < panels.b_vectors; ++j) {
      const auto product = static_cast<std::uint32_t>(products[static_cast<std::size_t>(i * kernel.columns() + j)]);
      if (product != panels.sum(i, j))
        return testing::AssertionFailure() << kernel.name << ": (" << i << ", " << j << ") is " << product << ", not "
                                           << panels.sum(i, j) << ", " << panels.a_vectors << " x " << panels.b_vectors << ", "
                                           << panels.digits << " digits";
    }
  return testing::AssertionSuccess();
}

TEST_P(KernelTest, MultipliesPanelsOfEveryShape) {
  RandomBits random(1);
  const Index multiple = kernel.layout(Side::rows_of_a).multiple;
  for (Index m = 1; m <= kernel.rows(); ++m)
    for (Index n = 1; n <= kernel.columns(); ++n)
      for (const Index digits :
           {Index{0}, multiple, 2 * multiple, std::max<Index>(252, 3 * multiple), Index{256}, Index{260}}) {
        if (digits > multiple && kernel.rows() > 8 && (m % 5 != 2 || n % 3 != 1)) continue;  // only some of very many shapes
        Panels panels(kernel, m, n, digits);
        const auto byte = [&] { return static_cast<std::int8_t>(random.below(256) - 128); };
        panels.fill(byte, byte);
        ASSERT_TRUE(multiplies_rightly(kernel, panels));
      }
}

/// Sums of the largest digits are right where the sum of stored digits wraps modulo 2^32 and that of the digits does not:
/// 131071 and 131072 products, 33025 and 33026 of unsigned digits.
TEST_P(KernelTest, FullDigitsAtTheLimitsOfInt32) {
  for (const int x : {-128, 127})
    for (const int y : {0, 127, -128, -1})
      for (const Index digits : {33024, 33028, 131068, 131072, 2 * 131072}) {
        const bool large = kernel.rows() > 8;  // some vectors suffice for large tiles
        Panels panels(kernel, large ? 17 : kernel.rows(), large ? 18 : kernel.columns(), digits);
        panels.fill([x] { return static_cast<std::int8_t>(x); }, [y] { return static_cast<std::int8_t>(y); });
        ASSERT_TRUE(multiplies_rightly(kernel, panels)) << x << ", " << y;
      }
}

/// Sums of every group are right on both sides of INT32's limit, for random digits and for the largest ones.
TEST_P(KernelTest, SumsBeyondInt32) {
  for (const auto& encoding : {Encoding::balanced(), Encoding::unsigned8()}) {
    const auto full = test::full_digits(encoding);
    const SplitPlan plan{{encoding, full.slices}, {encoding, full.slices}, 2 * full.slices, Accumulation::exact};
    const Index terms = plan.int32_terms(), pairs = test::fullest_diagonal(encoding).pairs;
    for (const Index k : {terms / pairs, terms / pairs + 1, terms / pairs + 64})
      EXPECT_TRUE(test::full_sums_are_exact(plan, k, &kernel));
  }
  const auto one = SplitPlan::balanced(6, 6, 2);  // two INT32 sums of one pair
  EXPECT_TRUE(test::full_sums_are_exact(one, 131072, &kernel));
}

/// Sums equal the portable kernel's for every way in which pairs of slices form groups: tiles of several panels, panels that
/// are not full, blocks that are cut.
TEST_P(KernelTest, SumsGroupsOfEveryKind) {
  RandomBits random(4);
  for (int repetition = 0; repetition < 60; ++repetition) {
    const auto plan = test::sample_plan(random, 10);
    const Index m = random.between(1, 75), n = random.between(1, 75), k = random.between(1, 400);
    StoredMatrix a(m, k), b(k, n);
    test::fill(a, Side::rows_of_a, true, random);
    test::fill(b, Side::columns_of_b, true, random);
    constexpr Index inner_blocks[] = {0, 1, 64, 100, 192};
    auto options = test::sample_options(random);
    options.inner_block = random.pick(inner_blocks);
    const auto sums = [&](const Kernel& by) {
      options.kernel = &by;
      const CpuEngine engine(options);
      const auto sliced_a = engine.slice(a.input(), Side::rows_of_a, plan.a);
      return engine.group_sums(sliced_a, engine.slice(b.input(), Side::columns_of_b, plan.b), plan);
    };
    const auto found = sums(kernel), expected = sums(*kernels().back());
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t t = 0; t < found.size(); ++t)
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j)
          ASSERT_EQ(found[t](i, j), expected[t](i, j))
              << "group " << t << " of (" << i << ", " << j << "), " << m << " x " << n << " x " << k << ", " << to_string(plan)
              << ", inner_block " << options.inner_block;
  }
}

/// All bits equal the portable kernel's, whichever kernel slices, multiplies and rounds, for every encoding and any operands.
TEST_P(KernelTest, GivesTheBitsOfThePortableOne) {
  RandomBits random(2);
  for (int repetition = 0; repetition < 300; ++repetition) {
    auto options = test::sample_options(random);
    const auto plan = test::sample_plan(random);
    auto call =
        test::sample_call({random.below(40), random.below(70), random.below(90), random.once_in(2), random.once_in(2)}, random);
    if (random.once_in(2)) call.alpha = random.once_in(2) ? 1 : -0x1p-3, call.beta = 0;
    auto expected = call;
    options.kernel = kernels().back();
    multiply_unproven(expected.product(), plan, CpuEngine(options));
    options.kernel = &kernel;
    multiply_unproven(call.product(), plan, CpuEngine(options));
    ASSERT_TRUE(test::same_bits(call.c, test::bits_of_matrix(expected.c))) << test::describe(call, plan, options);
  }
}

/// The progress callback may multiply too: a kernel holds the units it configures only while it multiplies.
TEST_P(KernelTest, IsFreeWhereProgressIsTold) {
  constexpr Index size = 90;
  RandomBits random(5);
  StoredMatrix a(size, size), b(size, size);
  test::fill(a, Side::rows_of_a, false, random);
  test::fill(b, Side::columns_of_b, false, random);
  const auto product = [&] {
    Matrix<double> c(size, size);
    const CpuEngine engine({.threads = 2, .row_tile = 32, .column_tile = 32, .kernel = &kernel});
    multiply_unproven({a.input(), b.input(), c}, SplitPlan::balanced(3, 3, 4), engine);
    return std::vector<double>(c.data(), c.data() + size * size);
  };
  const auto expected = product();
  std::atomic<int> told = 0, others = 0;
  const ProgressScope scope([&](double) {
    const ProgressScope within([](double) {});
    ++told;
    if (product() != expected) ++others;
  });
  EXPECT_EQ(product(), expected);
  EXPECT_GE(told, 4);
  EXPECT_EQ(others, 0);
}

/// C = alpha A B for a row and a column, with every digit and product kept.
template <class T>
T entry(const Kernel& kernel, const std::vector<double>& row, const std::vector<double>& column, double alpha = 1) {
  const auto k = static_cast<Index>(row.size());
  Matrix<T> c(1, 1);
  const RealProduct call{row_major(row.data(), 1, k, k), row_major(column.data(), k, 1, 1), c, alpha};
  multiply_unproven(call, parse_plan("balanced:7x7:full:exact"), CpuEngine({.threads = 1, .kernel = &kernel}));
  return c(0, 0);
}

/// Rows are rounded once: (1 + 2^-30) (1 + 2^-23) ends with 2^-53, so the result is 2^-108 off a midpoint of two doubles, which
/// no addition to nearest keeps.
TEST_P(KernelTest, RoundsRowsOnce) {
  constexpr double even = 1 + 0x1p-23 + 0x1p-30, x = 1 + 0x1p-30, y = 1 + 0x1p-23, tiny = 0x1p-54;
  EXPECT_EQ(entry<double>(kernel, {x, 0}, {y, 0}), even);
  EXPECT_EQ(entry<double>(kernel, {x, tiny}, {y, tiny}), even + 0x1p-52);
  EXPECT_EQ(entry<double>(kernel, {x, tiny}, {y, -tiny}), even);
  EXPECT_EQ(entry<double>(kernel, {x, 0x1p-26}, {y, 0x1p-26}), even + 0x1p-51);
  EXPECT_EQ(entry<double>(kernel, {x, 0x1p-26, tiny}, {y, 0x1p-26, -tiny}), even + 0x1p-52);
  EXPECT_EQ(entry<double>(kernel, {x, tiny}, {y, tiny}, -0x1p10), -0x1p10 * (even + 0x1p-52));
}

TEST_P(KernelTest, RoundsRowsToFloatOnce) {
  constexpr double midway = 1 + 0x1p-24, tiny = 0x1p-40;
  EXPECT_EQ(entry<float>(kernel, {1, 0}, {midway, 0}), 1.0f);
  EXPECT_EQ(entry<float>(kernel, {1, tiny}, {midway, tiny}), 1 + 0x1p-23f);
  EXPECT_EQ(entry<float>(kernel, {1, tiny}, {midway, -tiny}), 1.0f);
  EXPECT_EQ(entry<float>(kernel, {0x1p-149, 0x1p-180}, {0.5, 0x1p-20}), 0x1p-149f);
  EXPECT_EQ(entry<float>(kernel, {0x1p127}, {2}), std::numeric_limits<float>::infinity());
}

TEST_P(KernelTest, ExactZerosArePositive) {
  for (const double alpha : {1.0, -1.0}) {
    EXPECT_EQ(bits_of(entry<double>(kernel, {1, 1}, {1, -1}, alpha)), 0u);
    EXPECT_EQ(bits_of(entry<double>(kernel, {0, 0}, {1, -1}, alpha)), 0u);
    EXPECT_EQ(bits_of(entry<float>(kernel, {1, -1}, {1, 1}, alpha)), 0u);
  }
}

/// The largest error with which Ziv's test decides entry (0, 0), and the next double, with which it does not; by bisection of
/// combine.
std::pair<double, double> limit_of_error(const std::function<bool(double)>& decides) {
  auto least = bits_of(0.0), most = bits_of(std::numeric_limits<double>::infinity());
  while (most - least > 1) {
    const auto middle = least + (most - least) / 2;
    (decides(double_from_bits(middle)) ? least : most) = middle;
  }
  return {double_from_bits(least), double_from_bits(most)};
}

/// Elements of 30 bits over 40 binades, or powers of two.
Matrix<double> random_elements(Index rows, Index cols, bool powers, RandomBits& random) {
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      matrix(i, j) = std::ldexp(powers ? 0x1p29 : static_cast<double>(random.below(1u << 30)) - 0x1p29,
                                -static_cast<int>(random.below(40)));
  return matrix;
}

/// Rows leave the same entries open as combine, for errors at the limit of the first entry, near it and far from it.
TEST_P(KernelTest, LeavesOpenWhatCombineDoes) {
  constexpr Index m = 3, n = 20;
  RandomBits random(3);
  const CpuEngine engine({.threads = 1, .kernel = &kernel});
  std::size_t open = 0, entries = 0;
  for (int repetition = 0; repetition < 60; ++repetition) {
    const int slices = 2 + static_cast<int>(random.below(6));
    const auto plan = SplitPlan::balanced(slices, slices, slices + 1);
    const bool powers = random.once_in(3);
    const Index k = powers ? 1 : 1 + random.below(9);
    const double alpha = random.once_in(2) ? 1 : -0x1p-3;
    const auto a = engine.slice(random_elements(m, k, powers, random), Side::rows_of_a, plan.a);
    const auto b = engine.slice(random_elements(k, n, powers, random), Side::columns_of_b, plan.b);
    const auto groups = engine.group_sums(a, b, plan);
    const auto expected = [&](Index i, Index j, double error) {
      std::vector<std::int64_t> sums;
      for (const auto& group : groups) sums.push_back(group(i, j));
      return combine(sums.data(), 1, sum_layout(plan, k), a.exponent(i) + b.exponent(j), {to_dyadic(alpha), {}, binary64}, {},
                     error);
    };
    const auto [inside, outside] = limit_of_error([&](double error) { return expected(0, 0, error).decided; });
    for (const double error : {inside, outside, inside * (1 - 0x1p-30), inside * (1 + 0x1p-30), 0.0, inside / 2, 1.0}) {
      const EntryBound bound{{{"error", {{std::vector<double>(m, 1), std::vector<double>(n, error)}}}}};
      Matrix<double> c(m, n);
      const auto undecided = engine.multiply(a, b, plan, {alpha, 0, {}, &bound}, c);
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) {
          const auto entry = expected(i, j, bound.upper(i, j));
          ASSERT_EQ(std::binary_search(undecided.begin(), undecided.end(), Entry{i, j}), !entry.decided) << error;
          ASSERT_TRUE(!entry.decided || bits_of(c(i, j)) == entry.bits);
        }
      open += undecided.size(), entries += m * n;
    }
  }
  EXPECT_GT(open, entries / 20);
  EXPECT_LT(open, entries - entries / 20);
}

INSTANTIATE_TEST_SUITE_P(Emulated, KernelTest, testing::Values(&test::emulated_amx()),
                         [](const auto& one) { return std::string(one.param->name); });
INSTANTIATE_TEST_SUITE_P(Kernels, KernelTest, testing::ValuesIn(kernels().begin(), kernels().end()),
                         [](const auto& one) { return std::string(one.param->name); });

TEST(Kernels, AreFoundByTheirNames) {
  for (const auto* kernel : kernels()) {
    EXPECT_EQ(&find_kernel(kernel->name), kernel);
    EXPECT_EQ(&CpuEngine({.kernel = kernel}).kernel(), kernel);
    ASSERT_EQ(setenv("OZBOUND_KERNEL", std::string(kernel->name).c_str(), 1), 0);
    EXPECT_EQ(&default_kernel(), kernel);
    EXPECT_EQ(&CpuEngine().kernel(), kernel);
    ASSERT_EQ(unsetenv("OZBOUND_KERNEL"), 0);
  }
}

TEST(Kernels, EndWithThePortableOne) {
  EXPECT_EQ(kernels().back()->name, "portable");
  EXPECT_EQ(&default_kernel(), kernels().front());
}

TEST(Kernels, UnknownNamesAreRefused) {
  using testing::HasSubstr;
  EXPECT_THAT([] { find_kernel("mmx"); }, testing::ThrowsMessage<std::invalid_argument>(HasSubstr("portable")));
  ASSERT_EQ(setenv("OZBOUND_KERNEL", "mmx", 1), 0);
  EXPECT_THAT([] { default_kernel(); }, testing::ThrowsMessage<std::invalid_argument>(HasSubstr("OZBOUND_KERNEL")));
  ASSERT_EQ(setenv("OZBOUND_KERNEL", "", 1), 0);
  EXPECT_EQ(&default_kernel(), kernels().front());
  ASSERT_EQ(unsetenv("OZBOUND_KERNEL"), 0);
}

}  // namespace
}  // namespace ozbound::kernel_test
