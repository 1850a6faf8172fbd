// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "support/gemm_calls.hpp"

// Floating-point environment, other threads and memory change no bit of a call, and the call leaves them unchanged.

namespace ozbound::gemm_environment_test {
namespace {

using test::OwnedProduct;
using test::RandomBits;
using test::StoredMatrix;

constexpr int team = 3;

/// A floating-point environment that a caller may have.
struct Setting {
  std::string name;
  int rounding = FE_TONEAREST;
  bool flush_to_zero = false;
  bool denormals_are_zero = false;
  bool trap = false;

  void apply() const {
    std::fesetround(rounding);
#ifdef __SSE__
    if (flush_to_zero) _mm_setcsr(_mm_getcsr() | 0x8000);
    if (denormals_are_zero) _mm_setcsr(_mm_getcsr() | 0x0040);
#endif
    std::feclearexcept(FE_ALL_EXCEPT);
#ifdef __GLIBC__
    if (trap) feenableexcept(FE_ALL_EXCEPT);
#endif
  }
};

const Setting settings[] = {
    {"as usual"},
    {"upward", FE_UPWARD},
    {"downward", FE_DOWNWARD},
    {"toward zero", FE_TOWARDZERO},
    {"flush to zero", FE_TONEAREST, true},
    {"denormals are zero", FE_TONEAREST, false, true},
    {"both", FE_TONEAREST, true, true},
    {"all", FE_UPWARD, true, true},
    {"traps", FE_TONEAREST, false, false, true},
};

/// The control bits of the environment: rounding, flushing and traps. Flags are not included.
struct Control {
  int rounding = std::fegetround();
#ifdef __SSE__
  unsigned csr = _mm_getcsr() & ~0x3fu;
#endif
  bool operator==(const Control&) const = default;
};

/// Runs `work` in a setting, which OpenMP's threads get too, and restores everything.
void in_setting(const Setting& setting, const std::function<void()>& work) {
  std::vector<std::fenv_t> saved(team);
#pragma omp parallel num_threads(team)
  {
    std::fegetenv(&saved[static_cast<std::size_t>(omp_get_thread_num())]);
    setting.apply();
  }
  setting.apply();  // LLVM's OpenMP gives this thread its settings back after a parallel region
  work();
#pragma omp parallel num_threads(team)
  std::fesetenv(&saved[static_cast<std::size_t>(omp_get_thread_num())]);
  std::fesetenv(&saved[0]);
}

class EnvironmentTest : public testing::Test {
 protected:
  /// Operands with subnormals, sums that the published orders round, C0 and scalars down to the least number.
  static std::vector<OwnedProduct> calls() {
    RandomBits random(11);
    std::vector<OwnedProduct> result;
    for (const bool near : {true, true, false}) {
      auto call = test::sample_call({7, 9, 13, near}, random);
      call.source = OwnedProduct::C0::separate;
      for (Index i = 0; i < 7; ++i)
        for (Index j = 0; j < 9; ++j)
          call.c0.set(i, j, near ? 0x1p-30 * static_cast<double>(i - j) : 0x1p-1074 * static_cast<double>(i - j));
      for (const auto& [alpha, beta] :
           {std::pair{1.0, 0.0}, {-0x1.8p-1, 1.0}, {0x1p-1074, 0x1p-1074}, {0x1p-1060, -0x1p1000}}) {
        call.alpha = alpha, call.beta = beta;
        if (call.c0.storage().single && !near) call.c0 = test::stored(call.c0, {.single = false});
        result.push_back(call);
      }
    }
    return result;
  }
};

TEST_F(EnvironmentTest, ChangesNoBitAndIsLeftAsItWas) {
  const CpuEngine engine({.threads = team, .row_tile = 2, .column_tile = 2});
  for (const auto& before : calls())
    for (const char* text : {"balanced:7x7:cut=8:exact", "truncated7:8x8:full:per_product", "nearest7:8x8:full:per_diagonal"}) {
      const auto plan = parse_plan(text);
      auto expected = before;
      multiply_unproven(expected.product(), plan, engine);
      for (const auto& setting : settings) {
        auto call = before;
        const auto view = call.product();
        Control at_start, at_end;
        int flags = 0;
        in_setting(setting, [&] {
          at_start = Control();
          multiply_unproven(view, plan, engine);
          at_end = Control();
          flags = std::fetestexcept(FE_ALL_EXCEPT);
        });
        EXPECT_TRUE(test::same_bits(call.c, test::bits_of_matrix(expected.c)))
            << setting.name << "; " << test::describe(call, plan, {});
        EXPECT_TRUE(at_start == at_end) << setting.name;
        EXPECT_EQ(flags, 0) << setting.name;
      }
    }
}

TEST_F(EnvironmentTest, ChangesNoBitOfTheOtherFunctions) {
  const CpuEngine engine({.threads = team, .row_tile = 2, .column_tile = 2});
  const auto plan = parse_plan("truncated7:6x6:cut=7:per_diagonal");
  for (const auto& before : calls()) {
    std::vector<double> columns(9, 0x1p-570);
    for (std::size_t j = 0; j < 9; j += 2) columns[j] = 1;
    const EntryBound bound{{{"test", {{std::vector<double>(7, 0x1p-500), columns}}}}};
    const auto run = [&] {
      auto exact = before;
      multiply_exactly(exact.product(), team);
      auto finite = before;
      const auto open = multiply_finite(finite.product(), plan, engine, &bound);
      finish_exactly(finite.product(), open, team);
      const auto facts = engine.measure(before.a.input(), Side::rows_of_a, plan.split().a);
      auto result = test::bits_of_matrix(exact.c);
      for (const auto bits : test::bits_of_matrix(finite.c)) result.push_back(bits);
      for (const auto& entry : open) result.push_back(static_cast<std::uint64_t>(100 * entry.i + entry.j));
      for (const auto& vector : facts.vectors) result.push_back(vector.floor_squares + vector.tails[3].sum);
      return result;
    };
    const auto expected = run();
    for (const auto& setting : settings) {
      std::vector<std::uint64_t> result;
      in_setting(setting, [&] { result = run(); });
      EXPECT_EQ(result, expected) << setting.name;
    }
  }
}

/// No setting changes a bit of complex products with real and complex scalars and subnormal elements: under a plan, under a
/// bound and exact.
TEST_F(EnvironmentTest, ChangesNoBitOfComplexProducts) {
  RandomBits random(12);
  const CpuEngine engine({.threads = team, .row_tile = 2, .column_tile = 2});
  const auto complex_matrix = [&](Index rows, Index cols) {
    Matrix<std::complex<double>> matrix(rows, cols);
    const auto number = [&] { return test::sample_below<double>(random.once_in(4) ? -1030 : 0, random.below(30), random); };
    for (Index t = 0; t < rows * cols; ++t) matrix.data()[t] = {number(), number()};
    return matrix;
  };
  const auto a = complex_matrix(5, 6), b = complex_matrix(6, 4), c0 = complex_matrix(5, 4);
  const EntryBound bound{{{"test", {{std::vector<double>(10, 0x1p-30), std::vector<double>(4, 0x1p-20)}}}}};
  for (const std::complex<double> alpha : {std::complex<double>(-0.75), {0x1p-1060, 0.3}, {0x1p-1074, -0x1p-1040}})
    for (const char* text : {"balanced:7x7:cut=8:exact", "truncated7:8x8:full:per_product"}) {
      const auto plan = parse_plan(text);
      const auto run = [&] {
        Matrix<std::complex<double>> c(5, 4), exact(5, 4), open(5, 4);
        multiply_unproven({a, b, c, alpha, {0.5, 0x1p-1070}, c0}, plan, engine);
        multiply_exactly({a, b, exact, alpha, {0.5, 0x1p-1070}, c0}, team);
        const ComplexProduct call{a, b, open, alpha};
        finish_exactly(call, multiply_with_complex_scalars(call, plan, engine, &bound), team);
        std::vector<std::uint64_t> bits;
        for (const auto* matrix : {&c, &exact, &open})
          for (Index t = 0; t < 20; ++t)
            bits.push_back(bits_of(matrix->data()[t].real())), bits.push_back(bits_of(matrix->data()[t].imag()));
        return bits;
      };
      const auto expected = run();
      for (const auto& setting : settings) {
        std::vector<std::uint64_t> result;
        Control at_start, at_end;
        in_setting(setting, [&] { at_start = Control(), result = run(), at_end = Control(); });
        EXPECT_EQ(result, expected) << setting.name << ", " << alpha << ", " << text;
        EXPECT_TRUE(at_start == at_end) << setting.name;
      }
    }
}

/// Many callers at once get the same bits, each in its own floating-point environment.
TEST_F(EnvironmentTest, ManyCallersAtOnce) {
  const auto before = calls()[1];
  const CpuEngine engine({.threads = 2, .row_tile = 2, .column_tile = 2});
  const auto plan = parse_plan("truncated7:8x8:full:per_product");
  auto expected = before;
  multiply_unproven(expected.product(), plan, engine);
  std::vector<OwnedProduct> results(std::size(settings), before);
  std::vector<std::thread> callers;
  for (std::size_t t = 0; t < results.size(); ++t)
    callers.emplace_back([&, t] {
      settings[t].apply();
      for (int repetition = 0; repetition < 20; ++repetition) multiply_unproven(results[t].product(), plan, engine);
    });
  for (auto& caller : callers) caller.join();
  for (const auto& result : results) EXPECT_TRUE(test::same_bits(result.c, test::bits_of_matrix(expected.c)));
}

}  // namespace
}  // namespace ozbound::gemm_environment_test
