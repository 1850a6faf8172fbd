// SPDX-License-Identifier: BSD-3-Clause
// A second program confirms certificates of complex products, and rejects them if any member is altered.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/core/fingerprint.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/complex_operands.hpp"
#include "ozbound/verify/complex_problem.hpp"

#include "bounds/hostile_environment.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/real_representation.hpp"
#include "support/classified.hpp"
#include "verify/altered_certificates.hpp"

namespace ozbound::complex_certificate_test {
namespace {

using nlohmann::json;
using test::resealed;
using Number = std::complex<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

/// A product, its C and its certificate.
struct Certified {
  std::string name;
  ComplexProblem problem;
  Matrix<Number> c0, c;
  Matrix<std::complex<float>> narrow_c;
  Number alpha = 1, beta = 0;
  bool narrow = false, adjoint_a = false;
  Certificate certificate;

  [[nodiscard]] ComplexProduct product() {
    const ComplexInputView stored(problem.a);
    const auto output = narrow ? ComplexOutputView(narrow_c) : ComplexOutputView(c);
    return {adjoint_a ? stored.conjugate() : stored, problem.b, output, alpha, beta, c0};
  }

  [[nodiscard]] json record() const { return json::parse(to_json(certificate).dump()); }

  [[nodiscard]] CertificateCheck check(const json& record, const EntrySelection& selection = EntrySelection::all(),
                                       bool disturbed = false) const {
    const ComplexOperands operands({problem.a.view(), adjoint_a}, {problem.b.view()}, alpha, beta, c0.view());
    const auto result = narrow ? std::make_unique<ComplexResult>(narrow_c.view()) : std::make_unique<ComplexResult>(c.view());
    const auto text = record.dump();
    std::optional<test::HostileEnvironment> hostile;
    if (disturbed) hostile.emplace();
    return check_certificate(text, operands.operands(), result->view(), {selection, {}});
  }
};

struct Scalars {
  Number alpha = 1, beta = 0;
};

/// Two slices round to infinity a part of a finite entry, and a part of an entry that is not finite.
ComplexProblem near_overflow(bool narrow) {
  const double largest = narrow ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
  auto problem = generate_complex({Family::uniform, 2, 2, 1, 0, 1});
  problem.a(0, 0) = {largest, largest * 0x1p-4}, problem.a(1, 0) = {1, 2};
  problem.b(0, 0) = 1, problem.b(0, 1) = {0, 2};
  return problem;
}

Certified prepared(std::string name, ComplexProblem problem, const Scalars& scalars, bool narrow = false) {
  const Index m = problem.a.rows(), n = problem.b.cols();
  Certified one{std::move(name), std::move(problem), {m, n}, {m, n},     {m, n},
                scalars.alpha,   scalars.beta,       narrow, m % 2 == 0, {}};
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) one.c0(i, j) = {0.1 * static_cast<double>(i - 2 * j), 0.7 - static_cast<double>(j)};
  return one;
}

/// The product certified under this method and plan. `in_place`: C0 is C.
Certified certified(Certified one, const Target& target, Method method, const char* plan = nullptr, bool in_place = false) {
  auto call = one.product();
  if (in_place) one.c = one.c0, call.c0 = one.c;
  Decision decision{target, method, {}, call.m(), call.n(), call.k(), 0, 0, {}, {}, {}, {}, true};
  if (plan != nullptr) decision.plan = parse_plan(plan);
  one.certificate = multiply(call, decision, engine());
  return one;
}

std::vector<std::string> rejections(const Certified& one, const json& certificate) {
  std::vector<std::string> failed;
  try {
    for (const auto& claim : one.check(certificate).claims)
      if (!claim.holds) failed.push_back(claim.claim + ": " + claim.finding);
  } catch (const std::invalid_argument& refusal) {
    failed.emplace_back(refusal.what());
  }
  return failed;
}

const char* const fine = "balanced:7x7:cut=8:exact";
const Scalars real_scalars{-1.5, 0.75}, turned{{0.3, -1.7}, {0, 2}}, imaginary{{0, -1}, 0}, far{{0x1p-30, 0x1.8p20}, {1, 1e-9}};

/// Certificates for every method and kind of target, scalars of every kind, special entries, and both formats.
const std::vector<Certified>& all_certified() {
  static const std::vector<Certified> all = [] {
    const auto wide = generate_complex({Family::wide_exponents, 4, 3, 5, 2, 2});
    const auto special = [] {
      auto problem = generate_complex({Family::uniform, 3, 4, 5, 0, 1});
      problem.a(1, 0) = {1, nan}, problem.b(0, 1) = {-inf, 2};
      return problem;
    }();
    std::vector<Certified> list;
    for (const auto& scalars : {real_scalars, turned, imaginary, far})
      for (const auto* problem : {&wide, &special}) {
        const auto add = [&](const char* name, auto... rest) {
          list.push_back(certified(prepared(name, *problem, scalars), rest...));
        };
        for (const auto& target :
             {Target::dgemm(), Target::componentwise(1e-11), Target::rowcol(1e-12), Target::normwise(1e-12)})
          add("slices", target, Method::one_plan, fine), add("exact", target, Method::exact);
        for (const auto* plan : {"balanced:1x1:full:exact", fine, "nearest5:9x9:cut=10:per_product"}) {
          add("cr", Target::correctly_rounded(), Method::correctly_rounded, plan);
          add("relative", Target::relative(1e-10), Method::one_plan, plan);
        }
        if (scalars.alpha.imag() == 0 && scalars.beta.imag() == 0) {
          add("residues", Target::dgemm(), Method::one_plan, "residues:15:52x53");
          add("residues cr", Target::correctly_rounded(), Method::correctly_rounded, "residues:5:14x15");
          add("residues relative", Target::relative(1e-10), Method::one_plan, "residues:5:14x15");
        }
        add("too coarse", Target::dgemm(), Method::one_plan, "truncated7:2x3:cut=4:per_diagonal");
        add("cr by a plan", Target::correctly_rounded(), Method::one_plan, "balanced:3x3:full:exact");
        list.push_back(certified(prepared("binary32", *problem, scalars, true), Target::dgemm(), Method::one_plan,
                                 "balanced:4x4:cut=5:exact"));
        list.push_back(certified(prepared("binary32 cr", *problem, scalars, true), Target::correctly_rounded(),
                                 Method::correctly_rounded, "balanced:2x2:full:exact"));
      }
    auto c0_special = prepared("C0 special in one part", wide, turned);
    c0_special.beta = {2, 0}, c0_special.c0(0, 0) = {1, nan}, c0_special.c0(1, 1) = {inf, 1};
    list.push_back(certified(c0_special, Target::dgemm(), Method::one_plan, fine));
    list.push_back(certified(c0_special, Target::correctly_rounded(), Method::correctly_rounded, "balanced:1x1:full:exact"));
    list.push_back(certified(c0_special, Target::correctly_rounded(), Method::exact));
    for (const Number scalar : {Number{inf, 1}, Number{1, nan}})
      for (const bool of_beta : {false, true})
        list.push_back(certified(prepared("special scalar", wide, of_beta ? Scalars{{0, 1}, scalar} : Scalars{scalar, 1}),
                                 Target::dgemm(), Method::one_plan, fine));
    list.push_back(certified(prepared("alpha 0", wide, {0, {0, 3}}), Target::dgemm(), Method::one_plan, fine));
    const auto no_terms = generate_complex({Family::uniform, 2, 3, 0, 0, 0});
    list.push_back(certified(prepared("no terms", no_terms, {{nan, 2}, {1, 1}}), Target::dgemm(), Method::one_plan, fine));
    const auto nothing = generate_complex({Family::uniform, 0, 3, 2, 0, 0});
    list.push_back(certified(prepared("nothing", nothing, turned), Target::dgemm(), Method::one_plan, fine));
    return list;
  }();
  return all;
}

TEST(ComplexCertificate, ConfirmsWhatTheEngineCertifies) {
  for (const auto& one : all_certified())
    EXPECT_THAT(rejections(one, one.record()), testing::IsEmpty()) << one.name << ' ' << one.alpha << ' ' << one.beta << '\n'
                                                                   << one.record().dump(1);
}

TEST(ComplexCertificate, ConfirmsWhatIsDecided) {
  test::RandomBits random(5);
  for (const auto family : all_families())
    for (const auto& target : {Target::dgemm(), Target::componentwise(1e-5), Target::rowcol(1e-6), Target::normwise(1e-6),
                               Target::relative(1e-5), Target::correctly_rounded()}) {
      const Number numbers[] = {1, -0.7, {0, 1}, {0.3, -2e-7}, {1.1, 0x1p-40}};
      const Index m = random.between(1, 5), n = random.between(1, 5), k = random.between(1, 8);
      auto one = prepared(std::string(name(family)), generate_complex({family, m, n, k, 0.5 * random.between(0, 6), random()}),
                          {random.pick(numbers), random.once_in(2) ? Number{} : random.pick(numbers)}, random.once_in(3));
      const auto call = one.product();
      one.certificate = multiply(call, decide(call, target, engine()), engine());
      EXPECT_TRUE(one.certificate.holds);
      EXPECT_THAT(rejections(one, one.record()), testing::IsEmpty())
          << one.name << ' ' << one.alpha << ' ' << one.beta << ' ' << to_string(target) << '\n'
          << one.record().dump(1);
    }
}

TEST(ComplexCertificate, SamplesConfirmToo) {
  for (const auto& one : all_certified()) {
    const auto check = one.check(one.record(), EntrySelection::sample(7, 3));
    EXPECT_TRUE(check.holds()) << one.name << ' ' << one.alpha << ' ' << one.beta;
  }
}

TEST(ComplexCertificate, ConfirmsInAnyEnvironment) {
  for (const auto& one : all_certified()) {
    const auto check = one.check(one.record(), EntrySelection::all(), true);
    EXPECT_TRUE(check.holds()) << one.name << ' ' << one.alpha << ' ' << one.beta;
  }
}

TEST(ComplexCertificate, ConfirmsEveryEncoding) {
  const auto wide = generate_complex({Family::wide_exponents, 2, 3, 3, 2, 2});
  for (const auto& encoding : all_encodings())
    for (const std::string accumulation : {"exact", "per_product", "per_diagonal"}) {
      if (!encoding.common_ratio() && accumulation != "per_product") continue;
      const auto plan = to_string(encoding) + ":5x6:cut=7:" + accumulation;
      for (const auto method : {Method::one_plan, Method::correctly_rounded}) {
        const auto one = certified(prepared("encoding", wide, turned), Target::normwise(1e-6), method, plan.c_str());
        EXPECT_THAT(rejections(one, one.record()), testing::IsEmpty()) << plan << '\n' << one.record().dump(1);
      }
    }
}

TEST(ComplexCertificate, ConfirmsProductsInPlace) {
  for (const auto family : {Family::uniform, Family::wide_exponents, Family::cancellation, Family::subnormal})
    for (const auto& scalars : {real_scalars, turned, far}) {
      const auto problem = generate_complex({family, 4, 3, 5, 2, 2});
      const auto expect_confirmed = [&](const Target& target, Method method, const char* plan) {
        const auto one = certified(prepared("in place", problem, scalars), target, method, plan, true);
        EXPECT_THAT(rejections(one, one.record()), testing::IsEmpty()) << name(family) << '\n' << one.record().dump(1);
      };
      expect_confirmed(Target::dgemm(), Method::one_plan, fine);
      expect_confirmed(Target::relative(1e-9), Method::one_plan, "balanced:3x3:full:exact");
      expect_confirmed(Target::correctly_rounded(), Method::correctly_rounded, "balanced:5x5:full:exact");
      expect_confirmed(Target::correctly_rounded(), Method::exact, nullptr);
    }
}

/// Small certificates of every method and kind of target, with extreme scalars and inputs.
const std::vector<Certified>& small_certified() {
  static const std::vector<Certified> all = [] {
    const auto of = [](Family family, Index k) { return generate_complex({family, 2, 2, k, 1, 3}); };
    const auto wide = of(Family::wide_exponents, 3), subnormal = of(Family::subnormal, 2),
               cancelling = of(Family::cancellation, 4);
    auto special = of(Family::uniform, 2), whole = special;
    special.a(1, 0) = {1, nan};
    for (auto* matrix : {&whole.a, &whole.b})
      for (Index t = 0; t < 4; ++t) matrix->data()[t] = {static_cast<double>(t + 1), static_cast<double>(5 - 2 * t)};
    const Scalars least{{0, 0x1p-1074}, 0}, ends{{0x1p-1074, -0x1p1023}, {0, 0x1p-1074}}, largest{{0x1.8p1023, 0x1.8p1023}, 1};
    std::vector<Certified> list;
    const auto add = [&list](const char* name, const ComplexProblem& problem, const Scalars& scalars, auto... rest) {
      list.push_back(certified(prepared(name, problem, scalars), rest...));
    };
    for (const auto& target : {Target::dgemm(), Target::componentwise(1e-11), Target::rowcol(1e-12), Target::normwise(1e-12)}) {
      add("slices", wide, turned, target, Method::one_plan, fine);
      add("exact", cancelling, imaginary, target, Method::exact);
    }
    add("special", special, turned, Target::dgemm(), Method::one_plan, fine);
    add("cr", wide, turned, Target::correctly_rounded(), Method::correctly_rounded, "balanced:1x1:full:exact");
    add("cr", cancelling, far, Target::correctly_rounded(), Method::correctly_rounded, fine);
    add("cr special", special, imaginary, Target::correctly_rounded(), Method::correctly_rounded, "balanced:4x4:full:exact");
    add("cr subnormal", subnormal, far, Target::correctly_rounded(), Method::correctly_rounded,
        "nearest5:9x9:cut=10:per_product");
    add("cr of far parts", wide, {{0x1p-1074, 0x1p300}, {0x1p-500, 1}}, Target::correctly_rounded(), Method::correctly_rounded,
        fine);
    add("cr, no finer plan", wide, turned, Target::correctly_rounded(), Method::correctly_rounded,
        "balanced:20x20:cut=21:exact");
    add("relative", wide, turned, Target::relative(1e-10), Method::one_plan, fine);
    add("relative", cancelling, imaginary, Target::relative(1e-10), Method::one_plan, "balanced:1x1:full:exact");
    add("exact relative", special, imaginary, Target::relative(1e-10), Method::exact);
    add("below u", wide, turned, Target::componentwise(1e-17), Method::one_plan, fine);
    for (const auto& scalars : {turned, imaginary})
      add("nothing cut off", whole, scalars, Target::correctly_rounded(), Method::one_plan, "balanced:2x2:full:exact");
    add("no promise", wide, turned, Target::correctly_rounded(), Method::one_plan, fine);
    add("refined to less than cr", wide, turned, Target::componentwise(1e-10), Method::correctly_rounded, fine);
    add("least", wide, least, Target::componentwise(1e-12), Method::one_plan, fine);
    add("ends", wide, ends, Target::dgemm(), Method::one_plan, fine);
    add("overflow", wide, largest, Target::dgemm(), Method::one_plan, fine);
    for (const bool narrow : {false, true})
      for (const auto* target : {"componentwise:0.1", "normwise:0.1", "cr"})
        for (const auto& scalars : {Scalars{{0, 1}, {0, 1}}, {{-1, 0}, {0, 1}}, {{1, 0}, 1}})
          list.push_back(certified(prepared("finished", near_overflow(narrow), scalars, narrow), parse_target(target),
                                   Method::one_plan, "balanced:2x2:full:exact"));
    add("alpha infinite", wide, {{1, inf}, 1}, Target::dgemm(), Method::one_plan, fine);
    add("beta NaN", wide, {1, {0, nan}}, Target::correctly_rounded(), Method::exact);
    add("alpha 0", wide, {0, {0, 3}}, Target::dgemm(), Method::one_plan, fine);
    list.push_back(
        certified(prepared("binary32", wide, turned, true), Target::dgemm(), Method::one_plan, "balanced:4x4:cut=5:exact"));
    list.push_back(certified(prepared("binary32 cr", subnormal, far, true), Target::correctly_rounded(),
                             Method::correctly_rounded, "balanced:2x2:full:exact"));
    return list;
  }();
  return all;
}

/// True if the alteration is another true statement about the product, so that only the seal reveals it.
bool still_true(const Certified& one, const test::Alteration& altered) {
  const auto& certificate = one.certificate;
  const bool relative = certificate.target.kind == Target::Kind::relative;
  const bool refined = certificate.method == Method::correctly_rounded || relative;
  // The last plan left open the same entries as those before it; or every plan would leave none open.
  if (altered.member == "plans") return refined && (altered.how == "element less" || certificate.undecided == 0);
  if (altered.member == "target")  // only a rounding, which meets the target; or no claim
    return test::is_same_target(certificate, altered) || (certificate.ratio == 1 && altered.how == "cr") ||
           certificate.ratio == inf;
  if (altered.member != "method" || altered.how == "native") return false;
  // Only the rounding remains. Any method does it if all entries are special, and both methods that refine would meet
  // `relative`.
  return certificate.plans.empty() || (relative && altered.how == "correctly_rounded");
}

/// True if a rejection names the member, or the imaginary parts if the member is one of them.
bool says(const std::vector<std::string>& failed, const std::string& member) {
  if (!member.starts_with("imaginary")) return test::names(failed, member);
  return std::any_of(failed.begin(), failed.end(), [](const auto& text) { return text.find("imaginary") != text.npos; });
}

/// Seals each alteration of one certificate again and checks it; collects the members whose alterations are found.
void reject_alterations(const Certified& one, std::set<std::string>& rejected) {
  const auto record = one.record();
  ASSERT_THAT(rejections(one, record), testing::IsEmpty()) << one.name << '\n' << record.dump(1);
  for (const auto& altered : test::alterations(record)) {
    if (altered.certificate == record || altered.member == "seal") continue;
    const auto failed = rejections(one, resealed(altered.certificate));
    const auto what = one.name + ", " + altered.member + ": " + altered.how + ": " + testing::PrintToString(failed);
    if (failed.empty()) {
      EXPECT_TRUE(still_true(one, altered)) << what << '\n' << record.dump(1);
      continue;
    }
    EXPECT_TRUE(test::is_premise(altered.member) || says(failed, altered.member)) << what;
    EXPECT_FALSE(test::names(failed, "seal")) << what;
    rejected.insert(altered.member);
  }
}

TEST(ComplexCertificate, RejectsWhatIsNotSoEvenUnderASeal) {
  std::set<std::string> rejected;
  for (const auto& one : small_certified()) reject_alterations(one, rejected);
  const auto record = small_certified().front().record();
  for (const auto& [member, value] : record.items()) {
    EXPECT_TRUE(member == "seal" || rejected.contains(member)) << member << " was never altered";
    if (!value.is_object()) continue;
    for (const auto& [inner, inner_value] : value.items())
      EXPECT_TRUE(rejected.contains(member + "." + inner)) << member << '.' << inner << " was never altered";
  }
}

/// x with the last bit of a part flipped, or the sign of an infinite part. The bits of NaN do not count.
std::vector<Number> with_a_flip(Number x) {
  const auto flipped = [](double part) {
    return std::isinf(part) ? -part : std::bit_cast<double>(std::bit_cast<std::uint64_t>(part) ^ 1);
  };
  std::vector<Number> all;
  if (!std::isnan(x.real())) all.push_back({flipped(x.real()), x.imag()});
  if (!std::isnan(x.imag())) all.push_back({x.real(), flipped(x.imag())});
  return all;
}

TEST(ComplexCertificate, RejectsAChangedBitOfAnOperand) {
  for (const auto& one : small_certified()) {
    auto changed = one;
    const auto change_each = [&](Matrix<Number>& matrix, const std::string& name, bool read) {
      for (Index t = 0; t < matrix.rows() * matrix.cols(); ++t) {
        const auto value = matrix.data()[t];
        for (const auto& other : with_a_flip(value)) {
          matrix.data()[t] = other;
          EXPECT_EQ(test::names(rejections(changed, one.record()), "fingerprints." + name), read) << one.name;
        }
        matrix.data()[t] = value;
      }
    };
    change_each(changed.problem.a, "a", one.alpha != 0.0);
    change_each(changed.problem.b, "b", one.alpha != 0.0);
    change_each(changed.c0, "c0", one.beta != 0.0);
  }
}

/// A certificate that fits a wrong C is rejected although its fingerprint and its seal are correct.
TEST(ComplexCertificate, RejectsAWrongCThatIsWellSealed) {
  for (const auto& one : small_certified()) {
    auto forged = one;
    for (Index t = 0; !one.narrow && t < one.c.rows() * one.c.cols(); ++t) {
      for (const auto& other : with_a_flip(one.c.data()[t])) {
        forged.c.data()[t] = other;
        char text[17];
        std::snprintf(text, sizeof text, "%016llx",
                      static_cast<unsigned long long>(fingerprint(stacked_parts(forged.c, 1).view())));
        auto record = one.record();
        record["fingerprints"]["c"] = text;
        const auto failed = rejections(forged, resealed(record));
        EXPECT_TRUE(test::names(failed, "c")) << one.name;
        EXPECT_FALSE(test::names(failed, "fingerprints.c") || test::names(failed, "seal")) << one.name;
      }
      forged.c.data()[t] = one.c.data()[t];
    }
  }
}

TEST(ComplexCertificate, NativeDgemmHasNoComplexScalars) {
  const auto wide = generate_complex({Family::wide_exponents, 2, 2, 3, 2, 2});
  for (const auto& scalars : {turned, Scalars{{0, inf}, 0}}) {
    const auto one = certified(prepared("exact", wide, scalars), Target::dgemm(), Method::exact);
    auto record = one.record();
    record["method"] = "native";
    EXPECT_THAT(rejections(one, resealed(record)), testing::Contains("method: native DGEMM has no complex alpha or beta"));
  }
}

/// An A that represents no complex matrix is found. The certificate has a pair of rows of one scale, the only case in which
/// their bounds mix.
TEST(ComplexCertificate, AnAThatStandsForNoneIsFound) {
  const auto one = certified(prepared("turned", generate_complex({Family::uniform, 2, 2, 2, 0, 1}), turned), Target::dgemm(),
                             Method::one_plan, fine);
  const ComplexOperands copies({one.problem.a.view(), one.adjoint_a}, {one.problem.b.view()}, one.alpha, one.beta,
                               one.c0.view());
  const ComplexResult c(one.c.view());
  for (Index i = 0; i < 4; ++i)
    for (Index l = 0; l < 4; ++l) {
      auto operands = copies.operands();
      Matrix<double> a(4, 4);
      for (Index t = 0; t < 16; ++t) a.data()[t] = operands.a(t / 4, t % 4);
      a(i, l) *= 2;
      operands.a = std::as_const(a).view();
      const auto claims = check_certificate(one.record().dump(), operands, c.view()).claims;
      EXPECT_TRUE(std::any_of(claims.begin(), claims.end(), [](const auto& x) { return x.claim == "complex" && !x.holds; }));
    }
  auto operands = copies.operands();
  operands.a = operands.a.block(0, 0, 4, 3), operands.b = operands.b.block(0, 0, 3, 2);
  EXPECT_FALSE(check_certificate(one.record().dump(), operands, c.view()).holds());
}

TEST(ComplexCertificate, ImaginaryPartsAreNotForgotten) {
  const auto wide = generate_complex({Family::wide_exponents, 4, 3, 5, 2, 2});
  const auto one = certified(prepared("turned", wide, turned), Target::dgemm(), Method::exact);
  auto record = one.record();
  ASSERT_TRUE(record.contains("imaginary"));
  record.erase("imaginary");
  EXPECT_THAT(rejections(one, resealed(record)), testing::Contains(testing::StartsWith("imaginary.alpha: ")));
  record["imaginary"] = {{"alpha", -1.7}};
  EXPECT_THAT(rejections(one, resealed(record)), testing::ElementsAre("certificate: 'imaginary.beta' is missing"));
}

/// A flipped last bit in one part is found, in either row of the pair.
TEST(ComplexCertificate, AWrongPartIsFound) {
  const auto wide = generate_complex({Family::wide_exponents, 4, 3, 5, 2, 2});
  for (const auto& scalars : {real_scalars, turned, imaginary})
    for (const bool part : {false, true}) {
      auto one = certified(prepared("cr", wide, scalars), Target::correctly_rounded(), Method::correctly_rounded, fine);
      auto& entry = one.c(2, 1);
      entry =
          part ? Number{entry.real(), std::nextafter(entry.imag(), 0)} : Number{std::nextafter(entry.real(), 0), entry.imag()};
      const std::string place = part ? "(2, 1), imaginary part: " : "(2, 1), real part: ";
      const auto failed = rejections(one, one.record());
      EXPECT_THAT(failed, testing::Contains(testing::StartsWith("c: entry " + place)));
      EXPECT_THAT(failed, testing::Contains(testing::StartsWith("target: entry " + place)));
      EXPECT_THAT(failed, testing::Contains(testing::StartsWith("fingerprints.c: ")));
    }
}

/// A special C0 does not hide a ratio: ratios are those of A B, and one of the entry's two parts is the worst.
TEST(ComplexCertificate, ASpecialC0HidesNoRatio) {
  for (const bool part : {false, true}) {
    auto one = prepared("1 x 1", generate_complex({Family::uniform, 1, 1, 9, 0, 4}), {{0.3, -1.7}, {2, 0}});
    one.c0(0, 0) = part ? Number{1, nan} : Number{nan, 1};
    one = certified(one, Target::dgemm(), Method::one_plan, "balanced:6x6:cut=7:exact");
    EXPECT_THAT(rejections(one, one.record()), testing::IsEmpty());
  }
}

TEST(ComplexCertificate, AnotherProductIsFound) {
  const auto wide = generate_complex({Family::wide_exponents, 4, 3, 5, 2, 2});
  const auto one = certified(prepared("turned", wide, turned), Target::dgemm(), Method::one_plan, fine);
  auto other = one;
  other.alpha = std::conj(other.alpha);
  EXPECT_THAT(rejections(other, one.record()), testing::Contains(testing::StartsWith("imaginary.alpha: ")));
  other = one, other.beta = std::conj(other.beta);
  EXPECT_THAT(rejections(other, one.record()), testing::Contains(testing::StartsWith("imaginary.beta: ")));
  other = one, other.adjoint_a = !one.adjoint_a;
  EXPECT_THAT(rejections(other, one.record()), testing::Contains(testing::StartsWith("fingerprints.a: ")));
  other = one, other.c0(0, 0) = std::conj(other.c0(0, 0));
  EXPECT_THAT(rejections(other, one.record()), testing::Contains(testing::StartsWith("fingerprints.c0: ")));
}

}  // namespace
}  // namespace ozbound::complex_certificate_test
