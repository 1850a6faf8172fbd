// SPDX-License-Identifier: BSD-3-Clause
// Products by residues against integers of any length, which share no code with the judged functions. The guard and the
// recovery are tested at their limits, and every kernel's functions against the scalar ones.

#include "ozbound/core/detail/residue_arithmetic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/functions.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/core/vector_norms.hpp"
#include "residue_constants.hpp"
#include "support/gemm_calls.hpp"
#include "support/residue_reference.hpp"

namespace ozbound::residues_test {
namespace {

using residue_reference::column_of;
using residue_reference::Integer;
using residue_reference::product_of_moduli;
using residue_reference::ResidueEntry;
using residue_reference::row_of;
using test::RandomBits;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

double unit_interval(RandomBits& random) { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; }

double any_finite(RandomBits& random) {
  for (;;) {
    const double x = std::bit_cast<double>(random());
    if (std::isfinite(x)) return x;
  }
}

// --- tables and single numbers ---

TEST(ResiduesTest, ModuliHaveNoCommonFactor) {
  for (int t = 0; t < max_moduli; ++t)
    for (int s = 0; s < t; ++s) EXPECT_EQ(std::gcd(residue_moduli[s], residue_moduli[t]), 1);
}

TEST(ResiduesTest, AreBalanced) {
  for (const auto p : residue_moduli)
    for (int z = -1000; z <= 1000; ++z) {
      const int r = balanced(z, p);
      EXPECT_EQ((z - r) % p, 0);
      EXPECT_TRUE(2 * r >= -p && 2 * r < p) << p << ' ' << z;
    }
}

// --- whole products ---

struct Case {
  Matrix<double> a, b, c0;
  double alpha = 1, beta = 0;
  ResiduePlan plan;
};

/// C as the plan defines it, and a flag that is true if 2 sum |a' b'| < P in every entry.
struct Reference {
  explicit Reference(const Case& of) : c(of.a.rows(), of.b.cols()) {
    const Integer p = product_of_moduli(of.plan.moduli);
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) {
        const ResidueEntry entry(row_of(of.a, i), column_of(of.b, j), of.plan);
        held = held && 2 * entry.magnitude < p;
        const auto scaled = product(residue_reference::exact_fraction(of.alpha), {entry.sum, entry.unit});
        const double c0 = of.beta == 0 ? 0 : of.c0(i, j);
        const auto added = product(residue_reference::exact_fraction(of.beta), residue_reference::exact_fraction(c0));
        c(i, j) = residue_reference::rounded(of.beta == 0 ? scaled : sum(scaled, added));
      }
  }

  Matrix<double> c;
  bool held = true;
};

/// Operands of seven kinds, scaled by rows of A or by columns of B.
Matrix<double> sample(RandomBits& random, Index rows, Index cols, int kind, bool by_rows) {
  Matrix<double> x(rows, cols);
  std::vector<int> scale(static_cast<std::size_t>(by_rows ? rows : cols));
  for (auto& s : scale) s = kind == 0 ? 0 : kind == 1 ? random.between(-1074, 1000) : random.between(-40, 40);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const int s = scale[static_cast<std::size_t>(by_rows ? i : j)];
      switch (kind) {
        case 3: x(i, j) = std::ldexp(1.0, s); break;                                    // all equal: |C'| is largest
        case 4: x(i, j) = (random.between(0, 1) != 0 ? 1 : -1) * (2 - 0x1p-52); break;  // rounds up to 2^bits
        case 5: x(i, j) = random.between(-7, 7); break;                                 // exact
        case 6: x(i, j) = any_finite(random); break;
        default: {
          const int below = kind == 2 ? random.between(0, 70) : 0;
          x(i, j) = random.between(0, 9) == 0 ? 0.0 : std::ldexp(unit_interval(random), s - below);
        }
      }
    }
  return x;
}

/// Multiplies by an engine and compares every bit; false if the guard refuses, which must leave C unchanged.
bool multiplies_exactly(const Case& of, const CpuEngine& engine, const Reference& reference) {
  const Index m = of.a.rows(), n = of.b.cols();
  const auto& expected = reference.c;
  Matrix<double> c(m, n);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) c(i, j) = 42;
  try {
    multiply_unproven({of.a, of.b, c, of.alpha, of.beta, of.beta == 0 ? InputView() : of.c0}, of.plan, engine);
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("plan: " + to_string(Plan(of.plan)) + " is not sure to hold entry ("));
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) EXPECT_EQ(c(i, j), 42);
    return false;
  }
  EXPECT_TRUE(reference.held) << to_string(Plan(of.plan)) << ": the guard let a product through that may wrap";
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j)
      EXPECT_EQ(bits(c(i, j)), bits(expected(i, j)))
          << engine.kernel().name << ' ' << to_string(Plan(of.plan)) << " (" << i << ", " << j << "): " << std::hexfloat
          << c(i, j) << " for " << expected(i, j) << " alpha " << of.alpha << " beta " << of.beta;
  return true;
}

bool multiplies_exactly(const Case& of, const CpuEngine& engine) { return multiplies_exactly(of, engine, Reference(of)); }

CpuEngine engine_of(const Kernel* kernel) { return CpuEngine({.threads = 1, .kernel = kernel}); }

/// The bits of both operands together that N moduli nearly always hold for k terms.
int bits_for(int moduli, Index k) {
  const int most =
      static_cast<int>(msb(product_of_moduli(moduli))) - 1 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(k)));
  return std::clamp(most, 2, 2 * most_residue_bits);
}

TEST(ResidueProducts, AreExactAndRoundedOnce) {
  RandomBits random(1);
  int multiplied = 0;
  for (int repetition = 0; repetition < 1000; ++repetition) {
    const auto& all = kernels();
    const CpuEngine engine({.threads = random.between(1, 2),
                            .inner_block = random.between(0, 1) * random.between(1, 40),
                            .kernel = all[static_cast<std::size_t>(repetition) % all.size()]});
    const Index m = random.between(1, 20), n = random.between(1, 70), k = random.between(1, 80);
    const int kind = random.between(0, 6), moduli = random.between(2, 20);
    Case of{sample(random, m, k, kind, true), sample(random, k, n, kind, false), sample(random, m, n, 2, true), 1, 0, {}};
    if (random.between(0, 2) == 0) of.alpha = unit_interval(random), of.beta = unit_interval(random);
    if (random.between(0, 9) == 0) of.alpha = any_finite(random), of.beta = any_finite(random);
    const int both = std::max(2, bits_for(moduli, k) + random.between(-8, 2));
    const int of_a = random.between(0, 1) == 0 ? both / 2 : random.between(1, both - 1);
    of.plan = {moduli, std::clamp(of_a, 1, most_residue_bits), std::clamp(both - of_a, 1, most_residue_bits)};
    multiplied += multiplies_exactly(of, engine) ? 1 : 0;
  }
  EXPECT_GT(multiplied, 500);
}

TEST(ResidueProducts, TakeEveryCountOfBits) {
  RandomBits random(2);
  int multiplied = 0;
  for (const auto* kernel : kernels())
    for (int p = 1; p <= most_residue_bits; p += p < 45 || p > 66 ? 5 : 1) {
      Case of{sample(random, 5, 9, 2, true), sample(random, 9, 17, 2, false), {}, 1, 0, {20, p, std::clamp(140 - p, 1, 50)}};
      multiplied += multiplies_exactly(of, engine_of(kernel)) ? 1 : 0;
      std::swap(of.plan.bits_a, of.plan.bits_b);
      multiplied += multiplies_exactly(of, engine_of(kernel)) ? 1 : 0;
    }
  EXPECT_GT(multiplied, static_cast<int>(60 * kernels().size()));
}

/// Elements are rounded to the right integers where rounding by doubles changes: around 2^51, 2^52 and 2^53 (residues.md, R7a).
TEST(ResidueProducts, RoundTiesAndLargeIntegersToNearest) {
  const std::vector<double> notable{0x1p51 - 1,
                                    0x1p51 - 0.5,
                                    0x1p51,
                                    0x1p51 + 0.5,
                                    0x1p51 + 1,
                                    0x1p51 + 1.5,
                                    0x1p52 - 0.5,
                                    0x1p52 - 1.5,
                                    0x1p52,
                                    0x1p52 + 1,
                                    0x1p53 - 1,
                                    0x1p53 - 2,
                                    0.5,
                                    1.5,
                                    2.5,
                                    0x1p-1,
                                    0x1.8p0,
                                    0x1p-52,
                                    0x1.fffffffffffffp48,
                                    0x1.fffffffffffffp49,
                                    0x1.8000000000001p50,
                                    3.5,
                                    -0.5,
                                    -2.5};
  const auto count = static_cast<Index>(notable.size());
  for (const auto* kernel : kernels())
    for (int p = 48; p <= 56; ++p) {
      Case of{Matrix<double>(2, count + 1), Matrix<double>(count + 1, 3), {}, 1, 0, {16, p, 8}};
      for (Index l = 0; l < count; ++l)
        for (Index i = 0; i < 2; ++i) of.a(i, l) = (i == 0 ? 1 : -1) * notable[static_cast<std::size_t>(l)];
      // The largest element makes the unit 1 if the bits are p.
      of.a(0, count) = of.a(1, count) = std::ldexp(1.0, p - 1) >= 0x1p53 ? std::ldexp(1.0, p - 1) : 0x1p52;
      for (Index l = 0; l <= count; ++l)
        for (Index j = 0; j < 3; ++j) of.b(l, j) = j == 0 ? 1 : (l + j) % 3 == 0 ? -1 : 0.5;
      EXPECT_TRUE(multiplies_exactly(of, engine_of(kernel))) << kernel->name << ' ' << p;
    }
}

TEST(ResidueProducts, LongInnerDimensionsTakeInt64) {
  RandomBits random(7);
  for (const Index k : {131071, 131072, 133145, 140000, 300000}) {
    Case of{Matrix<double>(1, k), Matrix<double>(k, 2), {}, 1, 0, {12, 36, 36}};
    for (Index l = 0; l < k; ++l) {
      // Integers that end in 0x80 have the residue -128 modulo 256, the largest in magnitude.
      of.a(0, l) = k % 2 != 0 && random.between(0, 1) != 0 ? -(1 - 0x1p-29) : 1 - 0x1p-29;
      of.b(l, 0) = 1 - 0x1p-29, of.b(l, 1) = unit_interval(random);
    }
    const Reference reference(of);
    for (const auto* kernel : kernels())
      EXPECT_TRUE(multiplies_exactly(of, engine_of(kernel), reference)) << kernel->name << ' ' << k;
    // Integers that are 126 modulo 253: the largest residue whose sums, if INT32 wraps, give another residue.
    Case wrapping{Matrix<double>(1, k), Matrix<double>(k, 1), {}, 1, 0, {8, 20, 20}};
    for (Index l = 0; l < k; ++l) wrapping.a(0, l) = wrapping.b(l, 0) = (126 + 253 * 2100) * 0x1p-20;
    const Reference wrapped(wrapping);
    for (const auto* kernel : kernels())
      EXPECT_TRUE(multiplies_exactly(wrapping, engine_of(kernel), wrapped)) << kernel->name << ' ' << k;
  }
}

/// Inputs on which other libraries fail give exact results: a wrapped sum at 2^-5 and k = 256, QᵀQ of an orthonormal Q, a
/// subnormal row times a large column.
TEST(ResidueProducts, OfInputsThatOthersFailOn) {
  for (const auto* kernel : kernels()) {
    Case of{Matrix<double>(2, 256), Matrix<double>(256, 2), {}, 1, 0, {13, 46, 46}};
    for (Index l = 0; l < 256; ++l)
      for (Index i = 0; i < 2; ++i) of.a(i, l) = of.b(l, i) = 0x1p-5;
    EXPECT_TRUE(multiplies_exactly(of, engine_of(kernel)));
    Case orthonormal{Matrix<double>(4, 4), Matrix<double>(4, 4), {}, 1, 0, {14, 50, 50}};
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 4; ++j) {
        const double x =
            0.5 * (i == 1 && (j & 1) != 0 ? -1 : 1) * (i == 2 && j > 1 ? -1 : 1) * (i == 3 && (j == 1 || j == 2) ? -1 : 1);
        orthonormal.a(i, j) = orthonormal.b(j, i) = x * (1 + 0x1p-50 * static_cast<double>(i + j));
      }
    EXPECT_TRUE(multiplies_exactly(orthonormal, engine_of(kernel)));
    Case subnormal{Matrix<double>(1, 3), Matrix<double>(3, 1), {}, 1, 0, {13, 46, 46}};
    for (Index l = 0; l < 3; ++l) subnormal.a(0, l) = 0x1p-1074 * static_cast<double>(l + 1), subnormal.b(l, 0) = 0x1p1000;
    EXPECT_TRUE(multiplies_exactly(subnormal, engine_of(kernel)));
  }
}

TEST(ResidueProducts, SpecialsAreFunctionsOfTheInputsAlone) {
  Matrix<double> a(3, 2), b(2, 3), c(3, 3), by_slices(3, 3);
  for (Index i = 0; i < 3; ++i)
    for (Index l = 0; l < 2; ++l) a(i, l) = b(l, i) = 1 + static_cast<double>(i);
  a(0, 0) = nan, b(1, 1) = inf, a(2, 1) = 0;
  for (const auto* kernel : kernels()) {
    multiply_unproven({a, b, c}, ResiduePlan{8, 24, 24}, engine_of(kernel));
    multiply_unproven({a, b, by_slices}, SplitPlan::balanced(7, 7, 14), engine_of(kernel));
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) EXPECT_EQ(bits(c(i, j)), bits(by_slices(i, j))) << kernel->name << i << j;
  }
}

/// Binary32, transposes, blocks under a cap, and C0 in C's place give the bits of the plain call.
TEST(ResidueProducts, HaveTheSameBitsHoweverTheyAreAskedFor) {
  RandomBits random(11);
  const ResiduePlan plan{13, 46, 47};
  const auto a = sample(random, 9, 21, 2, true), b = sample(random, 21, 70, 2, false), c0 = sample(random, 9, 70, 0, true);
  for (const auto* kernel : kernels()) {
    const auto engine = engine_of(kernel);
    Matrix<double> plain(9, 70), blocked(9, 70), in_place(9, 70);
    multiply_unproven({a, b, plain, 0.75, -1.5, c0}, plan, engine);
    const double least = least_workspace(engine, plan, 21), whole = full_workspace(engine, plan, 9, 70, 21);
    multiply_unproven({a, b, blocked, 0.75, -1.5, c0}, plan, engine, (least + whole) / 4 + least / 2);
    for (Index i = 0; i < 9; ++i)
      for (Index j = 0; j < 70; ++j) in_place(i, j) = c0(i, j);
    multiply_unproven({a, b, in_place, 0.75, -1.5, in_place}, plan, engine);
    Matrix<double> at(21, 9);
    for (Index i = 0; i < 9; ++i)
      for (Index l = 0; l < 21; ++l) at(l, i) = a(i, l);
    Matrix<double> transposed(9, 70);
    multiply_unproven({at.view().transposed(), b, transposed, 0.75, -1.5, c0}, plan, engine);
    for (Index i = 0; i < 9; ++i)
      for (Index j = 0; j < 70; ++j) {
        EXPECT_EQ(bits(blocked(i, j)), bits(plain(i, j)));
        EXPECT_EQ(bits(in_place(i, j)), bits(plain(i, j)));
        EXPECT_EQ(bits(transposed(i, j)), bits(plain(i, j)));
      }
  }
}

TEST(ResidueProducts, RoundOnceToBinary32) {
  RandomBits random(12);
  Matrix<float> a(4, 30), b(30, 5), c(4, 5);
  Matrix<double> wide_a(4, 30), wide_b(30, 5);
  for (Index l = 0; l < 30; ++l) {
    for (Index i = 0; i < 4; ++i) wide_a(i, l) = a(i, l) = static_cast<float>(unit_interval(random));
    for (Index j = 0; j < 5; ++j) wide_b(l, j) = b(l, j) = static_cast<float>(unit_interval(random));
  }
  const ResiduePlan plan{8, 27, 28};
  for (const auto* kernel : kernels()) {
    multiply_unproven({a, b, c}, plan, engine_of(kernel));
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 5; ++j) {
        const ResidueEntry entry(row_of(wide_a, i), column_of(wide_b, j), plan);
        // 24 bits: the exact sum is rounded once, with an integer as intermediate.
        const int length = entry.sum == 0 ? 0 : static_cast<int>(msb(Integer(abs(entry.sum)))) + 1, last = length - 24;
        const auto significand = static_cast<double>(static_cast<std::int64_t>(residue_reference::to_nearest(entry.sum, last)));
        EXPECT_EQ(c(i, j), static_cast<float>(std::ldexp(significand, last + entry.unit)));
      }
  }
}

// --- the guard ---

/// The guard accepts the largest sum that a plan of every N holds, and refuses one unit more.
TEST(ResidueGuard, IsExactAtHalfOfP) {
  for (int moduli = 2; moduli <= max_moduli; ++moduli) {
    const Integer half = (product_of_moduli(moduli) - 1) / 2;
    for (int both = 32; both <= 2 * most_residue_bits; both += 7) {
      const ResiduePlan plan{moduli, both / 2, both - both / 2};
      const Integer limit = half >> (both - 2 * IntegerNorms::fraction_bits);
      if ((limit >> 63) != 0) {
        EXPECT_GE(guard_limit(plan), std::uint64_t{1} << 63);
        continue;
      }
      const auto most = static_cast<std::uint64_t>(limit);
      EXPECT_EQ(guard_limit(plan), most) << to_string(Plan(plan));
      const auto norms = [](std::uint64_t sum, std::uint64_t max) {
        return std::vector<IntegerNorms>{{.sum = sum, .sum_squares = ~std::uint64_t{0}, .max = max}};
      };
      if (most == 0) continue;
      EXPECT_FALSE(find_not_held(plan, norms(most, most), norms(1, 1), 1)) << to_string(Plan(plan));
      const auto open = find_not_held(plan, norms(most + 1, most + 1), norms(1, 1), 1);
      ASSERT_TRUE(open) << to_string(Plan(plan));
      EXPECT_EQ(open->moduli, moduli == max_moduli ? 0 : moduli + 1);
    }
  }
}

/// The guard accepts floor(H / 2^(p_A + p_B)) terms of 2^(p_A + p_B), the most that fit, and refuses one more.
TEST(ResidueGuard, HoldsProductsUpToHalfOfP) {
  for (int moduli = 2; moduli <= max_moduli; ++moduli) {
    const Integer half = (product_of_moduli(moduli) - 1) / 2;
    for (int down = 0; down <= 9; ++down)
      for (const bool more : {false, true}) {
        const int both = static_cast<int>(msb(half)) - down;
        if (both < 4) continue;
        const Index k = static_cast<Index>(static_cast<std::int64_t>(half >> both)) + (more ? 1 : 0);
        const ResiduePlan plan{moduli, both / 2, both - both / 2};
        for (const double sign : {1.0, -1.0}) {
          Case of{Matrix<double>(1, k), Matrix<double>(k, 3), {}, 1, 0, plan};
          for (Index l = 0; l < k; ++l) {
            of.a(0, l) = sign * (2 - 0x1p-52);  // rounds up to 2^p
            for (Index j = 0; j < 3; ++j) of.b(l, j) = 2 - 0x1p-52;
          }
          const bool multiplied = multiplies_exactly(of, engine_of(nullptr));
          const bool coarse = plan.bits_a < 16;  // the norms include a term for rounding
          if (!coarse && plan.bits_b < 53) {
            EXPECT_EQ(multiplied, !more) << to_string(Plan(plan)) << " k " << k;
          }
        }
      }
  }
}

/// A product with sum |a' b'| = P / 2 = H + 1 is refused, as its sum would be taken for -P / 2; with one less in A it is held.
/// B is 251 * 253 everywhere and A makes up the sum, so the norms give the sum exactly.
TEST(ResidueGuard, RefusesHalfOfP) {
  constexpr int moduli = 5;
  constexpr double of_b = 251 * 253, large = 0x1p15;
  const auto sum = static_cast<double>(static_cast<std::int64_t>(product_of_moduli(moduli) / 2)) / of_b;
  const auto k = static_cast<Index>(std::ceil(sum / large));
  Case of{Matrix<double>(1, k), Matrix<double>(k, 1), {}, 1, 0, {moduli, 16, 16}};
  for (Index l = 0; l < k; ++l) of.a(0, l) = large, of.b(l, 0) = of_b;
  of.a(0, k - 1) = sum - large * static_cast<double>(k - 1);
  EXPECT_FALSE(multiplies_exactly(of, engine_of(nullptr)));
  of.a(0, k - 1) -= 1;
  EXPECT_TRUE(multiplies_exactly(of, engine_of(nullptr)));
}

/// Each of the three forms of the guard holds a product that the two others do not: one large and many small elements.
TEST(ResidueGuard, TakesTheNormThatHolds) {
  const auto norms = [](std::uint64_t sum, std::uint64_t squares, std::uint64_t max) {
    return std::vector<IntegerNorms>{{.sum = sum, .sum_squares = squares, .max = max}};
  };
  const ResiduePlan plan{3, 16, 16};  // sums up to 8128383 units
  ASSERT_EQ(guard_limit(plan), std::uint64_t{(256 * 253 * 251 - 1) / 2});
  EXPECT_FALSE(find_not_held(plan, norms(8000000, 1 << 30, 1), norms(1 << 20, ~std::uint64_t{0}, 1), 1));
  EXPECT_FALSE(find_not_held(plan, norms(1 << 20, ~std::uint64_t{0}, 1), norms(8000000, 1 << 30, 1), 1));
  EXPECT_FALSE(find_not_held(plan, norms(8000, 4000000, 2000), norms(8000, 4000000, 2000), 1));
  EXPECT_TRUE(find_not_held(plan, norms(8000, 8200000, 2000), norms(8000, 8200000, 2000), 1));
  for (const bool more : {false, true}) {  // each form at the limit and one above it
    const std::uint64_t at = 8128383 + (more ? 1 : 0), much = 1 << 30;
    EXPECT_EQ(find_not_held(plan, norms(at, much, much), norms(much, much, 1), 1).has_value(), more);
    EXPECT_EQ(find_not_held(plan, norms(much, much, 1), norms(at, much, much), 1).has_value(), more);
    EXPECT_EQ(find_not_held(plan, norms(much, at, much), norms(much, at, much), 1).has_value(), more);
  }
}

/// The guard names the entry that needs the most moduli, wherever it is.
TEST(ResidueGuard, NamesAnEntryThatNeedsTheMostModuli) {
  Matrix<double> a(3, 300), b(300, 1), c(3, 1);
  for (Index l = 0; l < 300; ++l) a(0, l) = a(2, l) = l == 0 ? 1 : 0, a(1, l) = b(l, 0) = 1;
  EXPECT_THAT([&] { multiply_unproven({a, b, c}, ResiduePlan{4, 46, 47}, CpuEngine()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("entry (1, 0); with these bits 13 moduli are enough")));
  EXPECT_NO_THROW(multiply_unproven({a, b, c}, ResiduePlan{13, 46, 47}, CpuEngine()));
}

/// Norms count the rounding up of few bits: in integers of one bit 0.76 becomes 1, so sums are twice those of the elements.
TEST(ResidueGuard, KnowsThatFewBitsRoundUp) {
  const Index k = 9000;
  Case of{Matrix<double>(1, k), Matrix<double>(k, 1), {}, 1, 0, {2, 1, 1}};
  for (Index l = 0; l < k; ++l) of.a(0, l) = of.b(l, 0) = 0.76;
  EXPECT_FALSE(multiplies_exactly(of, engine_of(nullptr)));
  of.plan.moduli = 3;
  EXPECT_TRUE(multiplies_exactly(of, engine_of(nullptr)));
}

/// First digits do not decide plans of few bits. In integers of 5 bits, 0.7 of a unit is rounded up to 1 but its first digit
/// says less than 3/4, so a guard by first digits only would accept this product, which wraps.
TEST(ResidueGuard, FirstDigitsTellNothingOfFewBits) {
  const Index k = 40000;
  Case of{Matrix<double>(1, k), Matrix<double>(k, 1), {}, 1, 0, {2, 5, 5}};
  for (Index l = 0; l < k; ++l) of.a(0, l) = of.b(l, 0) = l == 0 ? 0.75 : 0.7 / 32;
  EXPECT_FALSE(multiplies_exactly(of, engine_of(nullptr)));
}

TEST(ResidueGuard, RefusesBeforeAnythingIsWrittenAndSaysWhatWouldDo) {
  Matrix<double> a(2, 300), b(300, 2), c(2, 2);
  for (Index l = 0; l < 300; ++l) a(0, l) = 0, a(1, l) = b(l, 0) = b(l, 1) = 1 - 0x1p-30;
  a(0, 0) = nan;  // NaN entries would be written first
  for (Index i = 0; i < 2; ++i) c(i, 0) = c(i, 1) = 42;
  const auto call = [&] { multiply_unproven({a, b, c}, ResiduePlan{4, 46, 47}, CpuEngine()); };
  EXPECT_THAT(call, ThrowsMessage<std::invalid_argument>(testing::StrEq(
                        "plan: residues:4:46x47 is not sure to hold entry (1, 0); with these bits 13 moduli are enough")));
  for (Index i = 0; i < 2; ++i) EXPECT_TRUE(c(i, 0) == 42 && c(i, 1) == 42);
  EXPECT_THAT([&] { multiply_unproven({a, b, c}, ResiduePlan{20, 120, 120}, CpuEngine()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("; fewer bits do, or slices")));
}

TEST(ResidueGuard, RefusesAnInnerDimensionThatIsTooLong) {
  const double one = 1;
  double c = 42;
  const Index k = longest_residue_inner + 1;
  const MatrixView<const double> row(&one, 1, k, 0, 0), column(&one, k, 1, 0, 0);
  EXPECT_THAT([&] { multiply_unproven({row, column, MatrixView<double>(&c, 1, 1, 1, 1)}, ResiduePlan{8, 4, 4}, CpuEngine()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("the inner dimension is too long")));
  EXPECT_EQ(c, 42);
}

TEST(ResidueGuard, NamesAComplexEntryByItsOwnRow) {
  Matrix<std::complex<double>> a(2, 40), b(40, 1), c(2, 1);
  for (Index l = 0; l < 40; ++l) a(0, l) = 0, a(1, l) = {1, 1}, b(l, 0) = {1, -1};
  EXPECT_THAT([&] { multiply_unproven({a, b, c}, ResiduePlan{4, 30, 30}, CpuEngine()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("entry (1, 0)")));
  c(0, 0) = 42;
  EXPECT_THAT([&] { multiply_unproven({a, b, c, {1, 2}}, ResiduePlan{4, 30, 30}, CpuEngine()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("entry (1, 0)")));
  EXPECT_EQ(c(0, 0), 42.0);
  multiply_unproven({a, b, c, {1, 2}}, ResiduePlan{13, 30, 30}, CpuEngine());
  EXPECT_EQ(c(1, 0), std::complex<double>(80, 160));  // 40 (1 + i) (1 - i) (1 + 2i)
}

// --- the recovery ---

WideInteger<residue_limbs> wide(const Integer& x) {
  const Integer two = x < 0 ? Integer((Integer(1) << 64 * residue_limbs) + x) : x;
  WideInteger<residue_limbs> result;
  for (int i = 0; i < residue_limbs; ++i) result.limb[i] = static_cast<std::uint64_t>((two >> 64 * i) & ~std::uint64_t{0});
  return result;
}

/// Random integers, integers at ±H, and integers around multiples of P / 256 below H, where the quotient is near a tie.
std::vector<Integer> recovered_integers(int moduli, RandomBits& random) {
  const Integer p = product_of_moduli(moduli), half = (p - 1) / 2;
  std::vector<Integer> all{0, 1, half, half - 1, (p * 127) / 256, (p * 127) / 256 + 1, (p * 253) / 512, half - half / 1000000};
  for (int t = 0; t < 30; ++t) {
    Integer x = 0;
    for (int word = 0; word < 3; ++word) x = (x << 64) + random();
    all.push_back(x % (half + 1));
  }
  const auto count = all.size();
  for (std::size_t t = 0; t < count; ++t) all.push_back(-all[t]);
  return all;
}

std::int64_t group_value(const Integer& x, int groups, int radix, int g) {
  const Integer shifted = x >> (radix * (groups - 1 - g));  // rounds down
  return static_cast<std::int64_t>(g == 0 ? shifted : Integer(shifted & ((Integer(1) << radix) - 1)));
}

/// The value represented by the sums of a carry chain.
Integer chained(const std::vector<std::int64_t>& groups, int count, int radix, std::size_t stride, std::size_t at) {
  Integer x = 0;
  for (int g = 0; g < count; ++g) x = (x << radix) + groups[static_cast<std::size_t>(g) * stride + at];
  return x;
}

TEST(ResidueRecovery, IsExactUpToHalfOfP) {
  RandomBits random(21);
  for (int moduli = 2; moduli <= max_moduli; ++moduli) {
    const auto base = ResidueBase::of(moduli);
    for (const auto& x : recovered_integers(moduli, random)) {
      std::vector<std::int64_t> sums;
      for (int t = 0; t < moduli; ++t) {
        const auto rest = static_cast<std::int64_t>(static_cast<Integer>(x % residue_moduli[t]));
        sums.push_back(rest + residue_moduli[t] * static_cast<std::int64_t>(random.between(-1000000, 1000000)));
      }
      const auto found = base.reconstruct(sums.data(), 1), expected = wide(x);
      for (int i = 0; i < residue_limbs; ++i) EXPECT_EQ(found.limb[i], expected.limb[i]) << moduli << ' ' << x;
      std::int64_t groups[4];
      to_groups(found, residue_groups(moduli), residue_radix(moduli), groups, 1);
      for (int g = 0; g < residue_groups(moduli); ++g)
        EXPECT_EQ(groups[g], group_value(x, residue_groups(moduli), residue_radix(moduli), g)) << moduli << ' ' << x;
    }
  }
}

class ResidueKernel : public testing::TestWithParam<const Kernel*> {
 protected:
  const KernelFunctions& functions = *GetParam()->functions;
};

/// Groups represent C' wherever the kernel reports certainty, and it does so below P (1/2 - 2^-7).
TEST_P(ResidueKernel, RecoversWhatTheScalarCodeDoes) {
  const FloatEnvironment environment;
  RandomBits random(22);
  constexpr std::size_t stride = 64;
  for (int moduli = 2; moduli <= max_moduli; ++moduli) {
    const auto& constants = residue_constants(moduli);
    const Integer p = product_of_moduli(moduli);
    for (const auto& x : recovered_integers(moduli, random))
      for (const std::int64_t multiples : {std::int64_t{0}, std::int64_t{1} << 37}) {
        std::vector<std::int64_t> sums(max_moduli * stride), groups(4 * stride);
        std::vector<std::int32_t> products(max_moduli * stride);
        std::vector<std::uint32_t> corrections(max_moduli);
        for (int t = 0; t < moduli; ++t) {
          const auto at = static_cast<std::size_t>(t);
          const auto rest = balanced(static_cast<std::int64_t>(static_cast<Integer>(x % residue_moduli[t])), residue_moduli[t]);
          sums[at * stride] = rest + residue_moduli[t] * (multiples - multiples / 3 * t % 7);
          corrections[at] = static_cast<std::uint32_t>(random());
          const auto in_int32 = static_cast<std::uint32_t>(rest + residue_moduli[t] * random.between(-8000000, 8000000));
          std::fill_n(&products[at * stride], 16,
                      static_cast<std::int32_t>(in_int32 - corrections[at]));  // the only ones that are read
        }
        const bool sure = functions.recover(sums.data(), stride, 1, constants, groups.data());
        if (256 * abs(x) < 126 * p) {
          EXPECT_TRUE(sure) << moduli << ' ' << x;
        }
        if (sure) {
          EXPECT_EQ(chained(groups, residue_groups(moduli), residue_radix(moduli), stride, 0), x) << moduli;
        }
        if (functions.recover_products == nullptr) continue;
        const bool sure_too = functions.recover_products(products.data(), stride, corrections.data(), 1, 1, constants,
                                                         groups.data(), static_cast<std::int64_t>(stride));
        if (256 * abs(x) < 126 * p) {
          EXPECT_TRUE(sure_too) << moduli << ' ' << x;
        }
        if (sure_too) {
          EXPECT_EQ(chained(groups, residue_groups(moduli), residue_radix(moduli), stride, 0), x) << moduli;
        }
      }
  }
}

/// The kernel makes the scalar code's residues for elements of all sizes, at ties, and with the most bits that it takes.
TEST_P(ResidueKernel, MakesTheResiduesOfTheScalarCode) {
  const FloatEnvironment environment;
  RandomBits random(23);
  for (const int p : {1,  2,  7,  8,  20, 26, 27, 31, 32, 33, 49, 50, 51,  52,  53,  54,
                      55, 61, 62, 63, 64, 65, 75, 86, 95, 96, 97, 98, 117, 118, 119, most_residue_bits})
    for (const auto flip : {std::uint8_t{0}, std::uint8_t{0x80}}) {
      constexpr int fours = 3;
      double x[4 * fours][slice_lanes];
      for (auto& lanes : x)
        for (auto& one : lanes) {
          const double unit = std::ldexp(1.0, -p);
          switch (random.between(0, 6)) {
            case 0: one = unit * (random.between(-9, 9) + 0.5); break;  // ties
            case 5: one = unit * (std::ldexp(1.0, random.between(0, 51)) + 0.5 * random.between(-3, 3)); break;
            case 6: one = unit * std::ldexp(1.0, random.between(0, p - 1)) * (1 + 0x1p-52 * random.between(-2, 2)); break;
            case 1: one = (random.between(0, 1) == 0 ? 1 : -1) * (1 - 0x1p-53); break;  // up to 2^p
            case 2: one = std::ldexp(unit_interval(random), -random.between(0, p + 3)); break;
            case 3: one = std::ldexp(any_finite(random) > 0 ? 0x1p-1074 : -0x1p-1074, random.between(0, 60)); break;
            default: one = unit_interval(random);
          }
          if (std::abs(one) >= 1) one = 0.75;
        }
      double scale[slice_lanes];
      std::fill(std::begin(scale), std::end(scale), std::ldexp(1.0, p));
      const int moduli = max_moduli;
      std::vector<std::int8_t> out(static_cast<std::size_t>(moduli * fours * 4 * slice_lanes));
      const ResidueShape shape{fours * 4 * slice_lanes, 4 * slice_lanes, 4};
      functions.residues(x, fours, residue_constants(moduli), scale, p, slice_lanes, flip, shape, out.data());
      for (int t = 0; t < moduli; ++t)
        for (int l = 0; l < 4 * fours; ++l)
          for (int v = 0; v < slice_lanes; ++v) {
            const auto at = t * shape.layer_bytes + l / 4 * shape.four_bytes + v * shape.vector_bytes + l % 4;
            const auto expected = RoundedInteger::of(to_dyadic(x[l][v]), -p).residue(residue_moduli[t]);
            const auto stored = static_cast<std::int8_t>(out[static_cast<std::size_t>(at)] ^ flip);
            EXPECT_EQ(stored, expected) << "p " << p << " modulo " << residue_moduli[t] << ": " << std::hexfloat << x[l][v];
          }
    }
}

INSTANTIATE_TEST_SUITE_P(, ResidueKernel, testing::ValuesIn(kernels()),
                         [](const auto& kernel) { return std::string(kernel.param->name); });

// --- norms ---

std::int32_t last_bit_of(const InputView& vectors, Index i) {
  std::int32_t last = no_last_bit;
  for (Index l = 0; l < vectors.cols(); ++l) {
    if (!is_finite(vectors.bits(i, l), binary64)) return no_last_bit;
    const auto x = vectors.element(i, l);
    if (x.magnitude != 0) last = std::min(last, x.exponent + std::countr_zero(x.magnitude));
  }
  return last;
}

/// Norms equal those of the facts, for every kind of vector, in every order in memory.
TEST(VectorNorms, AreThoseOfFacts) {
  RandomBits random(31);
  for (int kind = 0; kind < 8; ++kind)
    for (const Index k : {0, 1, 7, 8, 9, 100}) {
      auto a = kind == 7 ? Matrix<double>(70, k) : sample(random, 70, k, kind, true);
      if (k > 0 && kind % 2 == 1) a(3, k - 1) = nan, a(67, 0) = -inf;
      Matrix<double> transposed(k, 70), wide(70, 2 * k + 1);
      Matrix<float> narrow(70, k);
      for (Index i = 0; i < 70; ++i)
        for (Index l = 0; l < k; ++l) transposed(l, i) = wide(i, 2 * l) = a(i, l), narrow(i, l) = static_cast<float>(a(i, l));
      const auto expect = [&](InputView operand, Side side) {
        const SliceFacts facts(operand, side, residue_measure, 1);
        const auto norms = vector_norms(operand, side, 2);
        ASSERT_EQ(norms.size(), facts.vectors.size());
        for (std::size_t i = 0; i < norms.size(); ++i) {
          EXPECT_EQ(norms[i].norms.sum, facts.vectors[i].vector.sum) << kind << ' ' << i;
          EXPECT_EQ(norms[i].norms.sum_squares, facts.vectors[i].vector.sum_squares) << kind << ' ' << i;
          EXPECT_EQ(norms[i].norms.max, facts.vectors[i].vector.max) << kind << ' ' << i;
          EXPECT_EQ(norms[i].floor_squares, facts.vectors[i].floor_squares) << kind << ' ' << i;
          EXPECT_EQ(norms[i].scale.exponent, facts.vectors[i].scale.exponent) << kind << ' ' << i;
          EXPECT_EQ(norms[i].scale.special, facts.vectors[i].scale.special) << kind << ' ' << i;
          EXPECT_EQ(norms[i].last_bit, last_bit_of(vectors_of(operand, side), static_cast<Index>(i))) << kind << ' ' << i;
        }
      };
      expect(a, Side::rows_of_a);
      expect(a, Side::columns_of_b);
      expect(transposed, Side::columns_of_b);
      expect(narrow, Side::rows_of_a);
      expect(MatrixView<const double>(wide.data(), 70, k, 2 * k + 1, 2), Side::rows_of_a);
    }
}

// --- forms ---

TEST(ResiduePlanTest, IsSpelledOneWay) {
  EXPECT_EQ(to_string(parse_plan("residues:13:45x46")), "residues:13:45x46");
  EXPECT_EQ(parse_plan("residues:13:45x46"), Plan(ResiduePlan{13, 45, 46}));
  EXPECT_EQ(parse_plan("residues:13:45x46").products(), 13);
  EXPECT_EQ(Plan(ResiduePlan{13, 45, 46}).operand_bytes(10, 20, 300), 13 * 300 * 30);
  EXPECT_EQ(Plan(SplitPlan::balanced(7, 6, 8)).operand_bytes(10, 20, 300), 300 * (7 * 10 + 6 * 20));
  for (const char* const text :
       {"residues:1:45x45", "residues:21:45x45", "residues:13:0x45", "residues:13:45x0", "residues:13:45x121", "residues:13",
        "residues:13:45", "residues:13:46", "residues:013:45x45", "residues:13:45x45:exact", "residues:-2:4x4",
        "residues:", "residues:13:45X46", "residues:13:45x46 ", "residues:13:+45x46"})
    EXPECT_THAT([&] { static_cast<void>(parse_plan(text)); },
                ThrowsMessage<std::invalid_argument>(testing::StartsWith("plan: ")))
        << text;
}

TEST(ResiduePlanTest, HasNoSplitPlan) {
  EXPECT_THAT([] { static_cast<void>(Plan(ResiduePlan{13, 45, 46}).split()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("residues:13:45x46")));
}

TEST(IntegerOperandTest, IsOfTheFormThatThePlanSays) {
  const CpuEngine engine;
  Matrix<double> a(2, 3), b(3, 2), c(2, 2);
  const ResiduePlan plan{4, 10, 11};
  const auto rows = engine.prepare(a, Side::rows_of_a, Plan(plan).form(Side::rows_of_a));
  const auto columns = engine.prepare(b, Side::columns_of_b, Plan(plan).form(Side::columns_of_b));
  EXPECT_EQ(rows.residues().form(), plan.a());
  EXPECT_EQ(columns.residues().form(), plan.b());
  const auto refused = [&](const IntegerOperand& x, const IntegerOperand& y, const Plan& under, const char* why) {
    EXPECT_THAT([&] { engine.multiply(x, y, under, {}, c); }, ThrowsMessage<std::invalid_argument>(HasSubstr(why)));
  };
  refused(columns, rows, plan, "a must have residues of rows");
  refused(rows, columns, ResiduePlan{4, 10, 12}, "b has other residues than the plan says");
  refused(rows, columns, SplitPlan::balanced(2, 2, 3), "takes no residues");
  const auto slices = engine.slice(a, Side::rows_of_a, SplitPlan::balanced(2, 2, 3).a);
  refused(slices, columns, plan, "takes no slices");
  EXPECT_THAT([&] { static_cast<void>(engine.Engine::prepare(a, Side::rows_of_a, plan.a())); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("plan: this engine multiplies slices alone")));
}

}  // namespace
}  // namespace ozbound::residues_test
