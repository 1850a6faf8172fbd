// SPDX-License-Identifier: BSD-3-Clause
// No model depends on the caller's rounding mode or flush-to-zero setting.

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "bounds/hostile_environment.hpp"
#include "models_operands.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/literature/models/cublas_emulation.hpp"
#include "ozbound/verify/literature/models/fp16_slices.hpp"
#include "ozbound/verify/literature/models/gemmul8_scaling.hpp"
#include "ozbound/verify/literature/models/m3xu.hpp"
#include "ozbound/verify/literature/models/multiword.hpp"
#include "ozbound/verify/literature/models/unit_slices.hpp"

namespace ozbound::models::models_environment_test {
namespace {

std::vector<std::uint64_t> bits(const Matrix<double>& x) {
  std::vector<std::uint64_t> all;
  for (Index t = 0; t < x.rows() * x.cols(); ++t) all.push_back(bits_of(x.data()[t]));
  return all;
}
std::vector<std::uint64_t> bits(const Matrix<float>& x) {
  std::vector<std::uint64_t> all;
  for (Index t = 0; t < x.rows() * x.cols(); ++t) all.push_back(bits_of(x.data()[t]));
  return all;
}
std::vector<std::uint64_t> bits(const Matrix<std::complex<double>>& x) {
  std::vector<std::uint64_t> all;
  for (Index t = 0; t < x.rows() * x.cols(); ++t)
    for (const double part : {x.data()[t].real(), x.data()[t].imag()}) all.push_back(bits_of(part));
  return all;
}
std::vector<std::uint64_t> bits(const Matrix<Magnitude>& x) {
  Matrix<double> upper(x.rows(), x.cols());
  for (Index t = 0; t < x.rows() * x.cols(); ++t) upper.data()[t] = to_double_upper(x.data()[t]);
  return bits(upper);
}

/// Checks that f() gives the same vector of bits in both environments.
template <class F>
void expect_the_same(const char* what, const F& f) {
  const auto expected = f();
  std::vector<std::uint64_t> again;
  {
    const test::HostileEnvironment environment;
    ASSERT_TRUE(test::HostileEnvironment::is_in_force());
    again = f();
    EXPECT_TRUE(test::HostileEnvironment::is_in_force()) << what;
  }
  EXPECT_EQ(again, expected) << what;
}

/// Numbers of binary32, subnormal ones among them, and sums that are rounded.
Binary32Operands operands() {
  auto both = binary32_operands(Recipe{Family::wide_exponents, 3, 3, 20, 1, 4});
  for (Index i = 0; i < 3; ++i) {
    both.a(i, 0) = 0x1.8p-140F, both.exact.a(i, 0) = 0x1.8p-140;
    both.b(1, i) = -0x1p-149F, both.exact.b(1, i) = -0x1p-149;
  }
  return both;
}

TEST(Models, AreTheSameInAnyEnvironment) {
  const auto both = operands();
  const auto a = both.a.view(), b = both.b.view();
  const auto x = both.exact.a.view(), y = both.exact.b.view();
  for (const auto& unit : {TensorCore::nearest(), TensorCore::truncating(4, 2)}) {
    expect_the_same("tensor core", [&] { return bits(gemm(unit, a, b)); });
    expect_the_same("(T1)", [&] { return std::vector{bits_of(accumulation_factor_upper(unit, 20))}; });
    const Multiword words{bfloat16_word, 2, WordProducts::all, unit};
    expect_the_same("words", [&] { return bits(multiply(words, a, b)); });
    expect_the_same("(W1)", [&] { return bits(bounds(words, a, b).upper); });
    expect_the_same("(4)", [&] { return bits(bounds(words, a, b).printed); });
    const Fp16Slices slices{.unit = unit};
    expect_the_same("slices", [&] { return bits(multiply(slices, x, y).c); });
    expect_the_same("slices of float", [&] { return bits(multiply(slices, a, b).c); });
    expect_the_same("(F1)", [&] { return bits(bound_upper(slices, x, y)); });
  }
  const m3xu::Unit unit{.width = 51, .headroom = 3};
  const auto m3xu_bits = [&](m3xu::Mode mode) { return bits(m3xu::gemm(mode, unit, x, y).c); };
  expect_the_same("FP32", [&] { return m3xu_bits(m3xu::Mode::fp32); });
  expect_the_same("FP64", [&] { return m3xu_bits(m3xu::Mode::fp64); });
  expect_the_same("FP32C", [&] {
    Matrix<std::complex<double>> c(2, 10), d(10, 2);
    for (Index t = 0; t < 20; ++t) c.data()[t] = {x(0, t), x(1, t)}, d.data()[t] = {y(t, 0), y(t, 1)};
    return bits(m3xu::gemm(m3xu::Mode::fp32, unit, c.view(), d.view()).c);
  });
  expect_the_same("(M1)", [&] {
    const auto [relative, underflow] = m3xu::error_bound_upper(m3xu::Mode::fp32, unit, 20);
    return std::vector{bits_of(relative), bits_of(underflow)};
  });
  const Operands scaled{x, y, 0.3, 0x1p-1060, x.block(0, 0, 3, 3)};
  expect_the_same("cuBLAS", [&] { return bits(multiply(CublasEmulation{31}, scaled)); });
  expect_the_same("(C12)", [&] {
    Matrix<Magnitude> bound(3, 3);
    const CublasProduct product(CublasEmulation{31}, scaled);
    for (Index t = 0; t < 9; ++t) bound.data()[t] = product.bound_upper(t / 3, t % 3);
    return bits(bound);
  });
  expect_the_same("GEMMul8", [&] { return bits(multiply(Gemmul8Fast{}, x, y).c); });
  Matrix<double> least(1, 2);
  least(0, 0) = 1, least(0, 1) = 0x1p-1074;
  for (const auto& integers : matrix_units)
    expect_the_same("integers", [&] {
      auto all = bits(multiply(integers, {3, 4}, x, y).c);
      const auto exact = multiply(integers, {3, 4}, least.view(), least.view().transposed());
      all.push_back(exact.exact_slices ? 1 : 0);
      return all;
    });
}

}  // namespace
}  // namespace ozbound::models::models_environment_test
