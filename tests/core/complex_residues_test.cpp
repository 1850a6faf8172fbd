// SPDX-License-Identifier: BSD-3-Clause
// Complex integers by two or three products of residues a modulus give the integers of four products, on every kernel.

#include "ozbound/core/detail/complex_residues.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <variant>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/core/real_representation.hpp"
#include "support/gemm_calls.hpp"

namespace ozbound {
namespace {

using test::RandomBits;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Complex = std::complex<double>;

TEST(ComplexModuliTest, HaveARootOfMinusOneWhereThereIsOne) {
  int of_two = 0;
  for (const auto p : residue_moduli) {
    bool square = false;
    for (int x = 0; x < p; ++x) square |= (x * x + 1) % p == 0;
    const auto modulus = ComplexModulus::of(p, 1);
    EXPECT_EQ(modulus.layers(), square ? 2 : 3) << p;
    of_two += square ? 1 : 0;
  }
  EXPECT_EQ(of_two, 6);
  EXPECT_EQ(ComplexModuli::of(13).layers, 36);
  EXPECT_EQ(ComplexModuli::of(20).layers, 54);
}

/// The layers determine both parts of a product: tested for many pairs of factors of every modulus, extremes included.
TEST(ComplexModuliTest, TellBothPartsOfAProduct) {
  const auto check = [](const ComplexModulus& modulus, int x, int y, int u, int v) {
    const auto p = modulus.modulus;
    std::int64_t of_layer[3] = {};
    for (int l = 0; l < modulus.layers(); ++l) {
      const auto a = modulus.layer(l, x, y), b = modulus.layer(l, u, v);
      ASSERT_TRUE(2 * a >= -p && 2 * a < p) << p;
      of_layer[l] = a * b;
    }
    const auto last = of_layer[modulus.layers() - 1];
    ASSERT_EQ((modulus.scale(false) * modulus.real(of_layer[0], of_layer[1]) - (x * u - y * v)) % p, 0) << p;
    ASSERT_EQ((modulus.scale(true) * modulus.imaginary(of_layer[0], of_layer[1], last) - (x * v + y * u)) % p, 0) << p;
  };
  for (const auto p : residue_moduli) {
    const auto modulus = ComplexModulus::of(p, 1);
    const int low = -p / 2, high = (p + 1) / 2 - 1, step = p == 181 || p == 179 ? 7 : 50;
    for (int x = low; x <= high; x += step)
      for (int y = high; y >= low; y -= step)
        for (const int u : {low, -1, 1, 37, high})
          for (const int v : {low, 0, 2, -41, high}) check(modulus, x, y, u, v);
  }
}

/// The parts of the largest sums that longest_complex_inner allows stay in the range of `recover`.
TEST(ComplexModuliTest, StayBelowWhatIsRecovered) {
  constexpr std::int64_t most = longest_complex_inner * 128 * 128, limit = std::int64_t{1} << 46;
  for (const auto p : residue_moduli) {
    const auto modulus = ComplexModulus::of(p, 1);
    EXPECT_LT(std::abs(modulus.real(most, modulus.root != 0 ? most : -most)), limit);
    EXPECT_LT(std::abs(modulus.imaginary(most, modulus.root != 0 ? -most : most, -most)), limit);
  }
}

Matrix<Complex> sample(RandomBits& random, Index rows, Index cols, int kind) {
  Matrix<Complex> x(rows, cols);
  const auto number = [&]() -> double {
    if (kind == 0) return random.between(-1, 1);         // small integers
    if (kind == 4) return (126 + 253 * 2100) * 0x1p-20;  // residues of 126 modulo 253: P2 - P0 - P1 is the largest
    if (kind == 1) return std::ldexp(random.between(-1000, 1000), random.between(-1074, 1000));  // any exponents
    if (kind == 2) return random.between(0, 1) == 0 ? 1 - 0x1p-53 : -1;  // the largest integers of either sign
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -63);
  };
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = {number(), number()};
  return x;
}

/// Both factors of a complex product, by residues of real and of complex integers.
struct Operands {
  IntegerOperand a, b;
};
Operands prepared(const CpuEngine& engine, const RealFactors& factors, const ResiduePlan& plan, bool complex) {
  auto a = plan.a(), b = plan.b();
  a.complex = b.complex = complex;
  return {engine.prepare(factors.a.view(), Side::rows_of_a, a), engine.prepare(factors.b.view(), Side::columns_of_b, b)};
}

/// The most bits with which products of k pairs are held, whatever the elements.
int bits_held(int moduli, Index k) {
  const int of_p = ResidueBase::of(moduli).product.bits() - 2;
  return (of_p - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(2 * k)))) / 2;
}

void expect_same_integers(const CpuEngine& engine, const Matrix<Complex>& a, const Matrix<Complex>& b,
                          const ResiduePlan& plan) {
  Matrix<Complex> c(a.rows(), b.cols());
  const auto factors = real_factors({.a = a, .b = b, .c = c}, 1);
  const auto real = prepared(engine, factors, plan, false), complex = prepared(engine, factors, plan, true);
  ASSERT_TRUE(engine.takes(complex.a) && engine.takes(complex.b));
  for (const auto* of : {&real.a, &real.b}) {
    const auto& expected = of->residues().residues();
    const auto& found = (of == &real.a ? complex.a : complex.b).residues().residues();
    for (int t = 0; t < plan.moduli; ++t)
      for (Index i = 0; i < expected.count(); i += 3)
        for (Index l = 0; l < expected.inner_dimension(); l += 1 + expected.inner_dimension() / 64)
          ASSERT_EQ(found.residue(i, t, l), expected.residue(i, t, l)) << t << ' ' << i << ' ' << l;
  }
  const auto expected = engine.recovered_groups(real.a.residues(), real.b.residues(), plan);
  const auto found = engine.recovered_groups(complex.a.residues(), complex.b.residues(), plan);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t g = 0; g < found.size(); ++g)
    for (Index i = 0; i < 2 * a.rows(); ++i)
      for (Index j = 0; j < b.cols(); ++j) ASSERT_EQ(found[g](i, j), expected[g](i, j)) << g << ' ' << i << ' ' << j;
}

CpuEngine engine_of(const Kernel* kernel, RandomBits& random) {
  return CpuEngine(
      {.threads = random.between(1, 2), .inner_block = random.between(0, 1) * random.between(1, 40), .kernel = kernel});
}

TEST(ComplexResidues, GiveTheIntegersOfFourProducts) {
  RandomBits random(3);
  for (const auto* kernel : kernels())
    for (int moduli = 2; moduli <= max_moduli; moduli += moduli < 18 ? 3 : 1)
      for (int kind = 0; kind < 4; ++kind) {
        const Index m = random.between(1, 20), n = random.between(1, 70), k = random.between(1, 40);
        const int bits = std::min(most_residue_bits, bits_held(moduli, k));
        if (bits < 1) continue;
        SCOPED_TRACE(testing::Message() << kernel->name << ' ' << moduli << ' ' << kind << ' ' << m << ' ' << n << ' ' << k);
        expect_same_integers(engine_of(kernel, random), sample(random, m, k, kind), sample(random, k, n, kind),
                             {moduli, bits, bits});
      }
}

TEST(ComplexResidues, TakeLongInnerDimensions) {
  RandomBits random(4);
  for (const auto* kernel : kernels())
    for (const Index k : {1025, 43690, 43691, 131008, 131073, 150000}) {
      SCOPED_TRACE(testing::Message() << kernel->name << ' ' << k);
      for (const int kind : {2, 4})
        expect_same_integers(CpuEngine({.threads = 1, .kernel = kernel}), sample(random, 1, k, kind),
                             sample(random, k, 2, kind), {9, 20, 20});
    }
}

/// Checks that the whole product, with special values, and the product in blocks under a cap have the bits of the real product.
void expect_same_bits(Index m, Index n, Index k) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  RandomBits random(5);
  const ResiduePlan plan{14, 46, 46};
  auto a = sample(random, m, k, 3), b = sample(random, k, n, 3), c0 = sample(random, m, n, 3);
  a(5, 7) = {inf, 1}, a(8, 0) = {1, nan}, b(3, 9) = {0, -inf}, c0(1, 1) = {nan, 2};
  const CpuEngine engine({.threads = 2});
  Matrix<Complex> expected(m, n);
  const auto real = represent_on_host({.a = a, .b = b, .c = expected, .alpha = -1.5, .beta = 0.75, .c0 = c0}, 1);
  auto by_four = real->product();
  by_four.stands_for_complex = false;
  multiply_unproven(by_four, plan, engine);
  real->write_back();
  for (const double share : {1.0, 0.3}) {
    Matrix<Complex> c(m, n);
    const ComplexProduct call{.a = a, .b = b, .c = c, .alpha = -1.5, .beta = 0.75, .c0 = c0};
    multiply_unproven(call, plan, engine, share * full_workspace(engine, plan, 2 * m, n, 2 * k));
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(c(i, j).real()), std::bit_cast<std::uint64_t>(expected(i, j).real()));
        ASSERT_EQ(std::bit_cast<std::uint64_t>(c(i, j).imag()), std::bit_cast<std::uint64_t>(expected(i, j).imag()));
      }
  }
}

TEST(ComplexResidues, MultiplyAsFourProductsDo) {
  const CpuEngine engine({.threads = 2});
  const ResiduePlan plan{14, 46, 46};
  const auto whole = [&](Index m, Index n, Index k) { return full_workspace(engine, plan, 2 * m, n, 2 * k); };
  ASSERT_TRUE(complex_forms(engine, plan, 1280, 300, 608, whole(640, 300, 304)).has_value());
  expect_same_bits(640, 300, 304);
  // All columns at once would need more bytes; half of them fit.
  ASSERT_FALSE(complex_forms(engine, plan, 800, 801, 608, whole(400, 801, 304)).has_value());
  ASSERT_TRUE(complex_forms(engine, plan, 800, 401, 608, whole(400, 801, 304)).has_value());
  expect_same_bits(400, 801, 304);
}

TEST(ComplexResidues, AreOfComplexFactorsAlone) {
  const CpuEngine engine;
  const ResidueForm form{5, 12, true};
  const Matrix<double> odd_rows(3, 4), odd_inner(4, 3), fits(4, 4);
  Matrix<double> c(4, 4);
  for (const auto* a : {&odd_rows, &odd_inner})
    EXPECT_THAT([&] { static_cast<void>(engine.prepare(*a, Side::rows_of_a, form)); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("operand: must stand for a complex one")));
  EXPECT_NO_THROW(static_cast<void>(engine.prepare(odd_inner.view().transposed(), Side::rows_of_a, ResidueForm{5, 12})));
  EXPECT_FALSE(engine.prepare(fits, Side::rows_of_a, form).serves(ResidueForm{5, 12}));
  const auto a = engine.prepare(fits, Side::rows_of_a, form), b = engine.prepare(fits, Side::columns_of_b, ResidueForm{5, 12});
  EXPECT_THAT([&] { engine.multiply(a, b, ResiduePlan{5, 12, 12}, {}, c); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("a and b must both have residues of complex integers")));
}

/// The workspace counts both parts of a block beside its layers, for any length of the engine's blocks.
TEST(ComplexResidues, TheWorkspaceCountsTheBlocksThatThereAre) {
  const ResiduePlan plan{14, 40, 40};
  const auto bytes = [&](Index block) {
    return *CpuEngine({.threads = 4, .inner_block = block}).complex_workspace(plan, 512, 640, 65536);
  };
  const auto& kernel = default_kernel();
  const auto vectors = static_cast<double>(std::min(kernel.rows(), kernel.columns()));
  EXPECT_GT(bytes(16384) - bytes(1024), 4 * 2 * 14 * (16384 - 1024) * vectors - 4096 * 1000);
}

/// An engine with memory for only a few rows, which has complex layers for no more rows than that.
class SmallEngine final : public Engine {
 public:
  static constexpr Index most_rows = 8;

  [[nodiscard]] SlicedMatrix slice(InputView x, Side side, Slicing slicing) const override {
    return of_.slice(x, side, slicing);
  }
  [[nodiscard]] bool takes(const IntegerOperand& x) const override { return of_.takes(x); }
  [[nodiscard]] SliceFacts measure(InputView x, Side side, Slicing slicing) const override {
    return of_.measure(x, side, slicing);
  }
  [[nodiscard]] bool has_residues() const override { return true; }
  [[nodiscard]] IntegerOperand prepare(InputView x, Side side, const OperandForm& form) const override {
    return of_.prepare(x, side, form);
  }
  std::vector<Entry> multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan, const Epilogue& epilogue,
                              OutputView c) const override {
    if (a.count() > most_rows) throw OutOfMemory("too many rows");
    complex_ = complex_ || std::get<ResidueForm>(a.form()).complex;
    return of_.multiply(a, b, plan, epilogue, c);
  }
  [[nodiscard]] const Matrices& matrices() const override { return of_.matrices(); }
  [[nodiscard]] std::vector<Matrix<std::int64_t>> group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                             const SplitPlan& plan) const override {
    return of_.group_sums(a, b, plan);
  }
  [[nodiscard]] const CostModel& costs() const override { return of_.costs(); }
  [[nodiscard]] double workspace(const Plan&, Index m, Index n, Index) const override { return static_cast<double>(m * n); }
  [[nodiscard]] std::optional<double> complex_workspace(const ResiduePlan&, Index m, Index, Index) const override {
    return m > most_rows ? std::nullopt : std::optional(0.0);
  }
  [[nodiscard]] int threads() const override { return 1; }

  [[nodiscard]] bool multiplied_complex() const { return complex_; }

 private:
  CpuEngine of_{{.threads = 1}};
  mutable bool complex_ = false;
};

/// Blocks that are cut again keep both parts of a row together, whatever heights a cap leads to.
TEST(ComplexResidues, BlocksThatAreCutAgainBeginWithARealPart) {
  RandomBits random(6);
  const Index m = 23, n = 3, k = 4;
  const ResiduePlan plan{8, 24, 24};
  const auto a = sample(random, m, k, 3), b = sample(random, k, n, 3);
  Matrix<Complex> expected(m, n);
  multiply_unproven(ComplexProduct{.a = a, .b = b, .c = expected}, plan, CpuEngine({.threads = 1}));
  for (Index rows = 2; rows <= 2 * m; ++rows) {
    const SmallEngine engine;
    Matrix<Complex> c(m, n);
    multiply_unproven(ComplexProduct{.a = a, .b = b, .c = c}, plan, engine, static_cast<double>(rows * n));
    EXPECT_TRUE(engine.multiplied_complex()) << rows;
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) ASSERT_EQ(c(i, j), expected(i, j)) << rows << ' ' << i << ' ' << j;
  }
}

TEST(ComplexResidues, AreTakenWhereTheyFit) {
  const CpuEngine engine;
  const ResiduePlan plan{13, 45, 46};
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  const auto forms = complex_forms(engine, plan, 1024, 512, 1024, unlimited);
  ASSERT_TRUE(forms.has_value());
  EXPECT_EQ(forms->a, OperandForm(ResidueForm{13, 45, true}));
  EXPECT_EQ(forms->b, OperandForm(ResidueForm{13, 46, true}));
  const double bytes = *engine.complex_workspace(plan, 1024, 512, 1024);
  EXPECT_TRUE(complex_forms(engine, plan, 1024, 512, 1024, bytes).has_value());
  EXPECT_FALSE(complex_forms(engine, plan, 1024, 512, 1024, bytes - 1).has_value());
  EXPECT_FALSE(complex_forms(engine, plan, 1024, 512, 2 * longest_complex_inner + 2, unlimited).has_value());
  EXPECT_FALSE(complex_forms(engine, SplitPlan::balanced(7, 7, 8), 1024, 512, 1024, unlimited).has_value());
  EXPECT_FALSE(complex_forms(engine, plan, 512, 256, 512, unlimited).has_value());  // four products are as fast
}

}  // namespace
}  // namespace ozbound
