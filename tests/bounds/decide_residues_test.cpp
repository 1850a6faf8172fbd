// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bounds/products.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/core/kernel.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "support/residue_reference.hpp"

namespace ozbound::decide_residues_test {
namespace {

using residue_reference::Integer;

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

/// The decision's candidate by residues, if it has one.
std::optional<Candidate> residues_of(const Decision& decision) {
  for (const auto& candidate : decision.candidates)
    if (candidate.plan && candidate.plan->by_residues()) return candidate;
  return std::nullopt;
}

ResiduePlan plan_of(const Candidate& candidate) {
  return candidate.plan->visit([](const SplitPlan&) { return ResiduePlan{}; }, [](const ResiduePlan& plan) { return plan; });
}

// --- the fewest moduli that are enough, in exact arithmetic ---

/// A product whose elements are small multiples of 2^-500, stored as integers in that unit.
class Exactly {
 public:
  explicit Exactly(const test::SampleProduct& product) : product_(product) {
    for (Index i = 0; i < product.m(); ++i) rows_.push_back(vector_of(residue_reference::row_of(product.problem.a, i)));
    for (Index j = 0; j < product.n(); ++j) columns_.push_back(vector_of(residue_reference::column_of(product.problem.b, j)));
    for (const auto& row : rows_)
      for (const auto& column : columns_) magnitudes_.push_back(dot(row.elements, column.elements));
    largest_units_ = find_largest_units();
  }

  /// How sums of |a' b'| are taken: exactly, or bounded from the first digits as the guard does.
  enum class Sums { true_ones, first_digits };

  /// The measure that errors are compared with: entry by entry M = |A||B| + |beta C0 / alpha| or ||a_i||_2 ||b_j||_2, or the
  /// Frobenius norm of M.
  enum class Measure { entries, vector_norms, matrix_norm };

  /// The least number N of moduli, over all bits, whose bound certifies errors of at most p / q of a measure.
  [[nodiscard]] std::optional<int> fewest_moduli(Sums sums, Measure measure, const Integer& p, const Integer& q) const {
    std::optional<int> fewest;
    const bool any_a = all_exact_below(rows_, 7), any_b = all_exact_below(columns_, 7);
    for (int a = any_a ? 1 : 7; a <= most_residue_bits; ++a) {
      if (a < 7 && !all_exact(rows_, a)) continue;
      for (int b = any_b ? 1 : 7; b <= most_residue_bits; ++b) {
        if ((b < 7 && !all_exact(columns_, b)) || !certifies(a, b, measure, p, q)) continue;
        const auto moduli = moduli_for(sums, a, b, fewest.value_or(max_moduli));
        if (moduli) fewest = moduli;
        break;  // more bits of B need no fewer moduli
      }
      if (fewest && *fewest == 2) break;
    }
    return fewest;
  }

 private:
  static constexpr int unit = 500;

  struct Vector {
    std::vector<Integer> elements;  ///< |x| 2^unit
    Integer norm = 0, squares = 0;
    int scale = 0;     ///< 2^scale is twice the unit in the first place of the largest
    int exact_at = 0;  ///< bits that hold the vector exactly
  };

  static Vector vector_of(const std::vector<double>& values) {
    Vector vector;
    vector.scale = residue_reference::scale_of(values);
    for (const double x : values) {
      const auto fraction = residue_reference::exact_fraction(std::abs(x));
      EXPECT_GE(fraction.exponent, -unit);
      const Integer element = fraction.numerator << (fraction.exponent + unit);
      vector.norm += element, vector.squares += element * element;
      if (element != 0) vector.exact_at = std::max(vector.exact_at, vector.scale + unit - static_cast<int>(lsb(element)));
      vector.elements.push_back(element);
    }
    return vector;
  }

  static Integer dot(const std::vector<Integer>& x, const std::vector<Integer>& y) {
    Integer sum = 0;
    for (std::size_t l = 0; l < x.size(); ++l) sum += x[l] * y[l];
    return sum;
  }

  /// x 2^e, without loss of a bit for the x and e used in this test.
  static Integer times_power(const Integer& x, int e) { return e < 0 ? Integer(x >> -e) : Integer(x << e); }

  static bool all_exact(const std::vector<Vector>& vectors, int bits) {
    return std::ranges::all_of(vectors, [bits](const Vector& one) { return one.exact_at <= bits; });
  }
  static bool all_exact_below(const std::vector<Vector>& vectors, int bits) { return all_exact(vectors, bits - 1); }

  static std::vector<Integer> rounded(const Vector& vector, int bits) {
    std::vector<Integer> integers;
    for (const auto& element : vector.elements)
      integers.push_back(residue_reference::to_nearest(element, vector.scale - bits + unit));
    return integers;
  }

  /// residues.md, R10, times 2^(2 unit + 250 + 1): s rho ||b|| + t sigma ||a~|| <= p / q M.
  [[nodiscard]] bool certifies(int a, int b, Measure measure, const Integer& p, const Integer& q) const {
    constexpr int up = 250;
    const auto at_most = [&](const Integer& error, const Integer& m) { return error * q <= ((p * m) << (1 + up)); };
    const auto squares_at_most = [&](const Integer& errors, const Integer& ms) {
      return errors * q * q <= ((p * p * ms) << (2 * (1 + up)));
    };
    Integer errors = 0, ms = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        const auto &row = rows_[i], &column = columns_[j];
        const Integer of_a = row.exact_at <= a ? Integer(0) : column.norm << (unit + row.scale - a + up);
        Integer sum = row.norm << (unit + up);
        if (row.exact_at > a) sum += Integer(row.elements.size()) << (2 * unit + row.scale - a - 1 + up);
        const Integer of_b = column.exact_at <= b ? Integer(0) : times_power(sum, column.scale - b);
        Integer m = magnitudes_[i * columns_.size() + j];
        if (product_.beta != 0) m += c0_over_alpha(static_cast<Index>(i), static_cast<Index>(j));
        const Integer error = of_a + of_b;
        errors += error * error, ms += m * m;
        if (measure == Measure::entries && !at_most(error, m)) return false;
        if (measure == Measure::vector_norms && !squares_at_most(error * error, row.squares * column.squares)) return false;
      }
    return measure != Measure::matrix_norm || squares_at_most(errors, ms);
  }

  /// |beta C0 / alpha| 2^(2 unit), alpha a power of two.
  [[nodiscard]] Integer c0_over_alpha(Index i, Index j) const {
    const auto fraction = residue_reference::exact_fraction(std::abs(product_.beta * product_.c0(i, j) / product_.alpha));
    return fraction.numerator << (fraction.exponent + 2 * unit);
  }

  [[nodiscard]] std::optional<int> moduli_for(Sums sums, int a, int b, int most) const {
    const Integer largest =
        sums == Sums::true_ones ? largest_sum(a, b) : Integer(times_power(largest_units_, a + b - 14 + unit));
    const int shift = sums == Sums::true_ones ? 0 : unit;
    for (int moduli = 2; moduli <= most; ++moduli)
      if (2 * largest <= (residue_reference::product_of_moduli(moduli) - 1) << shift) return moduli;
    return std::nullopt;
  }

  [[nodiscard]] Integer largest_sum(int a, int b) const {
    Integer largest = 0;
    for (const auto& row : rows_) {
      const auto x = rounded(row, a);
      for (const auto& column : columns_) largest = std::max<Integer>(largest, dot(x, rounded(column, b)));
    }
    return largest;
  }

  /// residues.md, R9: the largest sum of (d_A + 1)(d_B + 1), d the first seven bits.
  [[nodiscard]] Integer find_largest_units() const {
    const auto above = [](const Vector& vector) {
      std::vector<Integer> digits;
      for (const auto& element : vector.elements) digits.push_back((element >> (vector.scale - 7 + unit)) + 1);
      return digits;
    };
    Integer largest = 0;
    for (const auto& row : rows_)
      for (const auto& column : columns_)
        if (row.norm != 0 && column.norm != 0) largest = std::max<Integer>(largest, dot(above(row), above(column)));
    return largest;
  }

  const test::SampleProduct& product_;
  std::vector<Vector> rows_, columns_;
  std::vector<Integer> magnitudes_;
  Integer largest_units_;
};

/// (tau - u) / (1 + u) as p / q, tau being a multiple of 2^-160.
std::pair<Integer, Integer> factor_of(double tau, double u) {
  const auto integer = [](double x) {
    const auto fraction = residue_reference::exact_fraction(x);
    return Integer(fraction.numerator << (fraction.exponent + 160));
  };
  return {integer(tau) - integer(u), (Integer(1) << 160) + integer(u)};
}

Matrix<double> few_bits(Index rows, Index columns, int bits, test::RandomBits& random) {
  Matrix<double> matrix(rows, columns);
  for (Index t = 0; t < rows * columns; ++t) matrix.data()[t] = random.between(-(1 << bits) + 1, (1 << bits) - 1);
  return matrix;
}

/// Random data that vary everything a choice depends on: exponents, signs, exact operands, C0.
test::SampleProduct sample_choice(int t, test::RandomBits& random) {
  static constexpr Index inner[] = {1, 2, 3, 5, 9, 16, 17, 33, 64, 100, 255, 300};
  static constexpr double phis[] = {0, 0.5, 1, 2, 3};
  const Index k = t % 100 == 99 ? 4096 : t % 50 == 48 ? 1024 : random.pick(inner);
  const Index m = random.between(1, 3), n = random.between(1, 3);
  auto product = test::product_of({Family::wide_exponents, m, n, k, random.pick(phis), random()});
  const int kind = t % 6;
  if (kind == 1)
    for (auto* x : {&product.problem.a, &product.problem.b})
      for (Index i = 0; i < x->rows() * x->cols(); ++i) x->data()[i] = std::abs(x->data()[i]);
  if (kind == 2 || kind == 3) product.problem.a = few_bits(m, k, random.between(1, 30), random);
  if (kind == 3) product.problem.b = few_bits(k, n, random.between(1, 12), random);
  if (kind == 4) {
    product.alpha = 2, product.beta = -0.5, product.c0 = Matrix<double>(m, n);
    for (Index i = 0; i < m * n; ++i) product.c0.data()[i] = random.between(-100, 100);
  }
  return product;
}

/// The formula takes the fewest moduli found by an exact search over all bits with the guard's sums, or (rarely) one more. With
/// the true sums the difference is still less than two.
TEST(DecideResidues, TakesTheFewestModuliOrOneMore) {
  test::RandomBits random(44);
  static const char* const targets[] = {"componentwise:1e-3", "componentwise:1e-7", "componentwise:1e-12", "dgemm",
                                        "dgemm-typical",      "rowcol:1e-10",       "normwise:1e-11"};
  int compared = 0, one_more = 0;
  for (int t = 0; t < 500; ++t) {
    const auto product = sample_choice(t, random);
    auto target = parse_target(random.pick(targets));
    if (product.beta != 0 && target.kind == Target::Kind::rowcol) target = Target::componentwise(target.tau);  // no square of M
    const bool scaled = has_scalars(product.alpha, product.beta);
    const double tau = target_tau(target, product.k(), binary64, scaled), u = 0x1p-53;
    if (!(tau > u)) continue;
    const auto [p, q] = factor_of(tau, u);
    const Exactly exactly(product);
    const auto measure = target.kind == Target::Kind::rowcol     ? Exactly::Measure::vector_norms
                         : target.kind == Target::Kind::normwise ? Exactly::Measure::matrix_norm
                                                                 : Exactly::Measure::entries;
    const auto fewest = exactly.fewest_moduli(Exactly::Sums::first_digits, measure, p, q);
    const auto ours = residues_of(decide(product.stated(), target, engine()));
    ASSERT_EQ(fewest.has_value(), ours.has_value()) << product.describe() << ", " << to_string(target);
    if (!fewest) continue;
    ++compared;
    const int moduli = plan_of(*ours).moduli;
    ASSERT_GE(moduli, *fewest) << product.describe() << ", " << to_string(target);
    ASSERT_LE(moduli, *fewest + 1) << product.describe() << ", " << to_string(target);
    one_more += moduli - *fewest;
    if (product.k() > 64) continue;
    const auto truly = exactly.fewest_moduli(Exactly::Sums::true_ones, measure, p, q);
    ASSERT_GE(moduli, *truly) << product.describe() << ", " << to_string(target);
    ASSERT_LE(moduli, *truly + 1) << product.describe() << ", " << to_string(target);
  }
  EXPECT_GT(compared, 400);
  EXPECT_LE(one_more * 40, compared) << one_more << " of " << compared;
}

TEST(DecideResidues, TakesAsFewModuliAsAimedAt) {
  struct Expected {
    const char* target;
    double phi;
    int least, most;
  };
  for (const auto& [target, phi, least, most] : {Expected{"dgemm", 0, 13, 13},
                                                 {"dgemm", 0.5, 13, 14},
                                                 {"dgemm", 2, 13, 16},
                                                 {"componentwise:1e-7", 0.5, 7, 9},
                                                 {"componentwise:1e-12", 0.5, 11, 13}})
    for (const Index k : {512, 1024, 4096}) {
      const auto product = test::product_of({Family::wide_exponents, 24, 24, k, phi, 7});
      const auto decision = decide(product.stated(), parse_target(target), engine());
      const auto ours = residues_of(decision);
      ASSERT_TRUE(ours);
      EXPECT_GE(plan_of(*ours).moduli, least) << target << ' ' << phi << ' ' << k;
      EXPECT_LE(plan_of(*ours).moduli, most) << target << ' ' << phi << ' ' << k;
      EXPECT_EQ(decision.plan, ours->plan);
      EXPECT_TRUE(ours->certifies);
      EXPECT_LE(ours->ratio, 1);
    }
}

/// Correct rounding by residues takes at most 20 products, leaves few entries open, and gives the bits of cr by slices.
TEST(DecideResidues, RoundsCorrectlyInFewProducts) {
  for (const double phi : {0.0, 1.0}) {
    const auto product = test::product_of({Family::wide_exponents, 96, 96, 1024, phi, 5});
    const auto cr = Target::correctly_rounded();
    const auto decision = decide(product.stated(), cr, engine());
    ASSERT_TRUE(residues_of(decision));
    EXPECT_EQ(decision.plan, residues_of(decision)->plan);
    EXPECT_LE(decision.plan->products(), 20);
    const auto ours = test::compute_with(product, decision, engine());
    EXPECT_LT(static_cast<double>(ours.certificate.exact), 1e-3 * 96 * 96);
    const auto by_slices = test::compute(product, cr, engine());
    EXPECT_TRUE(by_slices.decision.plan->products() > decision.plan->products());
    EXPECT_TRUE(test::same_bits(ours.c, by_slices.c));
  }
}

/// For every family, target, scalar and format the target is kept by the exact oracle, and a second program recomputes the
/// certificate.
TEST(DecideResidues, KeepsEveryTarget) {
  test::RandomBits random(9);
  static const char* const targets[] = {"cr",
                                        "dgemm",
                                        "dgemm-typical",
                                        "componentwise:1e-9",
                                        "rowcol:1e-12",
                                        "normwise:1e-12",
                                        "relative:1e-10",
                                        "relative:3",
                                        "componentwise:1e300"};
  int by_residues = 0;
  for (const auto family : all_families())
    for (int t = 0; t < 40; ++t) {
      const auto product =
          test::sample_product(test::sample_recipe(family, random.pick({0.0, 0.5, 2.0, 6.0}), 9, random), random);
      auto target = parse_target(random.pick(targets));
      if (product.narrow && target.tau > 0) target.tau = std::max(target.tau, 0x1p-20);
      if (product.narrow && product.k() < 2) continue;
      const auto decision = decide(product.stated(), target, engine());
      const auto computed = test::compute_with(product, decision, engine());
      ASSERT_TRUE(test::keeps_its_target(product, computed)) << to_string(target);
      const auto taken = residues_of(decision);
      if (!taken || decision.plan != taken->plan) continue;
      ++by_residues;
      const auto check = check_certificate(to_json(computed.certificate).dump(), product.operands(), computed.c.view());
      for (const auto& claim : check.claims)
        ASSERT_TRUE(claim.holds) << claim.claim << ": " << claim.finding << product.describe() << to_string(target);
    }
  EXPECT_GT(by_residues, 100);
}

/// Under a normwise target, the formula bounds the certificate's ratio. If the largest row and the largest column meet in a
/// zero, only a pass over all entries tells the norm's scale, and the ratio is the certificate's own.
TEST(DecideResidues, BoundANormByTheOperandsNorms) {
  for (const double meeting : {0.0, std::ldexp(1.3, 20)}) {
    Matrix<double> a(2, 2), b(2, 2), c(2, 2);
    a(0, 0) = std::ldexp(1.1, 40), a(0, 1) = meeting, a(1, 1) = 1.3;
    b(0, 0) = 1.7, b(0, 1) = 0, b(1, 1) = std::ldexp(1.9, 40);
    const RealProduct product{InputView(a), InputView(b), OutputView(MatrixView<double>(c.data(), 2, 2, 2, 1))};
    const ProductCount products;
    Choices choices;
    choices.native = false;
    choices.costs = &products;
    const auto [decision, certificate] = multiply(product, Target::normwise(1e-13), engine(), choices);
    ASSERT_TRUE(decision.plan && decision.plan->by_residues());
    EXPECT_TRUE(certificate.holds);
    EXPECT_LE(decision.ratio, 1);
    if (meeting == 0)
      EXPECT_EQ(decision.ratio, certificate.ratio);
    else
      EXPECT_GT(decision.ratio, certificate.ratio);
  }
}

/// A decision also holds for other operands of the same kind: it does not spend the last spare bits of its moduli, or some of
/// these products would be refused.
TEST(DecideResidues, HoldsOtherOperandsOfTheKind) {
  for (const char* const target : {"dgemm", "componentwise:1e-9", "componentwise:1e-12"})
    for (const Index k : {64, 512, 1024})
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const auto decision =
            decide(test::product_of({Family::uniform, 8, 8, k, 0, seed}).stated(), parse_target(target), engine());
        ASSERT_TRUE(decision.plan && decision.plan->by_residues());
        for (std::uint64_t other = 11; other <= 14; ++other)
          EXPECT_NO_THROW((void)test::compute_with(test::product_of({Family::uniform, 8, 8, k, 0, other}), decision, engine()))
              << target << " k " << k;
      }
}

/// Integers that residues hold exactly have no error, whatever the bits. If only one operand is exact, all spare bits go to the
/// other.
TEST(DecideResidues, ExactOperandsTakeTheirOwnBits) {
  test::RandomBits random(3);
  auto product = test::product_of({Family::uniform, 9, 8, 300, 0, 4});
  product.problem.a = few_bits(9, 300, 3, random);
  const auto target = Target::componentwise(1e-12);
  auto plan = plan_of(*residues_of(decide(product.stated(), target, engine())));
  EXPECT_EQ(plan.bits_a, 3);
  EXPECT_GT(plan.bits_b, 35);
  product.problem.b = few_bits(300, 8, 2, random);
  const auto decision = decide(product.stated(), target, engine());
  plan = plan_of(*residues_of(decision));
  EXPECT_EQ(plan, (ResiduePlan{2, 3, 2}));
  const auto computed = test::compute_with(product, {target, Method::one_plan, plan, 9, 8, 300, 0, 0, {}, {}}, engine());
  EXPECT_TRUE(test::keeps_its_target(product, computed));
  EXPECT_EQ(computed.certificate.bound.product.upper(4, 4), 0);
}

/// Costs under which plans by residues are never chosen.
class NoResidues final : public CostModel {
 public:
  [[nodiscard]] CostOrigin origin() const override { return {}; }
  [[nodiscard]] double planned(const Plan& plan, Index m, Index n, Index k) const override {
    return plan.visit([&](const SplitPlan& slices) { return products_.planned(slices, m, n, k); },
                      [](const ResiduePlan&) { return std::numeric_limits<double>::infinity(); });
  }
  [[nodiscard]] double native(Index m, Index n, Index k) const override { return products_.native(m, n, k); }
  [[nodiscard]] double exact(Index m, Index n, Index k) const override { return products_.exact(m, n, k); }

 private:
  ProductCount products_;
};

TEST(DecideResidues, AreLeftOutWhereTheyHaveNoPriceOrAreNotWanted) {
  const auto product = test::product_of({Family::wide_exponents, 6, 6, 200, 0.5, 7});
  const NoResidues unsold;
  for (const auto* text : {"dgemm", "cr", "relative:1e-9", "normwise:1e-12"}) {
    const auto target = parse_target(text);
    ASSERT_TRUE(residues_of(decide(product.stated(), target, engine()))) << text;
    const auto by_slices = to_json(decide(product.stated(), target, engine(), {.residues = false}));
    EXPECT_EQ(to_json(decide(product.stated(), target, engine(), {.costs = &unsold})), by_slices) << text;
  }
}

/// Products that 20 moduli do not hold, and products that need few slice products, are decided by slices.
TEST(DecideResidues, SlicesTakeWhatTheyDoBetter) {
  const auto wide = test::product_of({Family::wide_exponents, 6, 6, 60, 12, 7});
  const auto decision = decide(wide.stated(), Target::dgemm(), engine());
  EXPECT_FALSE(residues_of(decision));
  EXPECT_TRUE(test::keeps_its_target(wide, test::compute_with(wide, decision, engine())));
  const auto plain = test::product_of({Family::uniform, 6, 6, 60, 0, 7});
  for (const auto& target : {Target::componentwise(0.1), Target::normwise(0.1)}) {
    const auto coarse = decide(plain.stated(), target, engine());
    ASSERT_TRUE(residues_of(coarse)) << to_string(target);
    EXPECT_NO_THROW((void)coarse.plan->split()) << to_string(target);
  }
}

/// Plan and bits depend only on the operands, not on the kernel or the threads.
TEST(DecideResidues, AreTheSameOnEveryKernel) {
  const auto product = test::product_of({Family::wide_exponents, 17, 13, 300, 1, 7});
  for (const auto* text : {"dgemm", "componentwise:1e-6", "cr", "relative:1e-12"}) {
    const auto target = parse_target(text);
    const auto expected = decide(product.stated(), target, engine());
    const auto bits = test::compute_with(product, expected, engine()).c.bits();
    for (const auto* kernel : kernels())
      for (const int threads : {1, 3}) {
        const CpuEngine other({.threads = threads, .kernel = kernel});
        const auto decision = decide(product.stated(), target, other);
        EXPECT_EQ(to_json(decision), to_json(expected)) << kernel->name;
        EXPECT_EQ(test::compute_with(product, decision, other).c.bits(), bits) << kernel->name;
      }
  }
}

/// Most decisions also hold, and keep their target, for operands that are a little larger.
TEST(DecideResidues, LeaveAMarginToTheGuard) {
  int held = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto first = test::product_of({Family::uniform, 8, 8, 100, 0, 2 * seed}),
               second = test::product_of({Family::uniform, 8, 8, 100, 0, 2 * seed + 1});
    const auto plan = residues_of(decide(first.stated(), Target::componentwise(1e-11), engine()))->plan;
    const Decision replayed{Target::componentwise(1e-11), Method::one_plan, plan, 8, 8, 100, 0, 0, {}, {}};
    try {
      held += test::compute_with(second, replayed, engine()).certificate.holds ? 1 : 0;
    } catch (const std::invalid_argument&) {
    }
  }
  EXPECT_GE(held, 50);
}

}  // namespace
}  // namespace ozbound::decide_residues_test
