// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include <omp.h>

#include "ozbound/native.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "bounds/hostile_environment.hpp"

namespace {

std::atomic<int> asked{0};       ///< number of calls of getloadavg
std::atomic<int> high_until{0};  ///< the load is high up to this number of calls

}  // namespace

/// Replaces the machine's function: libgomp sizes teams by this load if OMP_DYNAMIC is set.
extern "C" int getloadavg(double* load, int count) noexcept {
  std::fill_n(load, count, asked++ < high_until ? 1000 : 0);
  return count;
}

namespace ozbound::native_test {
namespace {

[[maybe_unused]] constexpr double inf = std::numeric_limits<double>::infinity();
[[maybe_unused]] const double nan = std::numeric_limits<double>::quiet_NaN();

[[maybe_unused]] const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

#ifndef OZBOUND_HAVE_OPENBLAS

TEST(Native, IsNoneWithoutALibrary) { EXPECT_EQ(native_gemm(), nullptr); }

TEST(Native, HasNoZgemmEither) { EXPECT_EQ(native_zgemm(), nullptr); }

#else

/// A decision for native DGEMM, whatever decide would choose.
Decision decision_for(const test::SampleProduct& product, const Target& target) {
  return {target, Method::native, {}, product.m(), product.n(), product.k(), 28, 1, {}, {}};
}

test::Computed compute(const test::SampleProduct& product, const Target& target) {
  return test::compute_with(product, decision_for(product, target), {engine(), native_gemm()});
}

TEST(Native, HasANameAndIsOneObject) {
  ASSERT_NE(native_gemm(), nullptr);
  EXPECT_NE(native_gemm()->name().find("OpenBLAS"), std::string::npos) << native_gemm()->name();
  EXPECT_EQ(native_gemm(), native_gemm());
}

/// ZGEMM is column-major: (1 + 2i, 3; 0, i) times (1; 1 - i) gives 4 - i, 1 + i.
TEST(Native, ZgemmIsColumnMajor) {
  using Complex = std::complex<double>;
  const std::vector<Complex> a{{1, 2}, 0, 3, {0, 1}}, b{1, {1, -1}};
  std::vector<Complex> c(3, {7, 7});
  ASSERT_NE(native_zgemm(), nullptr);
  native_zgemm()(2, 1, 2, a.data(), b.data(), c.data());
  EXPECT_EQ(c, (std::vector<Complex>{{4, -1}, {1, 1}, {7, 7}}));
  const std::vector<Complex> row{{1, 2}, 3, {0, 1}};
  native_zgemm()(1, 1, 2, row.data(), b.data(), c.data());
  EXPECT_EQ(c[0], Complex(4, -1));
  native_zgemm()(0, 0, 2, a.data(), b.data(), c.data());
  native_zgemm()(1, 1, 0, a.data(), b.data(), c.data());
  EXPECT_EQ(c[0], Complex(0, 0));
}

TEST(Native, StaysWithinItsBound) {
  test::RandomBits random(1);
  int holds = 0;
  for (const auto family : all_families())
    for (const double phi : {0.0, 0.5, 2.0, 4.0})
      for (int t = 0; t < 4; ++t) {
        auto product = test::sample_product(test::sample_recipe(family, phi, 20, random), random);
        product.narrow = false;
        const auto computed = compute(product, t % 2 == 0 ? Target::dgemm() : Target::componentwise(1e-13));
        ASSERT_TRUE(test::tells_the_truth(product, computed));
        holds += computed.certificate.holds ? 1 : 0;
      }
  EXPECT_GT(holds, 50);
}

TEST(Native, LargeEnoughForEveryKernelAndThread) {
  for (const Index n : {64, 129, 200}) {
    const auto product = test::product_of({Family::wide_exponents, n, n + 3, n + 1, 3, 2});
    EXPECT_TRUE(test::keeps_its_target(product, compute(product, Target::dgemm()))) << n;
  }
}

TEST(Native, IsChosenAndItsCertificateSaysWhatItAssumes) {
  const auto product = test::product_of({Family::wide_exponents, 12, 12, 60, 4, 3});
  const auto decision = test::decide_for(product, Target::dgemm(), {engine(), native_gemm()});
  ASSERT_EQ(decision.method, Method::native);
  const auto computed = test::compute_with(product, decision, {engine(), native_gemm()});
  EXPECT_TRUE(test::keeps_its_target(product, computed));
  EXPECT_EQ(computed.certificate.native, native_gemm()->name());
  ASSERT_FALSE(computed.certificate.bound.assumptions.empty());
  EXPECT_NE(to_json(computed.certificate).at("assumptions")[0].get<std::string>().find("conventionally"), std::string::npos);
}

/// Any stride of any operand works: C = alpha A B + beta C0 in small integers, for which every correct call gives the same
/// numbers.
TEST(Native, AnyStrideOfAnyOperand) {
  const Index m = 3;
  const Index n = 4;
  const Index k = 5;
  std::vector<double> storage(400);
  for (std::size_t t = 0; t < storage.size(); ++t) storage[t] = static_cast<double>(t % 11) - 5;
  using View = MatrixView<const double>;
  const auto views = [&](Index rows, Index cols) {
    return std::vector<View>{
        row_major(storage.data(), rows, cols, cols),    row_major(storage.data() + 3, rows, cols, cols + 4),
        column_major(storage.data(), rows, cols, rows), column_major(storage.data() + 1, rows, cols, rows + 3),
        View(storage.data(), rows, cols, 17, 3),        View(storage.data(), rows, cols, 1, 1),
        View(storage.data(), rows, cols, 0, 1),         View(storage.data(), rows, cols, 2, 0),
        View(storage.data(), rows, cols, 0, 0)};
  };
  for (const auto& a : views(m, k))
    for (const auto& b : views(k, n))
      for (const double beta : {0.0, 1.0, -2.0}) {
        std::vector<double> c(100, 7);
        const MatrixView<double> out(c.data() + 2, m, n, 2, 9);  // neither stride is 1
        native_gemm()->dgemm({a, b, out, 3, beta, out});
        for (Index i = 0; i < m; ++i)
          for (Index j = 0; j < n; ++j) {
            double expected = beta * 7;
            for (Index l = 0; l < k; ++l) expected += 3 * a(i, l) * b(l, j);
            ASSERT_EQ(out(i, j), expected) << a.row_stride() << ' ' << a.col_stride() << ", " << b.row_stride() << ' '
                                           << b.col_stride();
            out(i, j) = 7;
          }
        ASSERT_EQ(std::count(c.begin(), c.end(), 7), 100) << "an element beside C was written";
      }
}

TEST(Native, VectorsAndEmptyShapes) {
  test::RandomBits random(4);
  for (const Index m : {0, 1, 2})
    for (const Index n : {0, 1, 2})
      for (const Index k : {0, 1, 2})
        for (const double alpha : {1.0, 0.0, -1.0})
          for (const double beta : {0.0, 1.0}) {
            auto product = test::product_of({Family::uniform, m, n, k, 0, random()});
            product.alpha = alpha, product.beta = beta;
            product.c0 = generate({Family::uniform, m, 1, n, 0, random()}).a;
            ASSERT_TRUE(test::tells_the_truth(product, compute(product, Target::componentwise(1e-10)))) << m << n << k;
          }
}

TEST(Native, DoesNotReadC0WhereBetaIsZero) {
  auto product = test::product_of({Family::uniform, 3, 3, 3, 0, 5});
  Matrix<double> c(3, 3);
  std::fill(c.data(), c.data() + 9, nan);
  const auto certificate = multiply({product.problem.a, product.problem.b, c, 1, 0, c}, decision_for(product, Target::dgemm()),
                                    {engine(), native_gemm()});
  EXPECT_TRUE(certificate.holds);
  for (Index t = 0; t < 9; ++t) EXPECT_TRUE(std::isfinite(c.data()[t]));
}

TEST(Native, SpecialsFollowTheInputsAllTheSame) {
  auto product = test::product_of({Family::uniform, 8, 8, 8, 0, 6});
  product.problem.a(2, 3) = nan, product.problem.a(5, 0) = inf, product.problem.b(0, 1) = 0, product.problem.b(4, 6) = -inf;
  product.problem.a(0, 4) = 0;
  const auto computed = compute(product, Target::dgemm());
  EXPECT_TRUE(test::keeps_its_target(product, computed));
  EXPECT_EQ(computed.c.bits()[5 * 8 + 1], binary64.nan) << "Inf * 0";
  EXPECT_EQ(computed.c.bits()[6], binary64.nan) << "0 * -Inf";
}

TEST(Native, ACallersEnvironmentDisturbsNothing) {
  // Sums that cancel down to subnormal numbers, enough of them for several threads. Flushed to zero they would miss the bound,
  // which allows nothing for underflow since every product is normal.
  const Index n = 120;
  auto product = test::product_of({Family::uniform, n, n, n, 0, 7});
  for (Index t = 0; t < n * n; ++t) {
    product.problem.a.data()[t] = std::ldexp(1 + std::floor(product.problem.a.data()[t] * 16) / 16, -510);
    product.problem.b.data()[t] = std::ldexp(t / n % 2 == 0 ? 1.0 : -1.0 + 0x1p-10 * static_cast<double>(t % 3), -511);
  }
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l + 1 < n; l += 2) product.problem.a(i, l + 1) = product.problem.a(i, l) + (l == 0 ? 0x1p-560 : 0);
  const auto expected = compute(product, Target::dgemm());
  ASSERT_TRUE(test::keeps_its_target(product, expected));
  const test::HostileEnvironment hostile;
  const auto computed = compute(product, Target::dgemm());
  EXPECT_TRUE(test::keeps_its_target(product, computed));
  EXPECT_TRUE(test::HostileEnvironment::is_in_force());
}

/// The number of threads of a team that trap, as they would with settings of all zeros.
int threads_that_trap(int threads) {
  std::atomic<int> count{0};
#pragma omp parallel num_threads(threads)
  count += fegetexcept() == 0 ? 0 : 1;
  return count;
}

/// Workers that join later get the right settings, even if the team is smaller when settings are changed or restored than when
/// OpenBLAS computes.
TEST(Native, WorkersThatJoinLaterAreSetUpToo) {
  const auto product = test::product_of({Family::uniform, 100, 100, 100, 0, 9});
  const auto expected = compute(product, Target::dgemm());
  const int threads = omp_get_max_threads();
  const test::HostileEnvironment hostile;
  for (const int high : {1, 2, 3, 0}) {
    omp_set_dynamic(1);
    asked = 0, high_until = high;
    const auto computed = compute(product, Target::dgemm());
    EXPECT_EQ(omp_get_dynamic(), 1);
    omp_set_dynamic(0);
    EXPECT_TRUE(test::keeps_its_target(product, computed)) << high;
    EXPECT_TRUE(test::same_bits(computed.c, expected.c)) << "workers that round upwards";
    EXPECT_EQ(omp_get_max_threads(), threads);
    EXPECT_EQ(threads_that_trap(threads), 0) << high;
  }
}

/// Middle-sized products need only some of the threads, and the other threads keep the program's settings.
TEST(Native, WorkersThatAreNotNeededKeepTheirSettings) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(4);
  for (const Index n : {64, 65, 128, 300}) {
    const auto product = test::product_of({Family::uniform, n, 64, 64, 0, 9});
#pragma omp parallel
    if (omp_get_thread_num() != 0) std::fesetround(FE_UPWARD);
    EXPECT_TRUE(test::keeps_its_target(product, compute(product, Target::dgemm())));
    std::atomic<int> upward{0};
#pragma omp parallel
    {
      upward += std::fegetround() == FE_UPWARD ? 1 : 0;
      std::fesetround(FE_TONEAREST);
    }
    EXPECT_EQ(upward, 3) << n;
  }
  omp_set_num_threads(threads);
}

TEST(Native, TheNumberOfThreadsMayChangeFromCallToCall) {
  const auto product = test::product_of({Family::uniform, 90, 90, 90, 0, 10});
  const int threads = omp_get_max_threads();
  const test::HostileEnvironment hostile;
  for (const int count : {1, 4, 2, 3, 4}) {
    omp_set_num_threads(count);
    EXPECT_TRUE(test::keeps_its_target(product, compute(product, Target::dgemm()))) << count;
    EXPECT_EQ(omp_get_max_threads(), count);
    EXPECT_EQ(threads_that_trap(count), 0) << count;
  }
  omp_set_num_threads(threads);
}

#endif

}  // namespace
}  // namespace ozbound::native_test
