// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/hostile_environment.hpp"
#include "bounds/products.hpp"
#include "verify/altered_certificates.hpp"

#include "ozbound/bounds/recorded_bound.hpp"
#include "support/plain_gemm.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ozbound::recorded_bound_test {
namespace {

using nlohmann::json;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const CpuEngine& engine() {
  static const CpuEngine one_thread({.threads = 1});
  return one_thread;
}

test::Computed computed(const test::SampleProduct& product, const Target& target, Method method, const char* plan = nullptr) {
  static const test::PlainGemm native;
  Decision decision{target, method, {}, product.m(), product.n(), product.k(), 0, 0, {}, {}};
  if (plan != nullptr) decision.plan = parse_plan(plan);
  return test::compute_with(product, decision, {engine(), &native});
}

json text_and_back(const Certificate& certificate) { return json::parse(to_json(certificate).dump()); }

test::SampleProduct scaled(test::SampleProduct product) {
  product.alpha = -0x1.8p-1060, product.beta = 1.3;
  product.c0 = Matrix<double>(product.m(), product.n());
  product.c0(1, 1) = -0.7;
  product.problem.a(0, 1) = nan;
  return product;
}

/// Products by every method, of encodings whose weights differ by row, of narrow encodings, with distant scales and with
/// special entries.
std::vector<test::Computed> all_computed() {
  const auto wide = test::product_of({Family::wide_exponents, 5, 4, 9, 2, 3});
  auto narrow = wide;
  narrow.narrow = true;
  std::vector<test::Computed> all;
  all.push_back(computed(wide, Target::dgemm(), Method::one_plan, "balanced:7x7:cut=8:exact"));
  all.push_back(computed(scaled(wide), Target::dgemm(), Method::one_plan, "balanced:5x6:cut=4:exact"));
  all.push_back(computed(narrow, Target::componentwise(1e-3), Method::one_plan, "nearest_adaptive5:4x5:full:per_product"));
  all.push_back(computed(wide, Target::correctly_rounded(), Method::correctly_rounded, "balanced:6x6:full:exact"));
  all.push_back(computed(wide, Target::relative(1e-9), Method::one_plan, "balanced:6x6:full:exact"));
  all.push_back(computed(wide, Target::dgemm(), Method::exact));
  all.push_back(computed(wide, Target::dgemm(), Method::native));
  all.push_back(computed(scaled(wide), Target::dgemm(), Method::native));
  all.push_back(computed(test::product_of(Matrix<double>(0, 2), Matrix<double>(2, 3)), Target::dgemm(), Method::exact));
  return all;
}

TEST(RecordedBound, HasTheBitsOfTheCertificates) {
  Index differing = 0;
  for (const auto& one : all_computed()) {
    const auto recorded = bound_from_json(text_and_back(one.certificate));
    EXPECT_EQ(recorded.c, one.certificate.fingerprints.c);
    EXPECT_EQ(recorded.bound.source, one.certificate.bound.source);
    EXPECT_EQ(recorded.bound.assumptions, one.certificate.assumptions());
    for (Index i = 0; i < one.certificate.m; ++i)
      for (Index j = 0; j < one.certificate.n; ++j)
        for (const double c : {one.c.view()(i, j), 0.0, -0x1p-1070, 1e300}) {
          const double expected = one.certificate.bound.upper(i, j, c);
          EXPECT_EQ(bits_of(recorded.bound.upper(i, j, c)), bits_of(expected)) << one.certificate.bound.source << i << j;
          differing += expected != one.certificate.bound.upper(0, 0, c) ? 1 : 0;
        }
  }
  EXPECT_GT(differing, 100) << "entries have bounds of their own";
}

TEST(RecordedBound, OfEveryEntry) {
  for (const auto& one : all_computed()) {
    const auto bound = bound_from_json(text_and_back(one.certificate)).bound;
    Matrix<double> c(one.certificate.m, one.certificate.n);
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) c(i, j) = one.c.view()(i, j);
    const auto bounds = bound.of_entries(c);
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j)
        EXPECT_EQ(bits_of(bounds(i, j)), bits_of(std::isnan(c(i, j)) ? c(i, j) : bound.upper(i, j, c(i, j))));
    EXPECT_THROW(static_cast<void>(bound.of_entries(Matrix<double>(c.rows() + 1, c.cols()))), std::invalid_argument);
  }
}

TEST(RecordedBound, InAnyEnvironment) {
  for (const auto& one : all_computed()) {
    const auto record = text_and_back(one.certificate);
    const auto expected = bound_from_json(record).bound;
    std::vector<std::uint64_t> found, wanted;
    for (Index i = 0; i < one.certificate.m; ++i)
      for (Index j = 0; j < one.certificate.n; ++j) wanted.push_back(bits_of(expected.upper(i, j, 1e-310)));
    {
      const test::HostileEnvironment hostile;
      const auto bound = bound_from_json(record).bound;
      for (Index i = 0; i < one.certificate.m; ++i)
        for (Index j = 0; j < one.certificate.n; ++j) found.push_back(bits_of(bound.upper(i, j, 1e-310)));
    }
    EXPECT_EQ(found, wanted) << one.certificate.bound.source;
  }
}

/// The refusal of a changed certificate whose seal was renewed.
template <class Change>
std::string refusal(Change change) {
  static const auto record = text_and_back(all_computed().front().certificate);
  auto changed = record;
  change(changed);
  try {
    bound_from_json(test::resealed(changed));
    return "accepted";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(RecordedBound, NamesTheMemberThatIsWrong) {
  const auto without = [](const char* pointer) {
    return refusal([pointer](json& record) {
      const json::json_pointer where(pointer);
      record.at(where.parent_pointer()).erase(where.back());
    });
  };
  const auto with = [](const char* pointer, const json& value) {
    return refusal([&](json& record) { record.at(json::json_pointer(pointer)) = value; });
  };
  EXPECT_EQ(refusal([](json&) {}), "accepted");
  EXPECT_EQ(without("/bound"), "certificate: 'bound' is missing");
  EXPECT_EQ(without("/m"), "certificate: 'm' is missing");
  EXPECT_EQ(without("/fingerprints/c"), "certificate: 'fingerprints.c' is missing");
  for (const std::string member : {"source", "alpha", "result_factor", "underflow", "rounded_once", "norms", "terms"})
    EXPECT_EQ(without(("/bound/" + member).c_str()), "certificate: 'bound." + member + "' is missing");
  for (const std::string member : {"uniform", "row_exponents", "column_exponents", "rows", "columns"}) {
    const auto pointer = "/bound/norms/" + member, name = "certificate: 'bound.norms." + member + "' ";
    EXPECT_EQ(without(pointer.c_str()), name + "is missing");
    EXPECT_THAT(with(pointer.c_str(), true), testing::StartsWith(name));
    if (member == "uniform") continue;
    EXPECT_EQ(with(pointer.c_str(), "AAAA"), name + "is not the base64 of numbers") << "three bytes";
    EXPECT_EQ(with(pointer.c_str(), "===="), name + "is not the base64 of numbers");
    EXPECT_EQ(with(pointer.c_str(), "AAAAAAB="), name + "is not the base64 of numbers") << "bits beside the last byte";
  }
  const auto numbers = [](double x, std::size_t count) {
    std::string bytes;
    for (std::size_t t = 0; t < count; ++t)
      for (int b = 0; b < 64; b += 8) bytes.push_back(static_cast<char>(bits_of(x) >> b & 255));
    return test::base64_of(bytes);
  };
  const std::size_t terms = 8;
  EXPECT_EQ(with("/bound/norms/rows", numbers(1, 3 * terms * 5)), "accepted");
  EXPECT_EQ(with("/bound/norms/rows", numbers(1, 3 * terms * 5 + 1)),
            "certificate: 'bound.norms.rows' does not have three vectors for each term");
  for (const double none : {-1.0, nan, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(with("/bound/norms/rows", numbers(none, 3 * terms * 5)), "certificate: 'bound.norms.rows' holds what is no norm");
  EXPECT_EQ(with("/m", 6), "certificate: 'm' is not the size of the norms");
  EXPECT_EQ(with("/m", -5), "certificate: 'm' is not the size of the norms");
  EXPECT_EQ(with("/bound/underflow", -1), "certificate: 'bound.underflow' is not a bound");
  EXPECT_EQ(with("/fingerprints/c", "00"), "certificate: 'fingerprints.c' is not a fingerprint");
  EXPECT_THAT(with("/schema", "ozbound-certificate-2"),
              testing::StartsWith("certificate: 'schema' is not ozbound-certificate-"));
  EXPECT_THROW(bound_from_json(json::array()), std::invalid_argument);
}

TEST(RecordedBound, NoticesAnAlteration) {
  auto record = text_and_back(all_computed().front().certificate);
  record["largest_bound"] = 0;
  EXPECT_THROW(bound_from_json(record), std::invalid_argument);
}

}  // namespace
}  // namespace ozbound::recorded_bound_test
