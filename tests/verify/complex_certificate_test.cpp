// Certificates of complex products are confirmed by a second program, and altered in any member they are not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/complex_operands.hpp"
#include "ozbound/verify/complex_problem.hpp"

#include "ozbound/bounds/complex_gemm.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "support/classified.hpp"

namespace ozbound {
namespace {

using nlohmann::json;
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

  [[nodiscard]] ComplexGemmCall call() {
    const ComplexInputView stored(problem.a);
    const auto output = narrow ? ComplexOutputView(narrow_c) : ComplexOutputView(c);
    return {adjoint_a ? stored.conjugate() : stored, problem.b, output, alpha, beta, c0};
  }

  [[nodiscard]] json record() const { return json::parse(to_json(certificate).dump()); }

  [[nodiscard]] CertificateCheck check(const json& record, const EntrySelection& selection = EntrySelection::all()) const {
    const ComplexOperands operands({problem.a.view(), adjoint_a}, {problem.b.view()}, alpha, beta, c0.view());
    const auto result = narrow ? std::make_unique<ComplexResult>(narrow_c.view()) : std::make_unique<ComplexResult>(c.view());
    return check_certificate(record.dump(), operands.operands(), result->view(), {selection, {}});
  }
};

struct Scalars {
  Number alpha = 1, beta = 0;
};

Certified prepared(std::string name, ComplexProblem problem, const Scalars& scalars, bool narrow = false) {
  const Index m = problem.a.rows(), n = problem.b.cols();
  Certified one{std::move(name), std::move(problem), {m, n}, {m, n},     {m, n},
                scalars.alpha,   scalars.beta,       narrow, m % 2 == 0, {}};
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) one.c0(i, j) = {0.1 * static_cast<double>(i - 2 * j), 0.7 - static_cast<double>(j)};
  return one;
}

/// Under this method and plan.
Certified certified(Certified one, const Target& target, Method method, const char* plan = nullptr) {
  const auto call = one.call();
  Decision decision{target, method, {}, 2 * call.m(), call.n(), 2 * call.k(), 0, 0, {}, {}};
  if (plan != nullptr) decision.plan = parse_plan(plan);
  one.certificate = gemm(call, decision, engine());
  return one;
}

std::string seal_of(json certificate) {
  certificate.erase("seal");
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : certificate.dump()) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

json resealed(json certificate) {
  certificate["seal"] = seal_of(certificate);
  return certificate;
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

/// Every method and kind of target, scalars of every kind, special entries, both formats.
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
          add("slices", target, Method::slices, fine), add("exact", target, Method::exact);
        for (const auto* plan : {"balanced:1x1:full:exact", fine, "nearest5:9x9:cut=10:per_product"}) {
          add("cr", Target::correctly_rounded(), Method::correctly_rounded, plan);
          add("relative", Target::relative(1e-10), Method::slices, plan);
        }
        add("too coarse", Target::dgemm(), Method::slices, "truncated7:2x3:cut=4:per_diagonal");
        add("cr by a plan", Target::correctly_rounded(), Method::slices, "balanced:3x3:full:exact");
        list.push_back(certified(prepared("binary32", *problem, scalars, true), Target::dgemm(), Method::slices,
                                 "balanced:4x4:cut=5:exact"));
        list.push_back(certified(prepared("binary32 cr", *problem, scalars, true), Target::correctly_rounded(),
                                 Method::correctly_rounded, "balanced:2x2:full:exact"));
      }
    auto c0_special = prepared("C0 special in one part", wide, turned);
    c0_special.beta = {2, 0}, c0_special.c0(0, 0) = {1, nan}, c0_special.c0(1, 1) = {inf, 1};
    list.push_back(certified(c0_special, Target::dgemm(), Method::slices, fine));
    list.push_back(certified(c0_special, Target::correctly_rounded(), Method::correctly_rounded, "balanced:1x1:full:exact"));
    list.push_back(certified(c0_special, Target::correctly_rounded(), Method::exact));
    for (const Number scalar : {Number{inf, 1}, Number{1, nan}})
      for (const bool of_beta : {false, true})
        list.push_back(certified(prepared("special scalar", wide, of_beta ? Scalars{{0, 1}, scalar} : Scalars{scalar, 1}),
                                 Target::dgemm(), Method::slices, fine));
    list.push_back(certified(prepared("alpha 0", wide, {0, {0, 3}}), Target::dgemm(), Method::slices, fine));
    const auto no_terms = generate_complex({Family::uniform, 2, 3, 0, 0, 0});
    list.push_back(certified(prepared("no terms", no_terms, {{nan, 2}, {1, 1}}), Target::dgemm(), Method::slices, fine));
    const auto nothing = generate_complex({Family::uniform, 0, 3, 2, 0, 0});
    list.push_back(certified(prepared("nothing", nothing, turned), Target::dgemm(), Method::slices, fine));
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
      const auto call = one.call();
      one.certificate = gemm(call, decide(call, target, engine()), engine());
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

/// Members that say something of these scalars, each changed alone and sealed again.
TEST(ComplexCertificate, AnAlteredNumberIsFound) {
  const auto wide = generate_complex({Family::wide_exponents, 4, 3, 5, 2, 2});
  for (const auto& scalars : {real_scalars, turned})
    for (const auto* method : {"slices", "correctly_rounded"}) {
      const bool slices = method == std::string("slices");
      const auto one =
          certified(prepared(method, wide, scalars), slices ? Target::componentwise(1e-11) : Target::correctly_rounded(),
                    slices ? Method::slices : Method::correctly_rounded, slices ? fine : "balanced:4x4:full:exact");
      ASSERT_THAT(rejections(one, one.record()), testing::IsEmpty());
      const auto altered = [&](const char* pointer, const json& value) {
        auto record = one.record();
        const json::json_pointer place(pointer);
        EXPECT_NE(record.value(place, json()), value) << pointer;
        record[place] = value;
        return rejections(one, resealed(record));
      };
      const auto& certificate = one.certificate;
      EXPECT_THAT(altered("/ratio", std::nextafter(certificate.ratio, 0)), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/largest_bound", std::nextafter(certificate.largest_bound, 0)), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/undecided_entries", certificate.undecided + 2), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/exact_entries", certificate.exact + 2), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/m", certificate.m / 2), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/alpha", 2.0), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/bound/alpha", 3.0), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/bound/source", "none"), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/imaginary", {{"alpha", 0.0}, {"beta", 0.0}}), testing::Not(testing::IsEmpty()));
      EXPECT_THAT(altered("/imaginary", {{"alpha", 1.0}, {"beta", 2.0}}), testing::Not(testing::IsEmpty()));
    }
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

/// One bit of one part, in either row of the pair.
TEST(ComplexCertificate, AWrongPartIsFound) {
  const auto wide = generate_complex({Family::wide_exponents, 4, 3, 5, 2, 2});
  for (const auto& scalars : {real_scalars, turned, imaginary})
    for (const bool part : {false, true}) {
      auto one = certified(prepared("cr", wide, scalars), Target::correctly_rounded(), Method::correctly_rounded, fine);
      auto& entry = one.c(2, 1);
      entry =
          part ? Number{entry.real(), std::nextafter(entry.imag(), 0)} : Number{std::nextafter(entry.real(), 0), entry.imag()};
      const std::string place = part ? "(5, 1)" : "(4, 1)";
      const auto failed = rejections(one, one.record());
      EXPECT_THAT(failed, testing::Contains(testing::StartsWith("c: entry " + place)));
      EXPECT_THAT(failed, testing::Contains(testing::StartsWith("target: entry " + place)));
      EXPECT_THAT(failed, testing::Contains(testing::StartsWith("fingerprints.c: ")));
    }
}

TEST(ComplexCertificate, AnotherProductIsFound) {
  const auto wide = generate_complex({Family::wide_exponents, 4, 3, 5, 2, 2});
  const auto one = certified(prepared("turned", wide, turned), Target::dgemm(), Method::slices, fine);
  auto other = one;
  other.alpha = std::conj(other.alpha);
  EXPECT_THAT(rejections(other, one.record()), testing::Contains(testing::StartsWith("imaginary.alpha: ")));
  other = one, other.adjoint_a = !one.adjoint_a;
  EXPECT_THAT(rejections(other, one.record()), testing::Contains(testing::StartsWith("fingerprints.a: ")));
  other = one, other.c0(0, 0) = std::conj(other.c0(0, 0));
  EXPECT_THAT(rejections(other, one.record()), testing::Contains(testing::StartsWith("fingerprints.c0: ")));
}

}  // namespace
}  // namespace ozbound
