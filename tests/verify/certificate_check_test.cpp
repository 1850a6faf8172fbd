// SPDX-License-Identifier: BSD-3-Clause
// A second program confirms certificates of every method and target, and rejects them if any member is altered.

#include "bounds/products.hpp"
#include "verify/altered_certificates.hpp"

#include "ozbound/bounds/detail/search_assumption.hpp"
#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/core/fingerprint.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "ozbound/verify/reference_product.hpp"

#include "certificate/base64.hpp"
#include "certificate/entry_products.hpp"
#include "certificate/work.hpp"
#include "support/plain_gemm.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

namespace ozbound::certificate_check_test {
namespace {

using nlohmann::json;
using test::alterations;
using test::is_premise;
using test::is_refusal;
using test::is_same_target;
using test::names;
using test::resealed;
using test::SampleProduct;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

/// A certified product and the way it was made.
struct Certified {
  std::string name;
  SampleProduct product;
  test::Computed computed;

  [[nodiscard]] json certificate() const { return json::parse(to_json(computed.certificate).dump()); }
  [[nodiscard]] CertificateCheck check(const json& certificate, const CertificateCheckOptions& options = {}) const {
    return check_certificate(certificate.dump(), product.operands(), computed.c.view(), options);
  }
};

Certified certified(std::string name, const SampleProduct& product, const Target& target, Method method,
                    const char* plan = nullptr, double workspace = unlimited_workspace) {
  static const test::PlainGemm native;
  Decision decision{target, method, {}, product.m(), product.n(), product.k(), 0, 0, {}, {}};
  if (plan != nullptr) decision.plan = parse_plan(plan);
  return {std::move(name), product, test::compute_with(product, decision, {engine(), &native}, {.workspace = workspace})};
}

SampleProduct with_scalars(SampleProduct product, double alpha, double beta) {
  product.alpha = alpha, product.beta = beta;
  product.c0 = Matrix<double>(product.m(), product.n());
  for (Index i = 0; i < product.m(); ++i)
    for (Index j = 0; j < product.n(); ++j) product.c0(i, j) = 0.1 * static_cast<double>(i - 2 * j);
  return product;
}

SampleProduct narrow(SampleProduct product) {
  product.narrow = true;
  return product;
}

/// Three entries that two slices round to infinity (two of them finite, one not), and other entries.
SampleProduct near_overflow(bool is_narrow) {
  const double largest = is_narrow ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
  auto product = test::product_of(test::matrix_of(2, 2, {largest, -largest * 0x1p-40, 3, 1}),
                                  test::matrix_of(2, 3, {1, -1, 2, 0.5, 0, 0}));
  product.narrow = is_narrow;
  product.alpha = -1, product.beta = 1, product.c0 = Matrix<double>(2, 3);
  return product;
}

SampleProduct with_specials(SampleProduct product) {
  product.problem.a(1, 0) = nan;
  product.problem.b(0, 1) = -inf;
  return product;
}

/// Adds plans by residues: few and many moduli, bits below those of norms and of level 1, exact operands.
template <class Add>
void add_residues(const Add& add, const SampleProduct& uniform, const SampleProduct& wide, const SampleProduct& scaled,
                  const SampleProduct& special, const SampleProduct& subnormal, const SampleProduct& integers) {
  for (const auto& target :
       {Target::dgemm(), Target::dgemm_typical(), Target::componentwise(1e-12), Target::rowcol(1e-13), Target::normwise(3e-14)})
    for (const auto* product : {&uniform, &wide, &scaled, &special})
      add("residues " + to_string(target), *product, target, Method::one_plan, "residues:14:50x51");
  for (const auto* const plan : {"residues:2:2x3", "residues:3:7x6", "residues:5:15x16", "residues:20:70x71"}) {
    if (plan != std::string("residues:20:70x71"))  // with this plan nothing is rounded, so other bits make the same C
      add("residues coarse", wide, Target::componentwise(1e-3), Method::one_plan, plan);
    add("residues cr", uniform, Target::correctly_rounded(), Method::correctly_rounded, plan);
    add("residues cr scaled", scaled, Target::correctly_rounded(), Method::correctly_rounded, plan);
    add("residues cr special", special, Target::correctly_rounded(), Method::correctly_rounded, plan);
    add("residues relative", wide, Target::relative(1e-10), Method::one_plan, plan);
    add("residues relative special", special, Target::relative(1e-3), Method::one_plan, plan);
  }
  add("residues subnormal", subnormal, Target::dgemm(), Method::one_plan, "residues:13:46x47");
  add("residues cr by a plan", integers, Target::correctly_rounded(), Method::one_plan, "residues:10:36x36");
  add("residues cr not by a plan", uniform, Target::correctly_rounded(), Method::one_plan, "residues:10:36x36");
  add("residues binary32", narrow(scaled), Target::dgemm(), Method::one_plan, "residues:8:28x28");
  add("residues binary32 cr", narrow(subnormal), Target::correctly_rounded(), Method::correctly_rounded, "residues:4:13x13");
  constexpr const char* fine = "residues:13:46x47";
  add("residues, blocks", wide, Target::dgemm(), Method::one_plan, fine, least_workspace(engine(), parse_plan(fine), 6));
  add("residues, alpha 0", with_scalars(uniform, 0, 0.3), Target::dgemm(), Method::one_plan, fine);
  add("residues, alpha infinite", with_scalars(uniform, inf, 0.3), Target::dgemm(), Method::one_plan, fine);
  add("residues, overflow", near_overflow(false), Target::componentwise(1e-3), Method::one_plan, "residues:4:13x13");
  add("residues, no terms", test::product_of(Matrix<double>(2, 0), Matrix<double>(0, 2)), Target::dgemm(), Method::one_plan,
      fine);
}

/// Certificates of every method with every kind of target that it can have, and of difficult inputs.
const std::vector<Certified>& all_certified() {
  static const std::vector<Certified> all = [] {
    const auto uniform = test::product_of({Family::uniform, 3, 4, 5, 0, 1});
    const auto wide = test::product_of({Family::wide_exponents, 4, 3, 6, 2, 2});
    const auto graded = test::product_of({Family::graded_inner, 3, 3, 40, 4, 3});
    const auto subnormal = test::product_of({Family::subnormal, 4, 4, 3, 0, 4});
    const auto scaled = with_scalars(uniform, -0x1.8p-10, 1.3);
    const auto special = with_specials(with_scalars(uniform, 0.7, -1));
    const auto integers = test::product_of({Family::integers, 3, 3, 4, 0, 6});
    constexpr const char* fine = "balanced:7x7:cut=8:exact";
    std::vector<Certified> list;
    const auto add = [&list](auto&&... arguments) { list.push_back(certified(arguments...)); };
    for (const auto& target : {Target::dgemm(), Target::dgemm_typical(), Target::componentwise(1e-12), Target::rowcol(1e-13),
                               Target::normwise(3e-14)})
      for (const auto* product : {&uniform, &wide, &scaled, &special}) {
        add("slices " + to_string(target), *product, target, Method::one_plan, fine);
        add("exact " + to_string(target), *product, target, Method::exact);
        add("native " + to_string(target), *product, target, Method::native);
      }
    add("graded, level 3", graded, Target::dgemm(), Method::one_plan, "balanced:12x12:cut=13:exact");
    add("graded, level 3, typical", graded, Target::dgemm_typical(), Method::one_plan, "balanced:12x12:cut=13:exact");
    add("graded norm", graded, Target::normwise(1e-10), Method::one_plan, fine);
    add("subnormal", subnormal, Target::dgemm(), Method::one_plan, fine);
    add("subnormal native", subnormal, Target::dgemm(), Method::native);
    add("subnormal norm", subnormal, Target::normwise(1e-10), Method::one_plan, fine);
    add("per product", wide, Target::componentwise(1e-9), Method::one_plan, "truncated7:6x7:cut=9:per_product");
    add("per diagonal", scaled, Target::componentwise(1e-9), Method::one_plan, "nearest6:6x7:full:per_diagonal");
    add("ozimmu", wide, Target::componentwise(1e-5), Method::one_plan, "ozimmu7:6x7:cut=8:exact");
    add("mixed", scaled, Target::componentwise(1e-9), Method::one_plan, "truncated7,nearest7:6x7:cut=8:exact");
    add("too coarse", wide, Target::dgemm(), Method::one_plan, "balanced:2x2:cut=3:exact");
    add("below u", uniform, Target::componentwise(1e-17), Method::one_plan, fine);
    add("cr by a plan", integers, Target::correctly_rounded(), Method::one_plan, "balanced:20x20:full:exact");
    add("cr not by a plan", uniform, Target::correctly_rounded(), Method::one_plan, fine);
    for (const auto* plan : {"balanced:1x1:full:exact", fine, "nearest5:9x9:cut=10:per_product"}) {
      add("cr", uniform, Target::correctly_rounded(), Method::correctly_rounded, plan);
      add("cr scaled", scaled, Target::correctly_rounded(), Method::correctly_rounded, plan);
      add("cr special", special, Target::correctly_rounded(), Method::correctly_rounded, plan);
      add("cr wide", wide, Target::correctly_rounded(), Method::correctly_rounded, plan);
      add("cr subnormal", subnormal, Target::correctly_rounded(), Method::correctly_rounded, plan);
      add("relative", wide, Target::relative(1e-10), Method::one_plan, plan);
      add("relative scaled", scaled, Target::relative(1e-10), Method::one_plan, plan);
      add("relative special", special, Target::relative(1e-3), Method::one_plan, plan);
    }
    add("cr of ties far above AB", with_scalars(subnormal, -1.5, 0.75), Target::correctly_rounded(), Method::correctly_rounded,
        fine);
    add("cr, no finer plan", uniform, Target::correctly_rounded(), Method::correctly_rounded, "balanced:20x20:cut=21:exact");
    add("refined to less than cr", uniform, Target::componentwise(1e-10), Method::correctly_rounded, fine);
    add("exact cr", special, Target::correctly_rounded(), Method::exact);
    add("exact relative", wide, Target::relative(1e-10), Method::exact);
    add("binary32", narrow(scaled), Target::dgemm(), Method::one_plan, "balanced:4x4:cut=5:exact");
    add("binary32 cr", narrow(subnormal), Target::correctly_rounded(), Method::correctly_rounded, "balanced:2x2:full:exact");
    add("binary32 relative", narrow(wide), Target::relative(1e-5), Method::one_plan, "balanced:2x2:full:exact");
    add("binary32 exact", narrow(special), Target::rowcol(2e-3), Method::exact);
    add("blocks", wide, Target::dgemm(), Method::one_plan, fine, least_workspace(engine(), parse_plan(fine), 6));
    add("alpha 0", with_scalars(uniform, 0, 0.3), Target::dgemm(), Method::one_plan, fine);
    add("alpha infinite", with_scalars(uniform, inf, 0.3), Target::dgemm(), Method::one_plan, fine);
    add("beta NaN", with_scalars(uniform, 1, nan), Target::correctly_rounded(), Method::native);
    add("alpha least", with_scalars(uniform, 0x1p-1074, 0), Target::dgemm(), Method::one_plan, fine);
    add("overflow", with_scalars(uniform, 0x1.8p1023, 0x1p1020), Target::dgemm(), Method::one_plan, fine);
    for (const bool is_narrow : {false, true})
      for (const auto& target : {Target::componentwise(1e-3), Target::normwise(1e-3), Target::correctly_rounded()}) {
        add("finished", near_overflow(is_narrow), target, Method::one_plan, "balanced:2x2:full:exact");
        add("finished, per product", near_overflow(is_narrow), target, Method::one_plan, "nearest7:2x2:full:per_product");
      }
    add("relative near overflow", near_overflow(false), Target::relative(1e-3), Method::one_plan, "balanced:2x2:full:exact");
    add("cr near overflow", near_overflow(true), Target::correctly_rounded(), Method::correctly_rounded, fine);
    add("native overflow", with_scalars(uniform, 0x1.8p1023, 0x1p1020), Target::dgemm(), Method::native);
    add_residues(add, uniform, wide, scaled, special, subnormal, integers);
    add("no terms", with_scalars(test::product_of(Matrix<double>(2, 0), Matrix<double>(0, 2)), nan, 1), Target::dgemm(),
        Method::one_plan, fine);
    add("nothing", test::product_of(Matrix<double>(0, 2), Matrix<double>(2, 3)), Target::dgemm(), Method::one_plan, fine);
    return list;
  }();
  return all;
}

std::string schema() { return all_certified().front().certificate()["schema"]; }

/// The claims that fail, or the refusal if the text is no certificate.
std::vector<std::string> rejections(const Certified& certified, const json& certificate) {
  std::vector<std::string> failed;
  try {
    for (const auto& claim : certified.check(certificate).claims)
      if (!claim.holds) failed.push_back(claim.claim + ": " + claim.finding);
  } catch (const std::invalid_argument& refusal) {
    failed.emplace_back(refusal.what());
  }
  return failed;
}

TEST(CertificateCheck, ConfirmsWhatTheEngineCertifies) {
  for (const auto& one : all_certified())
    EXPECT_THAT(rejections(one, one.certificate()), testing::IsEmpty()) << one.name << ": " << one.product.describe() << '\n'
                                                                        << one.certificate().dump(1);
}

/// The check confirms the decisions of `decide` for any family, scalars and format. A number rounded differently by the second
/// implementation shows in this test.
TEST(CertificateCheck, ConfirmsWhatIsDecided) {
  test::RandomBits random(7);
  for (const auto family : all_families())
    for (const auto& target : {Target::dgemm(), Target::dgemm_typical(), Target::componentwise(1e-5), Target::rowcol(1e-6),
                               Target::normwise(1e-6), Target::relative(1e-5), Target::correctly_rounded()}) {
      const auto product = test::sample_product(test::sample_recipe(family, 0.5 * random.between(0, 6), 6, random), random);
      const auto decision = test::decide_for(product, target, engine());
      const Certified one{"decided", product, test::compute_with(product, decision, engine())};
      EXPECT_THAT(rejections(one, one.certificate()), testing::IsEmpty())
          << to_string(target) << ": " << product.describe() << '\n'
          << one.certificate().dump(1);
    }
}

/// The check confirms the typical target for every inner dimension. The ratio contains tau, so a different rounding of tau
/// shows in its last bits.
TEST(CertificateCheck, ConfirmsTheTypicalTargetOfEveryInnerDimension) {
  for (Index k = 0; k <= 300; ++k) {
    auto product = test::product_of({Family::uniform, 1, 1, k, 0, 1});
    product.narrow = k % 3 == 0;
    const Certified one{"typical", product, test::compute(product, Target::dgemm_typical(), engine())};
    EXPECT_THAT(rejections(one, one.certificate()), testing::IsEmpty()) << k << '\n' << one.certificate().dump(1);
  }
}

TEST(CertificateCheck, ConfirmsEveryEncoding) {
  const auto uniform = test::product_of({Family::uniform, 3, 4, 5, 0, 1});
  const auto wide = with_scalars(test::product_of({Family::wide_exponents, 4, 3, 6, 2, 2}), -0.3, 7);
  for (const auto& encoding : all_encodings())
    for (const std::string accumulation : {"exact", "per_product", "per_diagonal"}) {
      if (!encoding.common_ratio() && accumulation != "per_product") continue;
      const auto plan = to_string(encoding) + ":5x6:cut=7:" + accumulation;
      for (const auto* const product : {&uniform, &wide}) {
        const auto one = certified("encoding", *product, Target::normwise(1e-6), Method::one_plan, plan.c_str());
        EXPECT_THAT(rejections(one, one.certificate()), testing::IsEmpty()) << plan << '\n' << one.certificate().dump(1);
      }
    }
}

TEST(CertificateCheck, ConfirmsInnerDimensionsOfSeveralBlocks) {
  for (const Index k : {1023, 1024, 1025, 2100}) {
    const auto product = test::product_of({Family::wide_exponents, 2, 3, k, 2, 9});  // the enclosure needs its second level
    for (const auto& target : {Target::dgemm(), Target::normwise(1e-12)}) {
      const auto one = certified("long", product, target, Method::one_plan, "balanced:8x8:cut=9:exact");
      EXPECT_THAT(rejections(one, one.certificate()), testing::IsEmpty()) << k;
    }
  }
}

TEST(CertificateCheck, RejectsEveryAlteredMember) {
  for (const auto& one : all_certified())
    for (const auto& altered : alterations(one.certificate())) {
      if (altered.certificate == one.certificate()) continue;  // null for null
      const auto failed = rejections(one, altered.certificate);
      EXPECT_TRUE(is_refusal(failed) ? names(failed, altered.member) : names(failed, "seal"))
          << one.name << ", " << altered.member << ": " << altered.how << ": " << testing::PrintToString(failed);
    }
}

/// True if integers of the given bits represent the vectors exactly, each up to a power of two.
bool holds_exactly(MatrixView<const double> vectors, int bits) {
  const reference::RoundedVectors rounded(vectors, bits);
  for (Index i = 0; i < rounded.count(); ++i)
    if (!rounded.exact(i)) return false;
  return true;
}

/// True if the original first plan and the altered one are by residues and round alike: where their bits differ, the operand is
/// exact in both.
bool round_alike(const Certified& one, const nlohmann::json& altered) {
  const auto plan_of = [](const nlohmann::json& certificate) -> std::optional<reference::ResiduePlan> {
    const auto plan = reference::parse_plan(certificate["plans"].at(0).get<std::string>());
    const auto* const residues = std::get_if<reference::ResiduePlan>(&plan);
    return residues == nullptr ? std::nullopt : std::optional(*residues);
  };
  const auto plan = plan_of(one.certificate()), other = plan_of(altered);
  if (!plan || !other) return false;
  if (one.product.alpha == 0) return true;  // alpha = 0 reads neither operand
  const auto alike = [](MatrixView<const double> vectors, int x, int y) {
    return x == y || (holds_exactly(vectors, x) && holds_exactly(vectors, y));
  };
  return alike(one.product.problem.a.view(), plan->bits_a, other->bits_a) &&
         alike(one.product.problem.b.view().transposed(), plan->bits_b, other->bits_b);
}

/// True if the moduli of all plans by residues hold the product, computed in integers.
bool are_held(const Certified& one, const nlohmann::json& altered) {
  if (one.product.alpha == 0) return true;
  const auto operands = one.product.operands();
  for (const auto& text : altered["plans"]) {
    const auto plan = reference::parse_plan(text.get<std::string>());
    if (!std::holds_alternative<reference::ResiduePlan>(plan)) continue;
    const reference::ResidueProduct product(operands, std::get<reference::ResiduePlan>(plan));
    for (Index i = 0; i < one.product.m(); ++i)
      for (Index j = 0; j < one.product.n(); ++j)
        if (!product.held(i, j)) return false;
  }
  return true;
}

/// True if the alteration is another true statement about the product, so that only the seal reveals it.
bool still_true(const Certified& one, const test::Alteration& altered) {
  const auto& certificate = one.computed.certificate;
  const bool ran_native = !certificate.native.empty();
  const bool refined = certificate.method == Method::correctly_rounded || certificate.target.kind == Target::Kind::relative;
  if (altered.member == "native") return ran_native;  // any name of a library
  // C and its bound do not depend on the moduli (residues.md, R12): any moduli that hold the product are valid.
  if (altered.member == "plans" && altered.how == test::other_moduli) return are_held(one, altered.certificate);
  // C and its bound do not depend on the bits of an operand that both plans hold exactly either.
  if (altered.member == "plans" && !altered.certificate["plans"].empty() && round_alike(one, altered.certificate))
    return are_held(one, altered.certificate);
  // The next plan is the same after either of the two, and both leave all entries to it.
  if (altered.member == "plans" && altered.how == test::bits_exchanged) return refined;
  // The last plan left open the same entries as those before it; or every plan would leave none open.
  if (altered.member == "plans") return refined && (altered.how == "element less" || certificate.undecided == 0);
  if (altered.member == "target")
    return is_same_target(certificate, altered) || (certificate.ratio == 1 && altered.how == "cr") ||
           (ran_native && certificate.ratio == inf);  // a rounding; no claim
  // Only the rounding remains. Any method does it if all entries are special, and `exact` does it if its plans left no entry.
  return altered.member == "method" && certificate.plans.empty() && !ran_native;
}

TEST(CertificateCheck, RejectsWhatIsNotSoEvenUnderASeal) {
  std::set<std::string> rejected, premises_named;
  for (const auto& one : all_certified()) {
    ASSERT_EQ(resealed(one.certificate()), one.certificate()) << "the seal is what records.md says";
    for (const auto& altered : alterations(one.certificate())) {
      if (altered.certificate == one.certificate() || altered.member == "seal") continue;
      const auto failed = rejections(one, resealed(altered.certificate));
      const auto what = one.name + ", " + altered.member + ": " + altered.how + ": " + testing::PrintToString(failed);
      if (failed.empty()) {
        EXPECT_TRUE(still_true(one, altered)) << what << '\n' << one.certificate().dump(1);
        continue;
      }
      EXPECT_FALSE(names(failed, "seal")) << what;
      EXPECT_TRUE(names(failed, altered.member) || is_premise(altered.member)) << what;
      if (is_premise(altered.member) && names(failed, altered.member)) premises_named.insert(altered.member);
      rejected.insert(altered.member);
    }
  }
  EXPECT_THAT(premises_named, testing::ElementsAre("method", "plans", "target"));
  const auto members = all_certified().front().certificate().flatten();
  for (const auto& [path, value] : members.items()) {
    const auto last = path.rfind('/');
    const bool element = last > 0 && std::isdigit(static_cast<unsigned char>(path[last + 1])) != 0;
    auto member = path.substr(1, element ? last - 1 : path.npos);
    std::replace(member.begin(), member.end(), '/', '.');
    EXPECT_TRUE(rejected.contains(member) || member == "seal") << member << " was never altered";
  }
}

TEST(CertificateCheck, TakesWhatASearchMayAssume) {
  int searches = 0, none = 0;
  for (const auto& one : all_certified()) {
    auto certificate = one.computed.certificate;
    const auto check = [&](const char* assumed) {
      certificate.assumed_in_search = assumed;
      return one.check(json::parse(to_json(certificate).dump()));
    };
    const bool all_special = (certificate.k > 0 && !std::isfinite(certificate.alpha)) || !std::isfinite(certificate.beta);
    const bool by_entry = certificate.target.kind == Target::Kind::dgemm ||
                          certificate.target.kind == Target::Kind::dgemm_typical ||
                          certificate.target.kind == Target::Kind::componentwise;
    const bool by_slices = !all_special && certificate.method == Method::one_plan && certificate.alpha != 0;
    const bool above_u = !certificate.target.has_tau() || certificate.target.tau >= 0x1p-53;
    const auto levels = [&] { return enclose_product(one.product.problem.a, one.product.problem.b, engine()).levels; };
    const bool searched = by_slices && by_entry && above_u && levels() > 1;
    EXPECT_EQ(check(assumed_of_tensor_cores).holds(), searched) << one.name;
    EXPECT_FALSE(check("tensor cores do not round").holds()) << one.name;
    (searched ? searches : none) += 1;
  }
  EXPECT_GT(searches, 1);
  EXPECT_GT(none, 20);
}

/// 65 equal columns, so that ties end in the second chunk of columns, and 63 others, with a tiny C0.
SampleProduct with_ties_beside_a_tiny_c0(std::uint64_t seed) {
  RandomStream random(seed);
  const auto above = [&random](double least, double width) { return least + width * std::abs(random.signed_unit()); };
  Matrix<double> a(1, 16), b(16, 128);
  for (Index l = 0; l < 16; ++l) {
    a(0, l) = above(1, 1);
    const double equal = l == 0 ? 1.9 : above(1, 0.05);
    for (Index j = 0; j < 128; ++j) b(l, j) = j < 65 ? equal : above(1.6, 0.25);
  }
  auto product = test::product_of(std::move(a), std::move(b));
  product.beta = 1, product.c0 = Matrix<double>(1, 128);
  for (Index j = 0; j < 128; ++j) product.c0(0, j) = 1e-300;
  return product;
}

// (E4): the number before x is the least sum of x and a C0 that is rounded down.
TEST(CertificateCheck, TheWorstEntryIsFoundBesideATinyC0) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto one = certified("ties", with_ties_beside_a_tiny_c0(seed), Target::componentwise(1e-5), Method::one_plan,
                               "balanced:3x3:cut=4:exact");
    EXPECT_THAT(rejections(one, one.certificate()), testing::IsEmpty()) << seed;
    EXPECT_EQ(one.computed.certificate.worst_j, 0) << seed;
  }
}

/// The text with its first `"name":VALUE` inserted a second time at that place.
std::string with_twice(const std::string& text, const std::string& name, const json& value) {
  const auto member = "\"" + name + "\":" + value.dump();
  auto changed = text;
  return changed.insert(changed.find(member), member + ",");
}

TEST(CertificateCheck, ReadsNoMemberTwice) {
  const auto& one = all_certified().front();
  const auto certificate = one.certificate();
  const auto expect_refusal = [&](const std::string& name, const json& value) {
    const auto text = with_twice(certificate.dump(), name, value);
    try {
      check_certificate(text, one.product.operands(), one.computed.c.view());
      ADD_FAILURE() << name << " is accepted twice";
    } catch (const std::invalid_argument& refusal) {
      EXPECT_EQ(refusal.what(), "certificate: '" + name + "' is there twice");
    }
  };
  for (const auto& [name, value] : certificate.items()) {
    expect_refusal(name, value);
    if (!value.is_object()) continue;
    for (const auto& [inner, inner_value] : value.items()) expect_refusal(inner, inner_value);
  }
}

TEST(CertificateCheck, RejectsWhatBelongsToAnotherProduct) {
  constexpr const char* plan = "balanced:7x7:cut=8:exact";
  const auto target = Target::componentwise(1e-10);
  const auto one = certified("one", test::product_of({Family::uniform, 3, 3, 3, 0, 1}), target, Method::one_plan, plan);
  const auto other = certified("other", test::product_of({Family::uniform, 3, 3, 3, 0, 2}), target, Method::one_plan, plan);
  const auto failed = [&one](const SampleProduct& product, const Certified& with_c) {
    std::set<std::string> claims;
    for (const auto& claim : check_certificate(one.certificate().dump(), product.operands(), with_c.computed.c.view()).claims)
      if (!claim.holds) claims.insert(claim.claim);
    return claims;
  };
  EXPECT_THAT(failed(one.product, one), testing::IsEmpty());
  EXPECT_THAT(failed(one.product, other), testing::IsSupersetOf({"fingerprints.c", "c", "bound", "target"}));
  EXPECT_THAT(failed(other.product, one), testing::IsSupersetOf({"fingerprints.a", "fingerprints.b", "c", "bound"}));
  EXPECT_THAT(failed(other.product, other), testing::IsSupersetOf({"fingerprints.a", "fingerprints.b", "fingerprints.c"}));
  auto swapped = one.product;
  std::swap(swapped.problem.a, swapped.problem.b);
  EXPECT_THAT(failed(swapped, one), testing::IsSupersetOf({"fingerprints.a", "fingerprints.b", "c", "bound"}));
}

/// The guard refuses moduli whose product is too small, in a record that is otherwise true.
TEST(CertificateCheck, RefusesModuliThatDoNotHoldTheProduct) {
  const auto one = certified("one", test::product_of({Family::uniform, 3, 4, 60, 0, 8}), Target::componentwise(1e-3),
                             Method::one_plan, "residues:8:28x28");
  auto certificate = one.certificate();
  EXPECT_THAT(rejections(one, certificate), testing::IsEmpty());
  const auto with = [&](const char* plan) {
    certificate["plans"][0] = plan;
    return rejections(one, resealed(certificate));
  };
  for (const auto* const plan : {"residues:9:28x28", "residues:20:28x28"}) EXPECT_THAT(with(plan), testing::IsEmpty()) << plan;
  for (const auto* const plan : {"residues:7:28x28", "residues:2:28x28"})
    EXPECT_THAT(with(plan), testing::ElementsAre(testing::StartsWith(std::string("guard: ") + plan + " is not sure to hold")));
  const auto sampled = one.check(resealed(certificate), {.selection = EntrySelection::sample(2, 1)});
  EXPECT_FALSE(sampled.holds()) << "the guard is of all entries, whatever the sample";
}

/// The claims that fail after replacing the certificate's plan, checked with one sampled entry outside `column`.
std::vector<std::string> guard_of_others(const Certified& one, const char* plan, Index column) {
  auto certificate = one.certificate();
  certificate["plans"][0] = plan;
  std::uint64_t seed = 0;
  while (EntrySelection::sample(1, seed).positions(1, one.product.n())[0] == column) ++seed;
  std::vector<std::string> failed;
  for (const auto& claim : one.check(resealed(certificate), {.selection = EntrySelection::sample(1, seed)}).claims)
    if (!claim.holds) failed.push_back(claim.claim + ": " + claim.finding);
  return failed;
}

/// The exact sum of an entry holds up to H: 32383 times 1 is H of two moduli.
TEST(CertificateCheck, HoldsEntriesUpToHalfOfTheModuli) {
  Matrix<double> a(1, 1), b(1, 1);
  b(0, 0) = -1;
  for (const double x : {32383.0, 32384.0}) {
    a(0, 0) = x;
    const checking::Planned plan(reference::parse_plan("residues:2:15x1"), {a.view(), b.view()});
    EXPECT_EQ(plan.holds(0, 0), x == 32383) << x;
    EXPECT_FALSE(plan.not_held().empty()) << "neither norms nor level 1 are so sharp";
  }
}

/// The guard covers all entries: one column of 40 is not held, and no entry of that column is sampled. Each of the two cases
/// would pass if part of its guard were left out.
TEST(CertificateCheck, FindsTheOnlyEntryThatModuliDoNotHold) {
  constexpr Index n = 40, bad = 7;
  const auto with = [&](Index k, double first, double rest) {
    Matrix<double> a(1, k), b(k, n);
    for (Index l = 0; l < k; ++l) a(0, l) = l == 0 ? first : rest, b(l, bad) = a(0, l);
    for (Index j = 0; j < n; ++j) b(0, j) = first;
    return test::product_of(std::move(a), std::move(b));
  };
  // Level 1: 59 elements have no digit. sum |a' b'| is 519 2^108, above H = 513 2^108; the digits give only 512 2^108.
  const auto below_digits =
      certified("below digits", with(60, 1, 0x1.fffp-7), Target::componentwise(1e-3), Method::one_plan, "residues:16:60x59");
  EXPECT_THAT(rejections(below_digits, below_digits.certificate()), testing::IsEmpty());
  EXPECT_THAT(guard_of_others(below_digits, "residues:15:60x59", bad),
              testing::ElementsAre("guard: residues:15:60x59 is not sure to hold entry (0, 7)"));
  // Norms: 2024 products of integers 4 (rounded from 3.999) are 32384, and H of two moduli is 32383.
  const auto rounded_up = certified("rounded up", with(2024, 0x1.fffp0, 0x1.fffp0), Target::componentwise(1e-3),
                                    Method::one_plan, "residues:3:2x2");
  EXPECT_THAT(rejections(rounded_up, rounded_up.certificate()), testing::IsEmpty());
  EXPECT_THAT(guard_of_others(rounded_up, "residues:2:2x2", bad),
              testing::ElementsAre("guard: residues:2:2x2 is not sure to hold entry (0, 7)"));
}

/// The guard accepts sums up to the limit of the moduli. Norms are sharp for equal elements: k 2^13 with seven and eight bits,
/// and H of two moduli is 32383.
TEST(CertificateCheck, FindsTheLimitOfTheModuli) {
  for (const Index k : {3, 4}) {
    Matrix<double> a(1, k), b(k, 2);
    for (Index l = 0; l < k; ++l) a(0, l) = -1, b(l, 0) = b(l, 1) = 1;
    const auto one =
        certified("limit", test::product_of(std::move(a), std::move(b)), Target::dgemm(), Method::one_plan, "residues:3:7x8");
    auto certificate = one.certificate();
    EXPECT_THAT(rejections(one, certificate), testing::IsEmpty());
    certificate["plans"][0] = "residues:2:7x8";
    const auto failed = rejections(one, resealed(certificate));
    EXPECT_EQ(!failed.empty() && names(failed, "guard"), k == 4) << testing::PrintToString(failed);
    EXPECT_EQ(failed.empty(), k == 3) << testing::PrintToString(failed);
  }
}

/// C is 0 where the exact entry is eta/2 and, far below its last bit, what tau M allows.
TEST(CertificateCheck, ConfirmsAnErrorJustAboveUnderflow) {
  Matrix<double> a(2, 3), b(3, 1);
  a(0, 0) = -0x1.fffff8p513, a(0, 1) = -0x1p490, a(0, 2) = 0x1p458, a(1, 0) = 0x1p-575, a(1, 2) = 0x1p-685;
  for (Index l = 0; l < 3; ++l) b(l, 0) = 0x1p-500;
  const auto one = certified("underflow", test::product_of(std::move(a), std::move(b)),
                             Target::componentwise(0x1.00000c0000001p-53), Method::one_plan, "residues:13:75x26");
  ASSERT_TRUE(one.computed.certificate.holds);
  EXPECT_EQ(one.computed.c.view()(1, 0), 0);
  EXPECT_THAT(rejections(one, one.certificate()), testing::IsEmpty());
}

/// An infinity for a finite entry is refused. Two slices round the entry to infinity, and its error, measured from the overflow
/// threshold, is far below the target.
TEST(CertificateCheck, RefusesAnInfinityForAFiniteEntry) {
  for (const bool is_narrow : {false, true}) {
    auto one = certified("finished", near_overflow(is_narrow), Target::componentwise(1e-3), Method::one_plan,
                         "balanced:2x2:full:exact");
    EXPECT_EQ(one.computed.certificate.exact, 3);
    EXPECT_THAT(rejections(one, one.certificate()), testing::IsEmpty());
    auto uncounted = one.certificate();
    uncounted["exact_entries"] = 0;
    EXPECT_TRUE(names(rejections(one, resealed(uncounted)), "exact_entries"));
    const RealProduct call{one.product.problem.a, one.product.problem.b, one.computed.c.output(),
                           one.product.alpha,     one.product.beta,      one.product.c0};
    multiply_unproven(call, parse_plan("balanced:2x2:full:exact"), engine());
    EXPECT_EQ(double_from_bits(one.computed.c.input().bits(0, 0)), -inf);
    one.computed.certificate.fingerprints.c = fingerprint(one.computed.c.input());
    for (const Index exact : {0, 3}) {
      one.computed.certificate.exact = exact;
      const auto failed = rejections(one, one.certificate());
      EXPECT_TRUE(names(failed, "c")) << testing::PrintToString(failed);
    }
  }
}

/// A certificate of schema 4 is judged by that schema: tau of `dgemm` was k u and of `dgemm-typical` sqrt(k) u, whatever alpha.
TEST(CertificateCheck, JudgesTheFormerSchemaAsItWasMeant) {
  const auto scaled = with_scalars(test::product_of({Family::uniform, 3, 4, 5, 0, 1}), 0.7, 1.3);
  constexpr const char* fine = "balanced:7x7:cut=8:exact";
  for (const auto& target : {Target::dgemm(), Target::dgemm_typical()}) {
    const auto now = certified("now", scaled, target, Method::one_plan, fine);
    const double tau = target_tau(target, 5, binary64, false);
    const auto then = certified("then", scaled, Target::componentwise(tau), Method::one_plan, fine);
    ASSERT_LT(now.computed.certificate.ratio, then.computed.certificate.ratio) << "a larger tau";
    auto former = then.certificate();
    former["schema"] = "ozbound-certificate-4", former["target"] = to_string(target);
    EXPECT_TRUE(then.check(resealed(former)).holds());
    auto renamed = former;
    renamed["schema"] = schema();
    EXPECT_FALSE(then.check(resealed(renamed)).holds()) << "the ratio is the former's";
    renamed = now.certificate();
    renamed["schema"] = "ozbound-certificate-4";
    EXPECT_FALSE(now.check(resealed(renamed)).holds());
  }
  const auto native = certified("native", scaled, Target::componentwise(1e-12), Method::native);
  ASSERT_EQ(native.computed.certificate.bound.underflow, 0);
  auto former = native.certificate();
  former["schema"] = "ozbound-certificate-4";
  EXPECT_FALSE(native.check(resealed(former)).holds()) << "a scaling was taken to underflow";
}

TEST(CertificateCheck, TakesTheCertificateOfAReport) {
  const auto& one = all_certified().front();
  EXPECT_TRUE(one.check({{"schema", "ozbound-report-1"}, {"certificate", one.certificate()}}).holds());
  for (const auto* const text : {"", "[]", "1", "{}", "{\"certificate\": 1}", "{\"schema\": \"ozbound-certificate-3\"}",
                                 "nonsense", "{\"schema\": 1e999}", "{\"a\": \"\xff\"}"})
    EXPECT_THROW(check_certificate(text, one.product.operands(), one.computed.c.view()), std::invalid_argument) << text;
}

TEST(CertificateCheck, UnwrapsByTheSchemaAlone) {
  const auto wide = test::product_of({Family::wide_exponents, 4, 3, 6, 2, 2});
  const auto weak = certified("weak", wide, Target::componentwise(1e-3), Method::one_plan, "balanced:2x2:cut=3:exact");
  const auto refusal = [&weak](const json& document) -> std::string {
    try {
      return weak.check(document).holds() ? "accepted" : "rejected";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  auto forged = weak.certificate();
  forged["target"] = "cr", forged["largest_bound"] = 0;
  EXPECT_FALSE(weak.check(resealed(forged)).holds());
  forged["certificate"] = weak.certificate();
  EXPECT_EQ(refusal(resealed(forged)), "certificate: 'certificate' is unknown");
  EXPECT_EQ(refusal({{"certificate", weak.certificate()}}), "certificate: 'schema' is missing");
  EXPECT_EQ(refusal({{"schema", "ozbound-report-1"}}), "certificate: the report has no 'certificate'");
  const json report{{"schema", "ozbound-report-1"}, {"certificate", weak.certificate()}};
  EXPECT_EQ(refusal({{"schema", "ozbound-report-1"}, {"certificate", report}}), "certificate: 'schema' is not " + schema());
}

TEST(CertificateCheck, SaysWhatOfAReportIsNotChecked) {
  const auto& one = all_certified().front();
  const json report{
      {"schema", "ozbound-report-1"}, {"certificate", one.certificate()}, {"seconds", {{"read", 0}}}, {"decision", nullptr}};
  EXPECT_THAT(one.check(report).limits, testing::Contains("of the report: decision, seconds"));
  EXPECT_THAT(one.check(one.certificate()).limits, testing::IsEmpty());
}

/// The certificate as it would be if a lemma were wrong by this factor in both the engine and the check.
json with_norms_scaled(json certificate, int exponent) {
  auto& rows = certificate["bound"]["norms"]["rows"];
  const auto numbers = *checking::numbers_in<double>(rows.get<std::string>());
  std::string bytes;
  for (const double x : numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(std::ldexp(x, exponent));
    for (int b = 0; b < 64; b += 8) bytes.push_back(static_cast<char>(bits >> b & 255));
  }
  rows = test::base64_of(bytes);
  certificate["bound"]["norms"]["uniform"] = "inf";
  return resealed(certificate);
}

TEST(CertificateCheck, NoWrongLemmaPassesTwice) {
  const auto product = test::product_of({Family::uniform, 3, 4, 60, 0, 8});
  const auto one = certified("fine", product, Target::componentwise(1e-3), Method::one_plan, "balanced:9x9:cut=9:exact");
  const auto failed = [&one](const json& certificate) {
    std::set<std::string> claims;
    for (const auto& claim : one.check(certificate, {.takes_norms = true}).claims)
      if (!claim.holds) claims.insert(claim.claim);
    return claims;
  };
  EXPECT_THAT(failed(with_norms_scaled(one.certificate(), 0)), testing::IsEmpty());
  EXPECT_THAT(failed(with_norms_scaled(one.certificate(), -20)), testing::Contains("identity"));
  EXPECT_THAT(failed(with_norms_scaled(one.certificate(), -20)), testing::Not(testing::Contains("bound")))
      << "the rounding of C hides it: no computed entry speaks against the norms";
  for (const auto& claim : one.check(with_norms_scaled(one.certificate(), 0)).claims)
    EXPECT_TRUE(claim.holds || claim.claim == "bound.norms.uniform") << claim.claim;
  EXPECT_THAT(rejections(one, with_norms_scaled(one.certificate(), 1)),
              testing::Contains(testing::StartsWith("bound.norms.rows: ")))
      << "nor do norms that are too large";
}

TEST(CertificateCheck, SamplesWhatIsDear) {
  const auto certificate = [](Index size, const std::string& target, const json& plans) {
    auto record = all_certified().front().certificate();
    record["m"] = size, record["n"] = size, record["k"] = size;
    record["target"] = target, record["plans"] = plans;
    return record.dump();
  };
  const auto plan = json::array({"balanced:7x7:cut=8:exact"});
  EXPECT_TRUE(affordable_selection(certificate(128, "dgemm", plan)).is_all());
  for (const Index size : {1024, 2048}) {
    const auto some = affordable_selection(certificate(size, "dgemm", plan), 5);
    ASSERT_FALSE(some.is_all()) << size;
    const auto places = some.positions(size, size);
    EXPECT_GE(places.size(), 1000U) << size;
    EXPECT_LT(places.size(), static_cast<std::size_t>(size * size) / 2) << size;
    EXPECT_EQ(places, affordable_selection(certificate(size, "dgemm", plan), 5).positions(size, size)) << "no time is measured";
    EXPECT_NE(places, affordable_selection(certificate(size, "dgemm", plan), 6).positions(size, size));
  }
  const auto long_sums = [&](Index size) {
    auto record = json::parse(certificate(size, "dgemm", plan));
    record["k"] = 10'000'000;
    return affordable_selection(record.dump());
  };
  EXPECT_TRUE(long_sums(10).is_all()) << "of few entries all are looked at";
  EXPECT_FALSE(long_sums(40).is_all());
  const auto claims = checking::read_claims(certificate(2048, "dgemm", plan));
  const auto work = checking::work_of(claims);
  const auto cost = work.bounds + static_cast<double>(checking::affordable_entries(claims).value()) * work.entry;
  EXPECT_LE(cost, 10 * work.product);
  EXPECT_GT(cost, 9 * work.product);
  EXPECT_FALSE(affordable_selection(certificate(Index{1} << 61, "dgemm", plan)).is_all()) << "sizes are what somebody wrote";
  EXPECT_THROW(affordable_selection("{}"), std::invalid_argument);
}

TEST(CertificateCheck, NamesTheLineThatIsNoJson) {
  const auto& one = all_certified().front();
  try {
    check_certificate("{\n\"m\": 1,\n!}", one.product.operands(), one.computed.c.view());
    ADD_FAILURE() << "accepted";
  } catch (const std::invalid_argument& refusal) {
    EXPECT_STREQ(refusal.what(), "certificate: line 3: this is not JSON");
  }
}

TEST(CertificateCheck, RefusesCOfAnotherShape) {
  const auto& one = all_certified().front();
  const Matrix<double> c(1, 1);
  EXPECT_THROW(check_certificate(one.certificate().dump(), one.product.operands(), c), std::invalid_argument);
}

/// Flips the last bit of an element, or the sign of an infinity; false for NaN, whose bits do not count.
bool flip(double& x) {
  if (std::isnan(x)) return false;
  x = std::isinf(x) ? -x : std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ 1);
  return true;
}

TEST(CertificateCheck, RejectsAChangedBitOfAMatrix) {
  for (const auto& one : all_certified()) {
    const auto certificate = one.certificate();
    auto changed = one.product;
    const auto expect_rejected = [&](const SampleProduct& product, const char* matrix, bool read) {
      const auto check = check_certificate(certificate.dump(), product.operands(), one.computed.c.view());
      EXPECT_EQ(check.holds(), !read) << one.name << ", " << matrix;
      for (const auto& claim : check.claims)
        if (claim.claim == std::string("fingerprints.") + matrix) {
          EXPECT_EQ(claim.holds, !read) << one.name;
        }
    };
    const auto change_each = [&](Matrix<double>& matrix, const char* name, bool read) {
      for (Index i = 0; i < matrix.rows(); ++i)
        for (Index j = 0; j < matrix.cols(); ++j) {
          const double value = matrix(i, j);
          if (flip(matrix(i, j))) expect_rejected(changed, name, read);
          matrix(i, j) = value;
        }
    };
    const bool reads_factors = one.product.alpha != 0 && one.product.m() > 0 && one.product.n() > 0;
    change_each(changed.problem.a, "a", reads_factors);
    change_each(changed.problem.b, "b", reads_factors);
    change_each(changed.c0, "c0", one.product.beta != 0);
  }
}

TEST(CertificateCheck, RejectsAChangedBitOfC) {
  for (const auto& one : all_certified()) {
    Matrix<double> wide(one.product.m(), one.product.n());
    Matrix<float> narrow(one.product.m(), one.product.n());
    for (Index i = 0; i < wide.rows(); ++i)
      for (Index j = 0; j < wide.cols(); ++j) {
        wide(i, j) = one.computed.c.view()(i, j);
        narrow(i, j) = static_cast<float>(wide(i, j));
      }
    if (wide.rows() == 0) continue;
    const auto expect_rejected = [&](const ResultView& c) {
      std::set<std::string> failed;
      for (const auto& claim : check_certificate(one.certificate().dump(), one.product.operands(), c).claims)
        if (!claim.holds) failed.insert(claim.claim);
      EXPECT_TRUE(failed.contains("fingerprints.c")) << one.name;
      EXPECT_EQ(failed.contains("c"), one.computed.certificate.native.empty())
          << one.name << ": native DGEMM's bits are its own";
    };
    if (one.product.narrow) {
      if (std::isnan(narrow(0, 0))) continue;
      narrow(0, 0) = std::bit_cast<float>(std::bit_cast<std::uint32_t>(narrow(0, 0)) ^ 1U);
      expect_rejected(narrow);
    } else if (flip(wide(0, 0))) {
      expect_rejected(wide);
    }
  }
}

/// A certificate that fits a wrong C is rejected although its fingerprint and its seal are correct.
TEST(CertificateCheck, RejectsAWrongCThatIsWellSealed) {
  for (const auto& one : all_certified()) {
    if (one.product.narrow || !one.computed.certificate.native.empty() || one.product.m() == 0) continue;
    Matrix<double> c(one.product.m(), one.product.n());
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) {
        c(i, j) = one.computed.c.view()(i, j);
        if (i + j == 0) flip(c(i, j));
      }
    if (std::isnan(c(0, 0))) continue;
    auto forged = one.certificate();
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(fingerprint(c)));
    forged["fingerprints"]["c"] = text;
    std::set<std::string> failed;
    for (const auto& claim : check_certificate(resealed(forged).dump(), one.product.operands(), c).claims)
      if (!claim.holds) failed.insert(claim.claim);
    EXPECT_TRUE(failed.contains("c")) << one.name;
    EXPECT_FALSE(failed.contains("fingerprints.c") || failed.contains("seal")) << one.name;
  }
}

TEST(CertificateCheck, ASampleSaysWhatItLeavesOpen) {
  const auto product = test::product_of({Family::wide_exponents, 12, 12, 8, 1, 7});
  const CertificateCheckOptions some{EntrySelection::sample(20, 1), {}};
  for (const auto& target : {Target::correctly_rounded(), Target::relative(1e-10), Target::normwise(1e-10), Target::dgemm()}) {
    const bool cr = target.kind == Target::Kind::correctly_rounded;
    const auto one =
        certified("sampled", product, target, cr ? Method::correctly_rounded : Method::one_plan, "balanced:5x5:cut=6:exact");
    const auto check = one.check(one.certificate(), some);
    EXPECT_TRUE(check.holds()) << to_string(target);
    EXPECT_EQ(check.entries, 20);
    EXPECT_THAT(check.limits, testing::Contains("c, bound, identity, target: by a sample")) << to_string(target);
    auto wrong = one.certificate();
    wrong["undecided_entries"] = 145;
    EXPECT_FALSE(one.check(resealed(wrong), some).holds()) << "more than there are entries";
  }
}

TEST(CertificateCheck, TellsItsProgress) {
  const auto& one = all_certified().front();
  double last = 0;
  const auto check =
      one.check(one.certificate(), {EntrySelection::all(), [&last](double done) { last = std::max(last, done); }});
  EXPECT_TRUE(check.holds());
  EXPECT_EQ(last, 1);
}

}  // namespace
}  // namespace ozbound::certificate_check_test
