// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "support/conventional_gemm.hpp"

namespace ozbound::native_bound_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double eta = 0x1p-1074;

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

using Conventional = test::ConventionalGemm;
using Order = test::SummationOrder;
using test::all_orders;

Decision decide_native(const test::SampleProduct& product, const Target& target, const NativeGemm& native) {
  return decide(product.stated(), target, {engine(), &native}, {.slices = false});
}

Decision decide_any(const test::SampleProduct& product, const Target& target, const NativeGemm& native) {
  return decide_by(product.encoding, product.stated(), target, {engine(), &native});
}

/// A decision for native DGEMM that is replayed whatever the operands.
Decision replayed(const test::SampleProduct& product, const Target& target) {
  return {target, Method::native, {}, product.m(), product.n(), product.k(), 28, 0.5, "replayed", {}};
}

/// The message that refuses native DGEMM; empty if it is accepted.
std::string refusal(const test::SampleProduct& product, const Target& target) {
  try {
    (void)decide_native(product, target, Conventional());
    return "";
  } catch (const CannotCertify& e) {
    return e.what();
  }
}

TEST(NativeGemm, EveryOrderOfSummationIsWithinTheBound) {
  test::RandomBits random(1);
  int holds = 0;
  for (const auto family : all_families())
    for (const double phi : {0.0, 1.0, 3.0})
      for (int t = 0; t < 8; ++t) {
        auto product = test::sample_product(test::sample_recipe(family, phi, 8, random), random);
        product.narrow = false;
        static const char* const targets[] = {"dgemm",        "componentwise:1e-12", "normwise:1e-12",
                                              "rowcol:1e-12", "relative:1e-10",      "cr"};
        const Conventional native(random.pick(all_orders));
        const auto computed =
            test::compute_with(product, replayed(product, parse_target(random.pick(targets))), {engine(), &native});
        ASSERT_TRUE(test::tells_the_truth(product, computed));
        holds += computed.certificate.holds ? 1 : 0;
        EXPECT_EQ(computed.certificate.native, "conventional");
      }
  EXPECT_GT(holds, 50);
}

/// The elements of this product, their products or the sums leave the range of normal numbers, or nearly do. Some are zeros or
/// specials.
test::SampleProduct extreme_product(test::RandomBits& random) {
  constexpr int scales[] = {0, -1060, -540, -500, -480, 480, 510, 1020};
  constexpr Family families[] = {Family::uniform, Family::wide_exponents, Family::powers_of_two};
  auto product = test::sample_product(test::sample_recipe(random.pick(families), 1, 6, random), random);
  product.narrow = false;
  for (auto* const x : {&product.problem.a, &product.problem.b}) {
    const int scale = random.pick(scales);
    for (Index t = 0; t < x->rows() * x->cols(); ++t) {
      const auto draw = random.below(40);
      x->data()[t] = draw == 0 ? nan : draw == 1 ? -inf : draw < 6 ? 0 : std::ldexp(x->data()[t], scale);
    }
  }
  return product;
}

TEST(NativeGemm, RangesOfTheLooksContainThoseOfTheElements) {
  test::RandomBits random(3);
  int wider = 0;
  for (int t = 0; t < 2000; ++t) {
    const auto product = extreme_product(random);
    const Backend backend(engine(), nullptr);
    const auto stated = product.stated();
    const auto examination = backend.examiner().examine(stated);
    ASSERT_FALSE(examination->outer_ranges());  // which would take a pass of its own
    static_cast<void>(examination->residue_facts());
    const auto outer = examination->outer_ranges();
    ASSERT_TRUE(outer);
    const auto check = [&](const ExponentRange& of_look, const ExponentRange& exact) {
      ASSERT_EQ(of_look.empty(), exact.empty()) << product.describe();
      ASSERT_EQ(of_look.top, exact.top) << product.describe();
      ASSERT_LE(of_look.least, exact.least) << product.describe();
      ASSERT_GE(of_look.least, exact.empty() ? exact.least : exact.least - 52) << product.describe();
      wider += of_look.least < exact.least ? 1 : 0;
    };
    check(outer->a, backend.matrices().exponent_range(stated.a, Side::rows_of_a));
    check(outer->b, backend.matrices().exponent_range(stated.b, Side::columns_of_b));
  }
  EXPECT_GT(wider, 500);
}

/// Decisions that look for residues take their guarantee from the looks, others from a pass of its own.
TEST(NativeGemm, GuaranteesFromTheLooksAreThoseOfThePass) {
  test::RandomBits random(4);
  const Conventional native(Order::forwards);
  const auto of_native = [](const Decision& decision) {
    const auto found = std::ranges::find(decision.candidates, Method::native, &Candidate::method);
    return std::tuple(found->certifies, found->ratio, found->cost);
  };
  int certified = 0, refused = 0;
  for (int t = 0; t < 600; ++t) {
    const auto product = extreme_product(random);
    for (const auto& target : {Target::dgemm(), Target::componentwise(1e-12)}) {
      Choices choices;
      const auto with = of_native(decide(product.stated(), target, {engine(), &native}, choices));
      choices.residues = false;
      ASSERT_EQ(with, of_native(decide(product.stated(), target, {engine(), &native}, choices))) << product.describe();
      (std::get<0>(with) ? certified : refused) += 1;
    }
  }
  EXPECT_GT(certified, 100);
  EXPECT_GT(refused, 100);
}

/// Within the range native DGEMM certifies the target, and only there, where the ranges are those of the elements.
TEST(NativeGemm, TheRangeOfATargetHoldsWhatIsCertified) {
  test::RandomBits random(5);
  const Conventional native(Order::forwards);
  int within = 0, beyond = 0;
  for (int t = 0; t < 600; ++t) {
    auto product = extreme_product(random);
    product.alpha = 1, product.beta = 0;
    const auto stated = product.stated();
    const Backend backend(engine(), &native);
    const ExponentRange a = backend.matrices().exponent_range(stated.a, Side::rows_of_a),
                        b = backend.matrices().exponent_range(stated.b, Side::columns_of_b);
    if (a.empty() || b.empty()) continue;
    for (const auto& target :
         {Target::dgemm(), Target::componentwise(1e-12), Target::dgemm_typical(), Target::normwise(1e-3)}) {
      Choices choices;
      choices.residues = false;
      const auto candidates = decide(stated, target, backend, choices).candidates;
      const bool certified = std::ranges::find(candidates, Method::native, &Candidate::method)->certifies;
      const auto range = native_range(native, product.k(), target);
      const bool inside = range && a.least + b.least >= range->least && a.top + b.top <= range->top;
      ASSERT_EQ(inside, certified) << to_string(target) << ", " << product.describe();
      (inside ? within : beyond) += 1;
    }
  }
  EXPECT_GT(within, 100);
  EXPECT_GT(beyond, 100);
  struct Unknown final : Conventional {
    using Conventional::Conventional;
    [[nodiscard]] bool is_conventional() const override { return false; }
  };
  EXPECT_FALSE(native_range(Unknown(Order::forwards), 8, Target::dgemm()));
}

/// A product that was computed elsewhere has the certificate that it has here.
TEST(NativeGemm, CertifiesWhatWasComputedElsewhere) {
  test::RandomBits random(6);
  const Conventional native(Order::pairwise);
  const Backend backend(engine(), &native);
  int specials = 0;
  for (int t = 0; t < 200; ++t) {
    auto product = extreme_product(random);
    product.alpha = 1, product.beta = 0;
    Matrix<double> c(product.m(), product.n());
    const RealProduct call{product.problem.a, product.problem.b, c};
    const auto examination = backend.examiner().examine(call);
    static_cast<void>(examination->residue_facts());
    const auto ranges = *examination->outer_ranges();
    const auto range = native_range(native, call.k(), Target::dgemm());
    if (ranges.a.empty() || ranges.b.empty() || ranges.a.least + ranges.b.least < range->least ||
        ranges.a.top + ranges.b.top > range->top)
      continue;
    const auto expected = multiply(call, replayed(product, Target::dgemm()), backend);
    StreamRecord record;
    record.native = true, record.operands = examination->record(), record.ranges = ranges;
    record.of_c.fingerprint = expected.fingerprints.c;
    const auto found = multiplied_in_stream(call, Target::dgemm(), backend, record);
    ASSERT_TRUE(found);
    ASSERT_EQ(to_json(found->certificate), to_json(expected)) << product.describe();
    EXPECT_EQ(found->decision.method, Method::native);
    record.of_c.fingerprint += 1;
    ASSERT_FALSE(multiplied_in_stream(call, Target::dgemm(), backend, record));
    specials += std::ranges::any_of(std::span(c.data(), static_cast<std::size_t>(c.rows() * c.cols())),
                                    [](double x) { return std::isnan(x); });
  }
  EXPECT_GT(specials, 5);
}

/// One large product and k - 1 small ones, each lost in the sum: the error is (k - 1) u beside a bound of k u.
TEST(NativeGemm, TheBoundIsAttained) {
  const Index k = 200;
  auto product = test::product_of(Matrix<double>(1, k), Matrix<double>(k, 1));
  for (Index l = 0; l < k; ++l) product.problem.a(0, l) = l == 0 ? 1 : 0x1p-53, product.problem.b(l, 0) = 1;
  const Conventional native(Order::forwards);
  const auto computed = test::compute_with(product, replayed(product, Target::dgemm()), {engine(), &native});
  ASSERT_TRUE(test::keeps_its_target(product, computed));
  const ExactOracle oracle(product.operands());
  EXPECT_GE(verify(computed.c.view(), oracle, Target::dgemm()).ratio, 0.99);
  EXPECT_GE(verify(computed.c.view(), oracle, computed.certificate.bound.over(computed.c.input())).ratio, 0.98);
}

TEST(NativeGemm, CertifiesItsOwnGuarantee) {
  for (const Index k : {1, 2, 3, 100, 1023}) {
    const auto product = test::product_of({Family::uniform, 3, 3, k, 0, 2});
    EXPECT_EQ(refusal(product, Target::dgemm()), "") << k;
    EXPECT_EQ(refusal(product, Target::componentwise(static_cast<double>(k) * 0x1p-53)), "") << k;
    EXPECT_EQ(refusal(product, Target::rowcol(1e-12)), "");
    EXPECT_EQ(refusal(product, Target::normwise(1e-12)), "");
    if (k > 1) {
      EXPECT_NE(refusal(product, Target::componentwise(static_cast<double>(k) * 0x1p-53 * (1 - 0x1p-40))), "") << k;
    }
  }
}

TEST(NativeGemm, IsNotCertifiedForWhatItCannotPromise) {
  const auto product = test::product_of({Family::uniform, 3, 3, 10, 0, 2});
  EXPECT_NE(refusal(product, Target::correctly_rounded()), "");
  EXPECT_NE(refusal(product, Target::relative(1e-3)), "");
  EXPECT_EQ(refusal(product, Target::componentwise(1e-15)),
            "native DGEMM does not certify componentwise:1e-15: it may be wrong by 1.1102230246251565e-15 |A||B|, and the "
            "target allows 1e-15");
  const auto relative = refusal(product, Target::relative(1e-3));
  EXPECT_NE(relative.find("it guarantees nothing relative to |C|"), std::string::npos) << relative;
}

TEST(NativeGemm, CertifiesProductsWithScalarsWithinGamma) {
  const Index k = 10;
  const double gamma = 13 * 0x1p-53 / (1 - 13 * 0x1p-53);  // gamma of k + 3
  auto scaled = test::product_of({Family::uniform, 3, 3, k, 0, 2});
  const auto expect = [&](const char* what) {
    EXPECT_EQ(refusal(scaled, Target::dgemm()), "") << what;
    EXPECT_EQ(refusal(scaled, Target::componentwise(14 * 0x1p-53)), "") << what;
    EXPECT_NE(refusal(scaled, Target::componentwise(gamma * (1 - 0x1p-40))), "") << what;
  };
  scaled.alpha = 2;
  expect("alpha 2");
  scaled.alpha = 0.1;
  expect("alpha 0.1");
  scaled.alpha = -1, scaled.beta = 1, scaled.c0 = test::matrix_of(3, 3, {1, 0, -2, 0.1, 3, 0.7, 1, 1, 0x1p-60});
  expect("C0 - AB");
  scaled.beta = 0.3;
  expect("0.3 C0 - AB");
  const auto text = refusal(scaled, Target::componentwise(1e-15));
  EXPECT_NE(text.find("wrong by 1.443"), std::string::npos) << text;
  EXPECT_NE(text.find("(|alpha||A||B| + |beta||C0|), and the target allows 1e-15"), std::string::npos) << text;
}

/// Scaling may underflow below a certain exponent: one product, whose sum is a multiple of 2^-104 that may be as small as
/// 2^-104 (G7d), and C0 = 1, a multiple of 2^-52.
TEST(NativeGemm, ScalingMayUnderflowFromAnExponentOn) {
  const auto certifies = [](double alpha, double beta) {
    auto product = test::product_of(test::matrix_of(1, 2, {1, 1}), test::matrix_of(2, 1, {1, -1}));
    product.alpha = alpha, product.beta = beta;
    if (beta != 0) product.c0 = test::matrix_of(1, 1, {1});
    const auto text = refusal(product, Target::componentwise(1e-10));
    EXPECT_TRUE(text.empty() || text.find("underflow may cost") != std::string::npos) << text;
    return text.empty();
  };
  EXPECT_TRUE(certifies(0x1.8p-918, 0)) << "normal: 2^-918 2^-104 = 2^-1022";
  EXPECT_FALSE(certifies(0x1.8p-971, 0)) << "its last bit is 2^-972";
  EXPECT_TRUE(certifies(0x1.8p-969, 0)) << "exact: a multiple of 2^-970 2^-104 = 2^-1074";
  EXPECT_TRUE(certifies(0x1p-970, 0));
  EXPECT_FALSE(certifies(0x1p-971, 0));
  EXPECT_TRUE(certifies(0x1.fffffffffffffp-918, 0));
  EXPECT_FALSE(certifies(0x1.fffffffffffffp-919, 0));
  EXPECT_TRUE(certifies(1, 0x1.fffffffffffffp-1022)) << "beta C0 is normal";
  EXPECT_FALSE(certifies(1, 0x1.ffffffffffffep-1023));
  EXPECT_TRUE(certifies(1, 0x1p-1022)) << "a multiple of 2^-1022 2^-52";
  EXPECT_FALSE(certifies(1, 0x1p-1023));
}

/// A number whose exponent is near the given one and whose last bits are random.
double near_exponent(int exponent, test::RandomBits& random) {
  const double significand = random.once_in(3) ? 1 : double_from_bits(bits_of(1.0) | random() >> 12);
  return std::ldexp(random.once_in(2) ? significand : -significand, exponent + static_cast<int>(random.between(-3, 3)));
}

/// If the guarantee says that nothing underflows, no exact result contradicts it: for scalings into and out of the subnormal
/// range.
TEST(NativeGemm, WhatCannotUnderflowDoesNot) {
  test::RandomBits random(11);
  int safe = 0, unsafe = 0, subnormal = 0;
  for (int t = 0; t < 4000; ++t) {
    const bool cancels = random.once_in(2);
    const Index k = cancels ? 2 : random.between(1, 6);
    auto product = test::product_of(Matrix<double>(2, k), Matrix<double>(k, 2));
    static constexpr int bases[] = {0, -460, -487, -500, -511, 300};
    const int a = random.pick(bases), b = random.pick(bases);
    for (Index l = 0; l < 2 * k; ++l) {
      product.problem.a.data()[l] = near_exponent(a, random);
      product.problem.b.data()[l] = near_exponent(b, random);
    }
    // Then alpha times a sum, or times its least multiple, lies near 2^-1022 or 2^-1074.
    const int to = static_cast<int>(random.between(-1080, -1015)) + (random.once_in(2) ? 104 : 0);
    product.alpha = near_exponent(std::clamp(to - a - b, -1070, 1000), random);
    if (cancels) {
      product.problem.a(0, 1) = -product.problem.a(0, 0);
      product.problem.b(1, 0) = std::nextafter(product.problem.b(0, 0), 0);
      product.alpha = std::ldexp(1.0, std::clamp(-970 - a - b, -1070, 1000) + random.between(-8, 8));
    }
    if (random.once_in(3)) {
      product.beta = near_exponent(random.once_in(2) ? -600 : -537, random);
      product.c0 = Matrix<double>(2, 2);
      for (Index l = 0; l < 4; ++l) product.c0.data()[l] = near_exponent(random.once_in(2) ? -420 : -537, random);
    }
    const Conventional native(random.pick(all_orders));
    const auto computed = test::compute_with(product, replayed(product, Target::componentwise(1e-10)), {engine(), &native});
    ASSERT_TRUE(test::tells_the_truth(product, computed)) << t;
    const bool may = computed.certificate.bound.underflow > 0;
    (may ? unsafe : safe) += 1;
    if (!may && std::fabs(computed.c.view()(0, 0)) < 0x1p-1022) ++subnormal;
  }
  EXPECT_GT(safe, 400);
  EXPECT_GT(unsafe, 400);
  EXPECT_GT(subnormal, 50) << "results that are subnormal and exact";
}

TEST(NativeGemm, SaysWhatStandsInTheWay) {
  auto overflow = test::product_of(test::matrix_of(1, 2, {0x1p600, 0x1p600}), test::matrix_of(2, 1, {0x1p500, -0x1p500}));
  EXPECT_NE(refusal(overflow, Target::dgemm()).find("overflow"), std::string::npos) << refusal(overflow, Target::dgemm());
  auto accumulator = test::product_of(test::matrix_of(1, 1, {1}), test::matrix_of(1, 1, {1}));
  accumulator.beta = 2, accumulator.c0 = test::matrix_of(1, 1, {0x1p1023});
  EXPECT_NE(refusal(accumulator, Target::componentwise(1e-10)).find("overflow"), std::string::npos);
  auto scaled = test::product_of(test::matrix_of(1, 1, {0x1p500}), test::matrix_of(1, 1, {0x1p500}));
  scaled.alpha = 0x1p100;
  EXPECT_NE(refusal(scaled, Target::componentwise(1e-10)).find("overflow"), std::string::npos);
  auto narrow = test::product_of({Family::uniform, 2, 2, 2, 0, 2});
  narrow.narrow = true;
  EXPECT_NE(refusal(narrow, Target::dgemm()).find("matrices of one format"), std::string::npos);
  const Matrix<float> floats(2, 2);
  const Conventional native;
  EXPECT_NE(decide({floats, floats}, Target::dgemm(), {engine(), &native}).method, Method::native);
  EXPECT_EQ(native.calls, 0) << "deciding multiplies nothing";
}

TEST(NativeGemm, UnderflowCountsAgainstTheTargetsThatAllowNone) {
  // 2^-540 squared is below the normal range: a product may lose half of eta.
  auto product = test::product_of(test::matrix_of(1, 2, {0x1p-540, 1}), test::matrix_of(2, 1, {0x1p-540, 1}));
  EXPECT_NE(refusal(product, Target::componentwise(1e-10)), "");
  EXPECT_EQ(refusal(product, Target::dgemm()), "") << "k eta/2 are allowed";
  product.problem.a(0, 0) = 0x1p-482;
  EXPECT_EQ(refusal(product, Target::componentwise(1e-10)), "");
  product.problem.a(0, 0) = 0x1p-483;
  EXPECT_NE(refusal(product, Target::componentwise(1e-10)), "");
}

/// A factor near 2^-537, 2^-511 or 1. Products of these are ties of eta, the largest subnormal numbers, or the large terms that
/// absorb them.
double factor_of_subnormals(test::RandomBits& random) {
  static constexpr double ordinary[] = {0x1p-537,
                                        0x1.8p-537,
                                        0x1.6a09ep-537,
                                        0x1.0000000000001p-537,
                                        0x1.8p-536,
                                        0x1p-511,
                                        0x1.fffffffffffffp-512,
                                        0x1.8p-511,
                                        0x1.0000001p-511,
                                        0x1p-538,
                                        0x1p-1074,
                                        0x1.fffffffffffffp-510,
                                        0x1p-484,
                                        0x1p-563,
                                        1};
  return random.once_in(2) ? random.pick(ordinary) : -random.pick(ordinary);
}

/// Sums of products that underflow err by at most k u |A||B| + k eta/2 in any rounding order (general_bound.md, G7b), judged
/// exactly against the target.
TEST(NativeGemm, ProductsThatUnderflowCostHalfAnEtaEach) {
  test::RandomBits random(8);
  for (int t = 0; t < 3000; ++t) {
    const Index k = random.between(1, t % 10 == 0 ? 200 : 8);
    auto product = test::product_of(Matrix<double>(2, k), Matrix<double>(k, 2));
    for (Index l = 0; l < 2 * k; ++l) {
      product.problem.a.data()[l] = factor_of_subnormals(random);
      product.problem.b.data()[l] = t % 3 == 0 ? 0x1p-537 : factor_of_subnormals(random);
    }
    const Conventional native(random.pick(all_orders));
    const auto computed = test::compute_with(product, replayed(product, Target::dgemm()), {engine(), &native});
    ASSERT_TRUE(test::keeps_its_target(product, computed)) << t;
  }
}

TEST(NativeGemm, AllProductsMayLoseHalfAnEta) {
  const Index k = 100;
  auto product = test::product_of(Matrix<double>(1, k), Matrix<double>(k, 1));
  for (Index l = 0; l < k; ++l) product.problem.a(0, l) = 0x1p-537, product.problem.b(l, 0) = 0x1p-538;
  for (const auto order : all_orders) {
    const Conventional native(order);
    const auto computed = test::compute_with(product, replayed(product, Target::dgemm()), {engine(), &native});
    EXPECT_TRUE(test::keeps_its_target(product, computed));
    EXPECT_EQ(computed.c.bits(), std::vector<std::uint64_t>{0}) << "100 ties went to zero";
  }
}

/// Normal products whose sum an FMA rounds to a subnormal number keep the bound: the error is large beside the sum but not
/// beside the products.
TEST(NativeGemm, AnFmaThatCancelsKeepsTheBoundWithoutUnderflow) {
  auto product = test::product_of(test::matrix_of(1, 2, {0x1.8p-511, -0x1.8000000000001p-511}),
                                  test::matrix_of(2, 1, {0x1.8000000000002p-511, 0x1.8000000000001p-511}));
  const Conventional native(Order::fused);
  const auto target = Target::componentwise(2 * 0x1p-53);
  EXPECT_EQ(refusal(product, target), "") << "no product is subnormal";
  const auto computed = test::compute_with(product, replayed(product, target), {engine(), &native});
  EXPECT_TRUE(test::keeps_its_target(product, computed));
  EXPECT_EQ(computed.certificate.bound.underflow, 0);
  EXPECT_LT(std::fabs(computed.c.view()(0, 0)), 0x1p-1022) << "the FMA's result is subnormal";
}

/// Beyond k^2 = 2^52 native DGEMM is refused if products may underflow: the factor 1 + (k - 1) u on underflow would show.
TEST(NativeGemm, UnderflowOfLongSumsIsNotGranted) {
  const auto small = test::matrix_of(1, 1, {0x1p-537}), one = test::matrix_of(1, 1, {1});
  const Conventional native;
  const auto certifies = [&](const Matrix<double>& element, Index k) {
    const MatrixView<const double> row(element.data(), 1, k, 0, 0), column(element.data(), k, 1, 0, 0);
    try {
      return decide({row, column}, Target::dgemm(), {engine(), &native}, {.slices = false}).method == Method::native;
    } catch (const CannotCertify&) {
      return false;
    }
  };
  const Index longest = Index{1} << 26;
  EXPECT_TRUE(certifies(small, longest));
  EXPECT_FALSE(certifies(small, longest + 1));
  EXPECT_TRUE(certifies(one, longest + 1)) << "nothing underflows";
}

TEST(NativeGemm, IsChosenWhereItIsCheaper) {
  const Conventional native;
  const auto wide = test::product_of({Family::wide_exponents, 8, 8, 64, 4, 3});
  const auto chosen = decide_any(wide, Target::dgemm(), native);
  EXPECT_EQ(chosen.method, Method::native);
  EXPECT_EQ(chosen.cost, engine().costs().native(8, 8, 64));
  EXPECT_NE(chosen.reason.find("native"), std::string::npos);
  const auto computed = test::compute_with(wide, chosen, {engine(), &native});
  EXPECT_TRUE(test::keeps_its_target(wide, computed));
  EXPECT_EQ(computed.certificate.native, "conventional");
  const auto& assumptions = computed.certificate.bound.assumptions;
  ASSERT_EQ(assumptions.size(), 4u);
  const std::vector<std::vector<std::string>> named{{"conventionally", "some order", "FMA"},
                                                    {"rounds to nearest", "underflow is gradual"},
                                                    {"multiplies sums by alpha, or elements of one operand"},
                                                    {"Strassen", "emulation"}};
  for (std::size_t t = 0; t < named.size(); ++t)
    for (const auto& text : named[t]) EXPECT_NE(assumptions[t].find(text), std::string::npos) << assumptions[t];
  const auto narrow_range = test::product_of({Family::uniform, 8, 8, 1024, 0, 3});
  EXPECT_EQ(decide_any(narrow_range, Target::dgemm(), native).method, Method::one_plan);
  auto scaled = wide;
  scaled.alpha = 3;
  EXPECT_EQ(decide_any(scaled, Target::dgemm(), native).method, Method::native);
  scaled.alpha = 1, scaled.beta = 1, scaled.c0 = Matrix<double>(8, 8);
  EXPECT_EQ(decide_any(scaled, Target::dgemm(), native).method, Method::native) << "C += AB";
  EXPECT_NE(decide_any(wide, Target::correctly_rounded(), native).method, Method::native);
}

TEST(NativeGemm, ABetterPlanIsNotGivenUpForIt) {
  // If native DGEMM certifies nothing, the decision is the one made without it.
  const Conventional native;
  for (const double phi : {0.0, 2.0, 4.0}) {
    const auto product = test::product_of({Family::wide_exponents, 6, 6, 30, phi, 4});
    for (const auto& target : {Target::correctly_rounded(), Target::componentwise(1e-15), Target::relative(1e-10)}) {
      const auto with = decide_any(product, target, native);
      const auto without = test::decide_for(product, target, engine());
      EXPECT_EQ(with.method, without.method);
      EXPECT_EQ(with.plan, without.plan);
    }
  }
}

TEST(NativeGemm, ItsWorstCaseIsNotItsTypicalError) {
  const Conventional native;
  for (const Index k : {1, 2, 10}) {
    const auto product = test::product_of({Family::uniform, 3, 3, k, 0, 4});
    const auto decision = decide_any(product, Target::dgemm_typical(), native);
    const auto& candidate = decision.candidates[decision.candidates.size() - 2];
    ASSERT_EQ(candidate.method, Method::native);
    EXPECT_EQ(candidate.certifies, k == 1) << k;
    EXPECT_EQ(candidate.ratio > 1, k > 1) << k;
    const auto certificate =
        test::compute_with(product, replayed(product, Target::dgemm_typical()), {engine(), &native}).certificate;
    EXPECT_EQ(certificate.holds, k == 1) << k;
    try {
      (void)decide(product.stated(), Target::dgemm_typical(), {engine(), &native}, {.slices = false});
      EXPECT_EQ(k, 1);
    } catch (const CannotCertify& error) {
      EXPECT_GT(k, 1);
      EXPECT_STREQ(
          error.what(),
          (k == 2 ? "native DGEMM does not certify dgemm-typical: it may be wrong by 2.220446049250313e-16 |A||B|, and "
                    "the target allows 1.570092458683775e-16"
                  : "native DGEMM does not certify dgemm-typical: it may be wrong by 1.1102230246251565e-15 |A||B|, "
                    "and the target allows 3.5108334685767007e-16"));
    }
  }
}

TEST(NativeGemm, ACandidateThatDoesNotCertifyHasARatioAboveOne) {
  const Conventional native;
  auto product = test::product_of({Family::uniform, 3, 3, 10, 0, 4});
  for (const double alpha : {1.0, 0.5})
    for (const auto& target : {Target::correctly_rounded(), Target::componentwise(1e-15), Target::relative(1e-3),
                               Target::dgemm(), Target::dgemm_typical(), Target::componentwise(1e-3), Target::normwise(1e-3)}) {
      product.alpha = alpha;
      const auto decision = decide_any(product, target, native);
      const auto& candidate = decision.candidates[decision.candidates.size() - 2];
      ASSERT_EQ(candidate.method, Method::native);
      EXPECT_EQ(candidate.certifies, candidate.ratio <= 1) << to_string(target) << ", alpha " << alpha;
      EXPECT_EQ(candidate.certifies,
                target.kind != Target::Kind::relative && (target.kind == Target::Kind::dgemm || target.tau == 1e-3));
    }
}

/// A DGEMM that writes 1 everywhere: entries with special inputs must not keep a 1.
class Ones final : public NativeGemm {
 public:
  [[nodiscard]] std::string name() const override { return "ones"; }
  void dgemm(const RealProduct& product) const override {
    for (Index i = 0; i < product.m(); ++i)
      for (Index j = 0; j < product.n(); ++j) product.c.set_bits(i, j, bits_of(1.0));
  }
};

TEST(NativeGemm, SpecialsAreWrittenAfterIt) {
  auto product = test::product_of(test::matrix_of(3, 1, {1, inf, nan}), test::matrix_of(1, 3, {1, -inf, 0}));
  const Ones ones;
  const auto computed = test::compute_with(product, replayed(product, Target::dgemm()), {engine(), &ones});
  const auto bits = computed.c.bits();
  const std::vector<std::uint64_t> expected{bits_of(1.0), bits_of(-inf), bits_of(1.0), bits_of(inf), bits_of(-inf),
                                            binary64.nan, binary64.nan,  binary64.nan, binary64.nan};
  EXPECT_EQ(bits, expected);
  product.beta = 1, product.c0 = test::matrix_of(3, 3, {nan, 1, inf, 1, inf, 1, 1, 1, 1});
  const auto with_c0 = test::compute_with(product, replayed(product, Target::dgemm()), {engine(), &ones}).c.bits();
  EXPECT_EQ(with_c0[0], binary64.nan);
  EXPECT_EQ(with_c0[2], bits_of(inf));
  EXPECT_EQ(with_c0[4], binary64.nan);
}

TEST(NativeGemm, SpecialRowsDoNotStandInTheWay) {
  // Elements that share a row with a NaN are in no sum that is judged.
  auto product = test::product_of({Family::uniform, 4, 4, 8, 0, 5});
  product.problem.a(1, 0) = nan, product.problem.a(1, 1) = 0x1p1000, product.problem.a(1, 2) = eta;
  product.problem.b(0, 2) = inf, product.problem.b(1, 2) = 0x1p1000, product.problem.b(2, 2) = -eta;
  EXPECT_EQ(refusal(product, Target::dgemm()), "");
  EXPECT_EQ(refusal(product, Target::componentwise(1e-12)), "");
  const Conventional native;
  const auto computed =
      test::compute_with(product, decide_native(product, Target::componentwise(1e-12), native), {engine(), &native});
  EXPECT_TRUE(test::keeps_its_target(product, computed));
}

TEST(NativeGemm, ADecisionForItOnOtherOperandsClaimsNothingFalse) {
  const Conventional native;
  auto overflow = test::product_of(test::matrix_of(1, 2, {0x1p600, 0x1p600}), test::matrix_of(2, 1, {0x1p500, -0x1p500}));
  const auto lost = test::compute_with(overflow, replayed(overflow, Target::dgemm()), {engine(), &native});
  EXPECT_FALSE(lost.certificate.holds);
  EXPECT_NE(to_json(lost.certificate).dump().find("overflow"), std::string::npos);
  EXPECT_EQ(lost.certificate.bound.upper(0, 0, nan), inf) << "no bound holds for what became NaN";
  EXPECT_TRUE(test::tells_the_truth(overflow, lost));
  test::RandomBits random(6);
  for (int t = 0; t < 200; ++t) {
    auto product = test::sample_product(
        test::sample_recipe(random.once_in(2) ? Family::full_range : Family::subnormal, 0, 6, random), random);
    product.narrow = false;
    const Conventional other(random.pick(all_orders));
    const auto computed = test::compute_with(product, replayed(product, Target::componentwise(1e-8)), {engine(), &other});
    ASSERT_TRUE(test::tells_the_truth(product, computed));
  }
}

TEST(NativeGemm, OnlyC0IsLeftOfAnEmptySum) {
  const Conventional native;
  for (const double beta : {0.0, 1.0, -1.0, 0.5, 0x1p-600, 3.0})
    for (const double c0 : {0.0, 1.0, eta, 3 * eta, -0x1p-1022, 0x1p1023})
      for (const Index k : {0, 2}) {
        auto product = test::product_of(Matrix<double>(1, k), Matrix<double>(k, 1));  // k zeros, or none
        product.beta = beta;
        product.c0 = test::matrix_of(1, 1, {c0});
        for (const double alpha : {1.0, 0.0, 0.5}) {
          product.alpha = alpha;
          const auto decision = replayed(product, Target::componentwise(1e-10));
          const auto computed = test::compute_with(product, decision, {engine(), &native});
          ASSERT_TRUE(test::tells_the_truth(product, computed)) << std::hexfloat << beta << " * " << c0;
        }
      }
}

TEST(NativeGemm, NeedsOneAndDoubles) {
  auto product = test::product_of({Family::uniform, 2, 2, 2, 0, 7});
  EXPECT_THROW((void)test::compute_with(product, replayed(product, Target::dgemm()), engine()), std::invalid_argument);
  product.narrow = true;
  const Conventional native;
  EXPECT_THROW((void)test::compute_with(product, replayed(product, Target::dgemm()), {engine(), &native}),
               std::invalid_argument);
  EXPECT_EQ(native.calls, 0);
  product.narrow = false;
  EXPECT_THROW((void)decide(product.stated(), Target::dgemm(), engine(), {.slices = false}), CannotCertify);
}

}  // namespace
}  // namespace ozbound::native_bound_test
