// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/fingerprint.hpp"
#include "ozbound/core/gemm.hpp"

// A certified product is infinite only where the exact entry rounds to infinity.

namespace ozbound::overflow_test {
namespace {

using test::matrix_of;
using test::product_of;
using test::SampleProduct;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr float largest_float = std::numeric_limits<float>::max();
constexpr double below_tie = 0x1.fffffffffffffp969;  ///< largest + this is less than the midpoint to 2^1024

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

Decision decision_for(const SampleProduct& product, const Target& target, const SplitPlan& plan) {
  return {target, Method::one_plan, plan, product.m(), product.n(), product.k(), 1, 0, {}, {}};
}

/// A certified 1 x 1 product under a plan whose slices round its sum to infinity.
test::Computed finished(const SampleProduct& product, const Target& target = Target::componentwise(1e-3)) {
  return test::compute_with(product, decision_for(product, target, SplitPlan::balanced(2, 2, 4)), engine());
}

/// The entry without certification, as `core` computes it: the rounded sum of the slices.
double unproven(const SampleProduct& product) {
  test::Result c(1, 1, product.narrow);
  multiply_unproven({product.problem.a, product.problem.b, c.output(), product.alpha, product.beta, product.c0},
                    SplitPlan::balanced(2, 2, 4), engine());
  return double_from_bits(c.input().bits(0, 0));
}

SampleProduct row_times_column(const std::vector<double>& row, const std::vector<double>& column) {
  const auto k = static_cast<Index>(row.size());
  return product_of(matrix_of(1, k, row), matrix_of(k, 1, column));
}

SampleProduct with_c0(SampleProduct product, double alpha, double beta, double c0) {
  product.alpha = alpha, product.beta = beta, product.c0 = matrix_of(1, 1, {c0});
  return product;
}

SampleProduct narrow(SampleProduct product) {
  product.narrow = true;
  return product;
}

/// A product that slices round to infinity, with its exact value.
struct Case {
  const char* name;
  SampleProduct product;
  double exact;
};

std::vector<Case> cases() {
  const double half = 0.5 * largest;
  return {{"largest", row_times_column({largest}, {1}), largest},
          {"less than it", row_times_column({largest, -0x1p960}, {1, 1}), largest},
          {"cancelled", row_times_column({largest, largest, -largest}, {1, 1, 1}), largest},
          {"up to the tie", row_times_column({largest, below_tie}, {1, 1}), largest},
          {"tie", row_times_column({largest, 0x1p970}, {1, 1}), inf},
          {"beyond", row_times_column({largest}, {2}), inf},
          {"alpha halves it", with_c0(row_times_column({largest, largest}, {1, 1}), 0.5, 0, 0), largest},
          {"beta C0 pushes it", with_c0(row_times_column({below_tie}, {1}), 1, 1, largest), largest},
          {"beta C0 takes from it", with_c0(row_times_column({largest}, {1}), 1, -1, 0x1p960), largest},
          {"both", with_c0(row_times_column({half}, {1}), 1, 0.5, largest), largest},
          {"largest float", narrow(row_times_column({largest_float}, {1})), largest_float},
          {"tie of floats", narrow(row_times_column({largest_float, 0x1p103}, {1, 1})), inf},
          {"below the tie of floats", narrow(row_times_column({largest_float, 0x1.fffffep102}, {1, 1})), largest_float},
          {"float with C0", narrow(with_c0(row_times_column({0x1.fffffep102}, {1}), 1, 1, largest_float)), largest_float}};
}

TEST(Overflow, OfSlicesIsFinishedExactly) {
  for (auto& [name, product, exact] : cases())
    for (const double sign : {1.0, -1.0}) {
      auto signed_product = product;
      signed_product.alpha *= sign, signed_product.beta *= sign;
      EXPECT_EQ(unproven(signed_product), sign * inf) << name << ": slices do not overflow, which tests nothing";
      for (const auto* target : {"componentwise:1e-3", "rowcol:1e-3", "normwise:1e-3", "componentwise:1e-30", "cr"}) {
        const auto computed = finished(signed_product, parse_target(target));
        EXPECT_EQ(double_from_bits(computed.c.input().bits(0, 0)), sign * exact) << name << ", " << target;
        EXPECT_EQ(computed.certificate.exact, 1) << name << ", " << target;
        EXPECT_EQ(computed.certificate.fingerprints.c, fingerprint(computed.c.input())) << name;
        EXPECT_EQ(computed.certificate.largest_bound,
                  computed.certificate.bound.upper(0, 0, double_from_bits(computed.c.input().bits(0, 0))));
        EXPECT_TRUE(test::tells_the_truth(signed_product, computed)) << name << ", " << target;
      }
    }
}

TEST(Overflow, IsNoneWhereTheTargetIsDecided) {
  for (auto& [name, product, exact] : cases())
    for (const auto* target : {"dgemm", "cr", "relative:1e-4", "rowcol:1e-5", "normwise:1e-4", "componentwise:1e-6"})
      for (const bool replayed : {false, true}) {
        auto decision = test::decide_for(product, parse_target(target), engine());
        if (replayed) decision = parse_decision(to_json(decision).dump());
        const auto computed = test::compute_with(product, decision, engine());
        EXPECT_EQ(double_from_bits(computed.c.input().bits(0, 0)), exact) << name << ", " << target;
        EXPECT_TRUE(test::keeps_its_target(product, computed)) << name << ", " << target;
      }
}

/// The overflow of one entry leaves all other entries unchanged, also beside entries that inputs make special.
TEST(Overflow, TouchesNoOtherEntry) {
  auto product = product_of({Family::uniform, 70, 130, 5, 0, 3});
  product.beta = 1, product.c0 = Matrix<double>(70, 130);
  for (Index l = 0; l < 5; ++l) {
    product.problem.a(3, l) = l == 0 ? -largest : 0, product.problem.b(l, 128) = l == 0 ? 1 : 0;
    product.problem.a(40, l) = nan;
  }
  product.c0(5, 7) = -inf, product.c0(40, 128) = largest;
  const auto plan = SplitPlan::balanced(2, 2, 4);
  Matrix<double> plain(70, 130);
  multiply_unproven({product.problem.a, product.problem.b, plain, 1, 1, product.c0}, plan, engine());
  EXPECT_EQ(plain(3, 128), -inf);
  plain(3, 128) = -largest;
  for (const int threads : {1, 3}) {
    const CpuEngine several({.threads = threads});
    const auto computed = test::compute_with(product, decision_for(product, Target::componentwise(1e-3), plan), several);
    EXPECT_EQ(computed.certificate.exact, 1);
    EXPECT_TRUE(test::tells_the_truth(product, computed));
    for (Index i = 0; i < 70; ++i)
      for (Index j = 0; j < 130; ++j) ASSERT_EQ(computed.c.input().bits(i, j), bits_of(plain(i, j))) << i << ' ' << j;
  }
}

TEST(Overflow, IsFinishedOfPreparedOperandsToo) {
  const auto product = row_times_column({largest, -0x1p960}, {1, 1});
  const auto decision = decision_for(product, Target::componentwise(1e-3), SplitPlan::balanced(2, 2, 4));
  const PreparedOperand a(product.problem.a, Side::rows_of_a, decision, engine());
  const PreparedOperand b(product.problem.b, Side::columns_of_b, decision, engine());
  const auto computed = test::compute_with(product, decision, engine(), {.prepared_a = &a, .prepared_b = &b});
  EXPECT_EQ(double_from_bits(computed.c.input().bits(0, 0)), largest);
  EXPECT_EQ(computed.certificate.exact, 1);
}

/// An entry finished exactly reads C0 again, even if C0 is C.
TEST(Overflow, IsFinishedInPlace) {
  auto c = matrix_of(1, 1, {largest});
  const Matrix<double> a = matrix_of(1, 1, {below_tie}), b = matrix_of(1, 1, {1});
  const Decision decision{Target::componentwise(1e-3), Method::one_plan, SplitPlan::balanced(2, 2, 4), 1, 1, 1, 1, 0, {}, {}};
  const auto certificate = multiply(RealProduct{a, b, c, 1, 1, c}, decision, engine());
  EXPECT_EQ(c(0, 0), largest);
  EXPECT_EQ(certificate.exact, 1);
}

/// No entry that is finite becomes infinite: elements near the ends of the range, plans so coarse that sums are rounded up,
/// either format.
TEST(Overflow, NeverOfAnEntryThatIsFinite) {
  test::RandomBits random(11);
  Index infinite = 0, rescued = 0;
  for (int t = 0; t < 300; ++t) {
    const bool is_narrow = random.once_in(2);
    const Index m = random.between(1, 3), n = random.between(1, 3), k = random.between(1, 4);
    SampleProduct product = product_of(Matrix<double>(m, k), Matrix<double>(k, n));
    product.narrow = is_narrow, product.c0 = Matrix<double>(m, n);
    const int top = is_narrow ? 127 : 1023;
    const auto element = [&](int exponent) {
      const double x = std::ldexp(random.once_in(2) ? 0x1.fffffffffffffp0 : 0x1.fffffep0, exponent);
      return random.once_in(3) ? -x : x;
    };
    const int share = random.between(0, top);
    for (Index l = 0; l < k; ++l) {
      for (Index i = 0; i < m; ++i) product.problem.a(i, l) = element(share - (l == 0 ? 0 : random.between(0, 60)));
      for (Index j = 0; j < n; ++j) product.problem.b(l, j) = std::ldexp(random.once_in(2) ? 1 : -1, top - share);
    }
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) product.c0(i, j) = element(top - random.between(0, 60));
    product.alpha = random.once_in(2) ? -1 : 0.75, product.beta = random.once_in(2) ? 0 : 0.5;
    const int slices_a = random.between(1, 3), slices_b = random.between(1, 3);
    const auto plan = SplitPlan::balanced(slices_a, slices_b, std::max(slices_a, slices_b) + 1);
    const auto computed = test::compute_with(product, decision_for(product, Target::componentwise(0.25), plan), engine());
    ASSERT_TRUE(test::tells_the_truth(product, computed)) << t;
    for (const auto bits : computed.c.bits()) infinite += std::isinf(double_from_bits(bits)) ? 1 : 0;
    rescued += computed.certificate.exact;
  }
  EXPECT_GT(infinite, 20);
  EXPECT_GT(rescued, infinite + 20);
}

/// A conventional sum of finite numbers whose partial sums overflow to an infinity or to a NaN.
class Loop final : public NativeGemm {
 public:
  [[nodiscard]] std::string name() const override { return "a loop"; }
  void dgemm(const RealProduct& product) const override {
    double sum = 0;
    for (Index l = 0; l < product.k(); ++l)
      sum += double_from_bits(product.a.bits(0, l)) * double_from_bits(product.b.bits(l, 0));
    product.c.set_bits(0, 0, bits_of(product.alpha * sum));
  }
};

TEST(Overflow, OfPartialSumsIsNeverProvenOfNativeDgemm) {
  const Loop native;
  struct Lost {
    std::vector<double> row;
    double by, c;  ///< 0: nothing is lost yet
  };
  for (const auto& [row, by, lost] :
       {Lost{{largest, largest, -largest}, 1, inf}, {{largest, -largest, 1}, 2, nan}, {{0x1p1019, 0x1p1019}, 2, 0}}) {
    const auto product = row_times_column(row, std::vector<double>(row.size(), by));
    EXPECT_THROW(decide(product.stated(), Target::componentwise(0.5), {engine(), &native}, {.slices = false}), CannotCertify);
    const Decision decision{Target::componentwise(0.5), Method::native, {}, 1, 1, product.k(), 1, 0, {}, {}};
    const auto computed = test::compute_with(product, decision, {engine(), &native});
    EXPECT_FALSE(computed.certificate.holds);
    const double c = double_from_bits(computed.c.bits()[0]);
    EXPECT_TRUE(lost == 0 ? std::isfinite(c) : std::isnan(lost) ? std::isnan(c) : c == lost) << c;
  }
}

// Complex products.

using Number = std::complex<double>;

struct ComplexCase {
  const char* name;
  Number a, b, alpha, beta, c0, exact;
};

TEST(Overflow, OfEitherComponentIsFinishedWithBoth) {
  const ComplexCase all[] = {
      {"real alpha", {largest, 0x1p1020}, 1, 1, 0, 0, {largest, 0x1p1020}},
      {"turned", {largest, 0x1p1020}, 1, {0, 1}, 0, 0, {-0x1p1020, largest}},
      {"turned back", {0x1p1020, largest}, 1, {0, -1}, 0, 0, {largest, -0x1p1020}},
      {"with C0", {0, below_tie}, 1, {0, -1}, {0, 1}, {3, -largest}, {largest, 3}},
      {"beyond", {largest, 0x1p1020}, 2, {0, 1}, 0, 0, {-0x1p1021, inf}},
  };
  for (const auto& one : all)
    for (const std::string target : {"componentwise:0.1", "normwise:0.1", "cr"}) {
      Matrix<Number> a(1, 1), b(1, 1), c(1, 1), c0(1, 1), plain(1, 1);
      a(0, 0) = one.a, b(0, 0) = one.b, c0(0, 0) = one.c0;
      const auto plan = SplitPlan::balanced(2, 2, 4);
      multiply_unproven(ComplexProduct{a, b, plain, one.alpha, one.beta, c0}, plan, engine());
      EXPECT_TRUE(std::isinf(plain(0, 0).real()) || std::isinf(plain(0, 0).imag())) << one.name;
      const Decision decision{parse_target(target), Method::one_plan, plan, 1, 1, 1, 1, 0, {}, {}, {}, {}, true};
      const auto certificate = multiply(ComplexProduct{a, b, c, one.alpha, one.beta, c0}, decision, engine());
      EXPECT_EQ(c(0, 0), one.exact) << one.name << ", " << target;
      EXPECT_EQ(certificate.exact, one.alpha.imag() == 0 ? 1 : 2) << one.name;
      EXPECT_EQ(certificate.holds, target != "cr") << one.name;
      EXPECT_GE(certificate.largest_bound, certificate.bound.upper(0, 0, Part::real, c(0, 0).real()));
      EXPECT_GE(certificate.largest_bound, certificate.bound.upper(0, 0, Part::imaginary, c(0, 0).imag()));
    }
}

TEST(Overflow, OfComplexFloatsIsFinished) {
  Matrix<std::complex<float>> a(1, 1), b(1, 1), c(1, 1);
  a(0, 0) = {0x1p124F, largest_float}, b(0, 0) = 1;
  const Decision decision{
      Target::componentwise(0.1), Method::one_plan, SplitPlan::balanced(2, 2, 4), 1, 1, 1, 1, 0, {}, {}, {}, {}, true};
  const auto certificate = multiply(ComplexProduct{a, b, c, {0, 1}}, decision, engine());
  EXPECT_EQ(c(0, 0), std::complex<float>(-largest_float, 0x1p124F));
  EXPECT_EQ(certificate.exact, 2);
  EXPECT_TRUE(certificate.holds);
}

}  // namespace
}  // namespace ozbound::overflow_test
