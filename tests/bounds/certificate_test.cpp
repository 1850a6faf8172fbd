// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/products.hpp"

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/core/detail/fingerprint_term.hpp"
#include "ozbound/core/fingerprint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace ozbound::certificate_test {
namespace {

using nlohmann::json;

constexpr double inf = std::numeric_limits<double>::infinity();

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

TEST(Certificate, RecordsWhatRanAndWhatHolds) {
  auto product = test::product_of({Family::wide_exponents, 5, 6, 7, 1, 1});
  product.alpha = -0.5;
  const auto computed = test::compute(product, Target::componentwise(1e-12), engine());
  const auto record = json::parse(to_json(computed.certificate).dump());
  EXPECT_EQ(record.at("schema"), "ozbound-certificate-5");
  EXPECT_EQ(record.at("target"), "componentwise:1e-12");
  EXPECT_EQ(record.at("method"), "slices");
  EXPECT_EQ(record.at("plans"), json::array({to_string(*computed.decision.plan)}));
  EXPECT_EQ(record.at("m"), 5);
  EXPECT_EQ(record.at("n"), 6);
  EXPECT_EQ(record.at("k"), 7);
  EXPECT_EQ(record.at("holds"), true);
  EXPECT_EQ(record.at("ratio"), computed.certificate.ratio);
  EXPECT_EQ(record.at("largest_bound"), computed.certificate.largest_bound);
  EXPECT_EQ(record.at("worst_entry"), json::array({computed.certificate.worst_i, computed.certificate.worst_j}));
  EXPECT_EQ(record.at("bound").at("alpha"), -0.5);
  EXPECT_EQ(record.at("bound").at("result_factor"), 0x1p-53);
  EXPECT_EQ(record.at("bound").at("underflow"), 0x1p-1074);
  EXPECT_FALSE(record.at("bound").at("terms").empty());
  EXPECT_EQ(record.at("assumptions"), json::array()) << "slices rest on integers alone";
}

/// A certificate with this ratio.
Certificate judged(const Target& target, Index k, double ratio) {
  Certificate certificate;
  certificate.target = target, certificate.k = k, certificate.ratio = ratio;
  return certificate;
}

TEST(Certificate, SaysWhatItsBoundIsBesideATypicalDgemm) {
  const auto expect_just_above = [](const Certificate& certificate, double expected) {
    EXPECT_GE(certificate.typical_factor_upper().value(), expected) << to_string(certificate.target);
    EXPECT_LE(certificate.typical_factor_upper().value(), expected * (1 + 0x1p-50)) << to_string(certificate.target);
  };
  expect_just_above(judged(Target::dgemm(), 4096, 0.5), 32);
  expect_just_above(judged(Target::dgemm_typical(), 4096, 0.5), 0.5);
  expect_just_above(judged(Target::correctly_rounded(), 4096, 1), 0x1p-6);
  expect_just_above(judged(Target::componentwise(0x1p-40), 4096, 0.75), 96);
  expect_just_above(judged(Target::normwise(0x1p-40), 4096, 0.75), 96);
  expect_just_above(judged(Target::relative(0x1p-40), 4096, 0.75), 96);
  expect_just_above(judged(Target::componentwise(0x1p-53), 0, 1), 1);
  auto narrow = judged(Target::componentwise(0x1p-20), 16, 1);
  narrow.narrow = true;
  expect_just_above(narrow, 4);
  EXPECT_EQ(judged(Target::dgemm(), 16, inf).typical_factor_upper(), inf);
  EXPECT_EQ(judged(Target::componentwise(0.5), 16, 0).typical_factor_upper(), 0);
  EXPECT_EQ(judged(Target::rowcol(0.5), 16, 1).typical_factor_upper(), std::nullopt) << "its measure is not M";
}

/// No entry's error exceeds the factor times what dgemm-typical allows plus eta / 2, judged exactly.
TEST(Certificate, NoEntryErrsByMoreThanTheFactorSays) {
  test::RandomBits random(17);
  for (const auto family : {Family::uniform, Family::wide_exponents, Family::cancellation, Family::sparse})
    for (const auto& target : {Target::dgemm(), Target::dgemm_typical(), Target::componentwise(1e-6), Target::relative(1e-6),
                               Target::correctly_rounded()}) {
      const auto product = test::sample_product(test::sample_recipe(family, 1, 12, random), random);
      if (product.narrow && target.has_tau() && target.tau < 0x1p-24) continue;
      const auto computed = test::compute(product, target, engine());
      const double tau = *computed.certificate.typical_factor_upper() * target_tau(Target::dgemm_typical(), product.k(),
                                                                                   product.narrow ? binary32 : binary64,
                                                                                   has_scalars(product.alpha, product.beta));
      if (tau == 0) continue;
      const auto within = verify(computed.c.view(), ExactOracle(product.operands()),
                                 Target::componentwise(tau * (1 + 0x1p-50)));  // room for the roundings of this test
      EXPECT_TRUE(within.holds()) << to_string(target) << ": " << product.describe() << '\n' << explain(within);
    }
}

TEST(Certificate, NamesTheProductThatItIsAbout) {
  auto product = test::product_of({Family::uniform, 2, 3, 4, 0, 5});
  product.c0 = Matrix<double>(2, 3);
  const auto record = [&product] {
    return json::parse(to_json(test::compute(product, Target::componentwise(1e-6), engine()).certificate).dump());
  };
  const auto first = record();
  EXPECT_EQ(first.at("alpha"), 1);
  EXPECT_EQ(first.at("beta"), 0);
  EXPECT_EQ(first.at("type"), "binary64");
  EXPECT_TRUE(first.at("fingerprints").at("c0").is_null()) << "not read";
  product.beta = 0.5;
  product.problem.a(1, 3) = std::nextafter(product.problem.a(1, 3), inf);
  const auto second = record();
  EXPECT_NE(second.at("fingerprints").at("a"), first.at("fingerprints").at("a"));
  EXPECT_EQ(second.at("fingerprints").at("b"), first.at("fingerprints").at("b"));
  EXPECT_FALSE(second.at("fingerprints").at("c0").is_null());
  EXPECT_NE(second.at("seal"), first.at("seal"));
  product.alpha = 0;
  EXPECT_TRUE(record().at("fingerprints").at("a").is_null()) << "not read";
  product.narrow = true;
  EXPECT_EQ(record().at("type"), "binary32");
}

TEST(Certificate, FingerprintsAreThoseOfTheRecord) {
  const auto mixed = [](std::uint64_t z) {
    z ^= z >> 30, z *= 0xbf58476d1ce4e5b9, z ^= z >> 27, z *= 0x94d049bb133111eb;
    return z ^ z >> 31;
  };
  constexpr std::uint64_t place = 0x9e3779b97f4a7c15;
  EXPECT_EQ(mixed(place), 0xe220a8397b1dcdaf) << "the first number of SplitMix64 from 0, as published";
  const auto x = test::matrix_of(1, 2, {1.0, std::numeric_limits<double>::quiet_NaN()});
  const std::uint64_t expected = mixed(0x3ff0000000000000 + place) + mixed(0x7ff8000000000000 + 2 * place);
  EXPECT_EQ(fingerprint(x), expected);
  Matrix<float> narrow(1, 2);
  narrow(0, 0) = 1, narrow(0, 1) = -std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(fingerprint(narrow), expected) << "the same values";
  EXPECT_EQ(fingerprint(Matrix<double>(0, 3)), 0);
}

/// Devices take terms from numbers, hosts from bits.
TEST(Certificate, FingerprintTermsOfNumbersAreThoseOfTheirBits) {
  for (const std::uint64_t bits :
       {std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1}, bits_of(-1.5), std::uint64_t{0x7ff0000000000000},
        std::uint64_t{0xfff0000000000000}, std::uint64_t{0x7ff8000000000000}, std::uint64_t{0x7ff0000000000001},
        std::uint64_t{0xffffffffffffffff}})
    EXPECT_EQ(fingerprint_term(double_from_bits(bits), fingerprint_key(7)), fingerprint_term(bits, fingerprint_key(7))) << bits;
}

/// Fingerprints depend only on values and places: rows longer than one block that is read at once, in every layout.
TEST(Certificate, FingerprintsDependOnValuesAndPlacesAlone) {
  const auto x = generate({Family::wide_exponents, 37, 1, 1100, 4, 3}).a;
  Matrix<double> columns(1100, 37), spread(37, 2200);
  for (Index i = 0; i < 37; ++i)
    for (Index j = 0; j < 1100; ++j) columns(j, i) = spread(i, 2 * j) = x(i, j);
  const MatrixView<const double> every_other(&spread(0, 0), 37, 1100, 2200, 2);
  for (const int threads : {1, 2, 5}) {
    EXPECT_EQ(fingerprint(columns.view().transposed(), threads), fingerprint(x)) << threads;
    EXPECT_EQ(fingerprint(every_other, threads), fingerprint(x)) << threads;
  }
  EXPECT_NE(fingerprint(columns), fingerprint(x)) << "the transpose is another matrix";
}

TEST(Certificate, FingerprintsShowTwoFlippedSignsAndAnExchange) {
  auto x = generate({Family::uniform, 16, 1, 40, 0, 3}).a;
  const auto original = fingerprint(x);
  const auto negate = [&x](Index t) { x(t / 40, t % 40) = -x(t / 40, t % 40); };
  for (Index s = 0; s < 640; ++s)
    for (Index t = s; t < 640; t += 1 + s % 7) {
      negate(s);
      if (t != s) negate(t);
      ASSERT_NE(fingerprint(x), original) << s << ' ' << t;
      negate(s);
      if (t != s) negate(t);
      if (t == s) continue;
      std::swap(x(s / 40, s % 40), x(t / 40, t % 40));
      ASSERT_NE(fingerprint(x), original) << s << ' ' << t;
      std::swap(x(s / 40, s % 40), x(t / 40, t % 40));
    }
  EXPECT_EQ(fingerprint(x), original);
}

TEST(Certificate, TheLargestBoundIsTheLargest) {
  const auto product = test::product_of({Family::wide_exponents, 5, 6, 7, 2, 2});
  for (const auto& target : {Target::componentwise(1e-10), Target::correctly_rounded(), Target::relative(1e-10)}) {
    const auto computed = test::compute(product, target, engine());
    const auto bound = computed.certificate.bound.over(computed.c.input());
    double largest = 0;
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 6; ++j) largest = std::max(largest, bound(i, j));
    EXPECT_EQ(computed.certificate.largest_bound, largest) << to_string(target);
  }
}

TEST(Certificate, TheWorstEntryIsTheOneWhoseRatioItTells) {
  // One row needs more slices than the plan has. The worst entry is in that row.
  auto product = test::product_of({Family::uniform, 4, 4, 8, 0, 3});
  for (Index l = 0; l < 8; ++l) product.problem.a(2, l) *= l == 0 ? 0x1p20 : 1;
  for (Index j = 0; j < 4; ++j) product.problem.b(0, j) = j == 1 ? 0x1p-40 : product.problem.b(0, j);
  const Decision decision{Target::componentwise(1e-8), Method::one_plan, SplitPlan::balanced(4, 4, 5), 4, 4, 8, 0, 0, {}, {}};
  const auto computed = test::compute_with(product, decision, engine());
  EXPECT_EQ(computed.certificate.worst_i, 2);
  EXPECT_EQ(computed.certificate.worst_j, 1);
  EXPECT_GT(computed.certificate.ratio, 1);
  EXPECT_FALSE(computed.certificate.holds);
  EXPECT_TRUE(test::tells_the_truth(product, computed));
}

TEST(Certificate, NumbersThatJsonDoesNotHaveAreSpelt) {
  Certificate certificate;
  certificate.ratio = inf;
  certificate.largest_bound = inf;
  certificate.bound.alpha = -inf;
  certificate.bound.result_factor = inf;
  certificate.bound.underflow = std::numeric_limits<double>::quiet_NaN();
  const auto record = json::parse(to_json(certificate).dump());
  EXPECT_EQ(record.at("ratio"), "inf");
  EXPECT_EQ(record.at("largest_bound"), "inf");
  EXPECT_EQ(record.at("bound").at("alpha"), "-inf");
  EXPECT_EQ(record.at("bound").at("result_factor"), "inf");
  EXPECT_EQ(record.at("bound").at("underflow"), "nan");
  EXPECT_EQ(record.at("holds"), false);
}

TEST(Certificate, CountsWhatTheSuperaccumulatorFinished) {
  auto product = test::product_of({Family::uniform, 5, 6, 7, 0, 4});
  Decision decision{Target::correctly_rounded(), Method::exact, {}, 5, 6, 7, 0, 0, {}, {}};
  EXPECT_EQ(test::compute_with(product, decision, engine()).certificate.exact, 30);
  product.problem.a(1, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(test::compute_with(product, decision, engine()).certificate.exact, 24) << "special entries are nobody's work";
  decision.method = Method::correctly_rounded;
  decision.plan = SplitPlan::balanced(1, 1, 2);
  const auto refined = test::compute_with(product, decision, engine());
  EXPECT_EQ(refined.certificate.undecided, 24) << "one digit decides nothing";
  EXPECT_GT(refined.certificate.plans.size(), 1u);
  EXPECT_LT(refined.certificate.exact, 24);
  EXPECT_TRUE(test::keeps_its_target(product, refined));
}

}  // namespace
}  // namespace ozbound::certificate_test
