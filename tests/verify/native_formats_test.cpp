// SPDX-License-Identifier: BSD-3-Clause
// SGEMM, CGEMM and ZGEMM of a conventional library are certified where DGEMM is, in their own format, and the checker confirms
// the certificates.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/complex_operands.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/number_classes.hpp"
#include "ozbound/verify/verdict.hpp"
#include "support/conventional_gemm.hpp"
#include "verify/altered_certificates.hpp"

namespace ozbound::native_formats_test {
namespace {

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

/// A number of T whose exponent is near the given one.
template <class T>
T near_exponent(int exponent, sampling::RandomBits& random) {
  const auto significand = static_cast<T>(1 + std::ldexp(static_cast<double>(random.below(1 << 23)), -23));
  return std::ldexp(random.once_in(2) ? significand : -significand, exponent + random.between(-3, 3));
}

template <class T>
void fill(Matrix<T>& x, int exponent, sampling::RandomBits& random) {
  for (Index t = 0; t < x.rows() * x.cols(); ++t) x.data()[t] = near_exponent<T>(exponent, random);
}
template <class T>
void fill(Matrix<std::complex<T>>& x, int exponent, sampling::RandomBits& random) {
  for (Index t = 0; t < x.rows() * x.cols(); ++t)
    x.data()[t] = {near_exponent<T>(exponent, random), random.once_in(4) ? T{0} : near_exponent<T>(exponent, random)};
}

template <class Wide, class T>
Matrix<Wide> widened(const Matrix<T>& x) {
  Matrix<Wide> result(x.rows(), x.cols());
  for (Index t = 0; t < x.rows() * x.cols(); ++t) result.data()[t] = Wide(x.data()[t]);
  return result;
}

/// C = alpha A B + beta C0 of floats, doubles or complex numbers of either.
template <class T>
struct Case {
  Matrix<T> a, b, c0, c;
  double alpha = 1, beta = 0;

  explicit Case(sampling::RandomBits& random) {
    const Index m = random.between(1, 4), n = random.between(1, 4), k = random.between(0, 40);
    a = Matrix<T>(m, k), b = Matrix<T>(k, n), c0 = Matrix<T>(m, n), c = Matrix<T>(m, n);
    static constexpr int exponents[] = {0, 0, 20, -30, -50, -63, -70, -130};
    constexpr bool is_wide = std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>;
    constexpr int wider = is_wide ? 8 : 1;
    const int ea = wider * random.pick(exponents), eb = wider * random.pick(exponents);
    fill(a, ea, random), fill(b, eb, random);
    static constexpr double scalars[] = {1, -1, 1, 2, 0.1f, 0x1.8p-60, 3};
    alpha = random.pick(scalars);
    if (random.once_in(2))
      beta = random.pick(scalars), fill(c0, random.once_in(2) ? std::max(ea + eb, -126 * wider) : -100 * wider, random);
    if (beta != 0 && random.once_in(4)) make_special(c0, random);
    if (k > 0 && random.once_in(8)) make_special(random.once_in(2) ? a : b, random);
  }

  /// Sets an element to NaN or an infinity, in one part if it is complex.
  void make_special(Matrix<T>& x, sampling::RandomBits& random) {
    static constexpr double specials[] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    const double special = random.pick(specials);
    auto& element = x.data()[random.below(static_cast<int>(x.rows() * x.cols()))];
    if constexpr (std::is_floating_point_v<T>) {
      element = static_cast<T>(special);
    } else {
      using Real = typename T::value_type;
      if (random.once_in(2))
        element.real(static_cast<Real>(special));
      else
        element.imag(static_cast<Real>(special));
    }
  }

  [[nodiscard]] Product stated() { return {a, b, c, alpha, beta, c0}; }
};

/// Confirms a certificate, judges C by its bound, and also by its target if the certificate says that it holds.
void expect_confirmed(const Certificate& certificate, const Operands& operands, const ResultView& c, const std::string& what) {
  const auto check = check_certificate(to_json(certificate).dump(), operands, c);
  for (const auto& claim : check.claims) ASSERT_TRUE(claim.holds) << what << claim.claim << ": " << claim.finding;
  const ExactOracle oracle(operands);
  if (certificate.holds) {
    ASSERT_TRUE(verify(c, oracle, certificate.target).holds()) << what << explain(verify(c, oracle, certificate.target));
  }
}

template <class T>
void confirm(Case<T>& one, const Certificate& certificate, const std::string& what) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto a = widened<double>(one.a), b = widened<double>(one.b), c0 = widened<double>(one.c0);
    expect_confirmed(certificate, {a.view(), b.view(), one.alpha, one.beta, c0.view()}, one.c.view(), what);
  } else {
    using Number = std::complex<double>;
    const auto a = widened<Number>(one.a), b = widened<Number>(one.b), c0 = widened<Number>(one.c0);
    const ComplexOperands operands({a.view()}, {b.view()}, one.alpha, one.beta, c0.view());
    expect_confirmed(certificate, operands.operands(), ComplexResult(one.c.view()).view(), what);
  }
}

struct Tally {
  int certified = 0, refused = 0, without_underflow = 0;
};

template <class T>
Tally try_cases(std::uint64_t seed, double tau) {
  sampling::RandomBits random(seed);
  Tally tally;
  for (int t = 0; t < 400; ++t) {
    Case<T> one(random);
    const test::ConventionalGemm native(random.pick(test::all_orders));
    const auto target = random.once_in(2) ? Target::dgemm() : Target::componentwise(tau);
    const auto stated = one.stated();
    const Decision given{target, Method::native,     {}, stated.m(), stated.n(), stated.k(), 0, 0, {}, {}, {},
                         {},     stated.is_complex()};
    const auto certificate = multiply(stated, given, {engine(), &native});
    confirm(one, certificate, std::to_string(t) + " " + to_string(target) + " ");
    if (testing::Test::HasFatalFailure()) return tally;
    bool chosen = true;
    try {
      EXPECT_EQ(decide(stated, target, {engine(), &native}, {.slices = false}).method, Method::native);
    } catch (const CannotCertify&) {
      chosen = false;
    }
    EXPECT_EQ(certificate.holds, chosen);
    ++(chosen ? tally.certified : tally.refused);
    if (certificate.bound.underflow == 0) ++tally.without_underflow;
  }
  return tally;
}

template <class T>
void expect_certified(double tau) {
  const auto tally = try_cases<T>(17, tau);
  EXPECT_GT(tally.certified, 100);
  EXPECT_GT(tally.refused, 20);
  EXPECT_GT(tally.without_underflow, 100);
}

TEST(NativeFormats, SgemmIsCertified) { expect_certified<float>(1e-5); }
TEST(NativeFormats, CgemmIsCertified) { expect_certified<std::complex<float>>(1e-5); }
TEST(NativeFormats, ZgemmIsCertified) { expect_certified<std::complex<double>>(1e-13); }

/// An infinity in one part of C0 makes only one part of the entry special, although a library multiplies both parts of C0 by
/// both parts of beta, and 0 times infinity is NaN.
TEST(NativeFormats, AnInfinityInOnePartOfC0LeavesTheOther) {
  using Number = std::complex<double>;
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const double beta : {1.0, 2.0, -1.0})
    for (const auto& special : {Number(1, inf), Number(-inf, 2), Number(std::numeric_limits<double>::quiet_NaN(), 3)}) {
      Matrix<Number> a(2, 2), c0(2, 2), c(2, 2);
      a(0, 0) = a(1, 1) = {1, 1}, c0(0, 0) = special, c0(1, 0) = {5, 6};
      const test::ConventionalGemm native;
      const Product product(a, a, c, 1, beta, c0);
      const Decision given{Target::dgemm(), Method::native, {}, 2, 2, 2, 0, 0, {}, {}, {}, {}, true};
      EXPECT_TRUE(multiply(product, given, {engine(), &native}).holds);
      const double re = beta * special.real(), im = 2 + beta * special.imag();
      EXPECT_TRUE(c(0, 0).real() == re || (std::isnan(re) && std::isnan(c(0, 0).real()))) << c(0, 0);
      EXPECT_EQ(c(0, 0).imag(), im);
      EXPECT_EQ(c(1, 0), Number(5 * beta, 6 * beta));
      EXPECT_EQ(native.complex_calls, 0);
      c0(0, 0) = 1;
      (void)multiply(product, given, {engine(), &native});
      EXPECT_EQ(native.complex_calls, 1);
    }
}

TEST(NativeFormats, NameTheGemmThatIsTrusted) {
  sampling::RandomBits random(3);
  const test::ConventionalGemm native;
  const auto trusted = [&]<class T>(Case<T> one) {
    const auto stated = one.stated();
    const Decision given{Target::dgemm(),    Method::native, {}, stated.m(), stated.n(), stated.k(), 0, 0, {}, {}, {}, {},
                         stated.is_complex()};
    return multiply(stated, given, {engine(), &native}).bound.assumptions.front();
  };
  EXPECT_NE(trusted(Case<float>(random)).find("SGEMM sums conventionally: each entry is"), std::string::npos);
  EXPECT_NE(trusted(Case<double>(random)).find("DGEMM sums conventionally: each entry is"), std::string::npos);
  EXPECT_NE(trusted(Case<std::complex<float>>(random)).find("CGEMM sums conventionally: each part"), std::string::npos);
  EXPECT_NE(trusted(Case<std::complex<double>>(random)).find("ZGEMM sums conventionally: each part"), std::string::npos);
}

/// The bound of SGEMM is attained by one large product and any number of small ones that are lost one by one.
TEST(NativeFormats, TheBoundOfSgemmIsAttained) {
  const Index k = 200;
  Matrix<float> a(1, k), b(k, 1), c(1, 1);
  for (Index l = 0; l < k; ++l) a(0, l) = l == 0 ? 1.0F : 0x1p-24F, b(l, 0) = 1;
  const test::ConventionalGemm native;
  const Decision given{Target::dgemm(), Method::native, {}, 1, 1, k, 0, 0, {}, {}};
  const auto certificate = multiply({a, b, c}, given, {engine(), &native});
  EXPECT_TRUE(certificate.holds);
  const auto wide_a = widened<double>(a), wide_b = widened<double>(b);
  const ExactOracle oracle({wide_a.view(), wide_b.view()});
  EXPECT_GE(verify(c.view(), oracle, Target::dgemm()).ratio, 0.99);
}

/// Native SGEMM is certified under underflow only up to k = 4096, where k^2 u <= 1 and products that underflow cost at most k
/// eta/2.
TEST(NativeFormats, UnderflowOfLongSumsOfFloatsIsNotGranted) {
  const float small = 0x1p-75F;
  const test::ConventionalGemm native;
  const auto certifies = [&](Index k) {
    const MatrixView<const float> row(&small, 1, k, 0, 0), column(&small, k, 1, 0, 0);
    const RealProduct product{row, column, unwritten(1, 1, binary32)};
    try {
      return decide(product, Target::dgemm(), {engine(), &native}, {.slices = false}).method == Method::native;
    } catch (const CannotCertify&) {
      return false;
    }
  };
  EXPECT_TRUE(certifies(4096));
  EXPECT_FALSE(certifies(4097));
}

/// Sums with k u > 1 are not certified, as G7a is proven only for k u <= 1.
TEST(NativeFormats, SumsOfWhichKuIsAboveOneAreNotCertified) {
  const float one = 1;
  const test::ConventionalGemm native;
  const auto certifies = [&](Index k) {
    const MatrixView<const float> row(&one, 1, k, 0, 0), column(&one, k, 1, 0, 0);
    try {
      (void)decide(RealProduct{row, column, unwritten(1, 1, binary32)}, Target::componentwise(3), {engine(), &native},
                   {.slices = false});
      return true;
    } catch (const CannotCertify&) {
      return false;
    }
  };
  EXPECT_TRUE(certifies(Index{1} << 24));
  EXPECT_FALSE(certifies((Index{1} << 24) + 1));
}

TEST(NativeFormats, WhatALibraryLacksIsSaid) {
  class DgemmAlone final : public NativeGemm {
   public:
    [[nodiscard]] std::string name() const override { return "DGEMM"; }
    void dgemm(const RealProduct& call) const override { test::ConventionalGemm().dgemm(call); }
  };
  const DgemmAlone native;
  const auto refusal = [&](const Product& product) -> std::string {
    try {
      (void)decide(product, Target::dgemm(), {engine(), &native}, {.slices = false});
      return "";
    } catch (const CannotCertify& error) {
      return error.what();
    }
  };
  Matrix<float> f(2, 2);
  Matrix<std::complex<float>> cf(2, 2);
  Matrix<std::complex<double>> cd(2, 2);
  EXPECT_NE(refusal({f, f, f}).find("this native library has no SGEMM"), std::string::npos) << refusal({f, f, f});
  EXPECT_NE(refusal({cf, cf, cf}).find("this native library has no CGEMM"), std::string::npos) << refusal({cf, cf, cf});
  EXPECT_EQ(refusal({cd, cd, cd}), "") << "DGEMM multiplies its parts";
  const test::ConventionalGemm all;
  const Decision given{Target::dgemm(), Method::native, {}, 2, 2, 2, 0, 0, {}, {}};
  EXPECT_THROW((void)multiply({f, f, f, 0.1}, given, {engine(), &all}), std::invalid_argument) << "0.1 is no binary32 number";
  Matrix<float> c(2, 2);
  EXPECT_THROW((void)multiply({f, Matrix<double>(2, 2), c}, given, {engine(), &all}), std::invalid_argument);
}

/// The checker refuses a certificate that says binary32 for operands that are doubles.
TEST(NativeFormats, TheCheckerTakesNoDoublesForFloats) {
  sampling::RandomBits random(5);
  Case<float> one(random);
  one.alpha = 1, one.beta = 0;
  const test::ConventionalGemm native;
  const auto stated = one.stated();
  const Decision given{Target::dgemm(), Method::native, {}, stated.m(), stated.n(), stated.k(), 0, 0, {}, {}};
  auto record = nlohmann::json::parse(to_json(multiply(stated, given, {engine(), &native})).dump());
  const auto b = widened<double>(one.b);
  auto a = widened<double>(one.a);
  ASSERT_GT(one.a.cols(), 0);
  EXPECT_TRUE(check_certificate(record.dump(), {a.view(), b.view()}, one.c.view()).holds());
  record["schema"] = "ozbound-certificate-4";
  EXPECT_FALSE(check_certificate(test::resealed(record).dump(), {a.view(), b.view()}, one.c.view()).holds());
  record["schema"] = certificate_schema;
  a(0, 0) = std::nextafter(a(0, 0), 1e300);
  const auto check = check_certificate(test::resealed(record).dump(), {a.view(), b.view()}, one.c.view());
  bool named = false;
  for (const auto& claim : check.claims) named = named || (!claim.holds && claim.claim == "native");
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace ozbound::native_formats_test
