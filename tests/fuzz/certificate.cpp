// SPDX-License-Identifier: BSD-3-Clause
// A certificate read as by `verify --certificate` is refused, or every member is read as written and judged. If no claim fails,
// the certificate is true by the exact product. Linked only with the judging code: no engine, no bounds.

#include "certificate/claims.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "fuzz/fuzz.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "verify/altered_certificates.hpp"

namespace ozbound::fuzz {
namespace {

using checking::Claims;
using nlohmann::json;

constexpr Index largest_size = 3;

/// Rows and columns of the real matrices that represent complex ones.
Index real_m(const Claims& claims) { return claims.complex ? 2 * claims.m : claims.m; }
Index real_k(const Claims& claims) { return claims.complex ? 2 * claims.k : claims.k; }

json number(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

json print(const std::optional<std::string>& print) { return print ? json(*print) : json(); }

std::string name(checking::Method method) {
  constexpr std::array<const char*, 4> names{"slices", "correctly_rounded", "native", "exact"};
  return names[static_cast<std::size_t>(method)];
}

/// Numbers as base64 of their bytes, least significant byte first.
template <class Number>
json base64(const std::vector<Number>& numbers) {
  using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
  std::string bytes;
  for (const auto number : numbers)
    for (std::size_t b = 0; b < sizeof(Number); ++b)
      bytes.push_back(static_cast<char>(std::bit_cast<Bits>(number) >> 8 * b & 255));
  return test::base64_of(bytes);
}

json record(const checking::RecordedNorms& norms) {
  return {{"uniform", number(norms.uniform)},
          {"row_exponents", base64(norms.row_exponents)},
          {"column_exponents", base64(norms.column_exponents)},
          {"rows", base64(norms.rows)},
          {"columns", base64(norms.columns)}};
}

/// A certificate in the form of docs/records.md.
json record(const Claims& claims) {
  auto plans = json::array();
  for (const auto& plan : claims.plans) plans.push_back(reference::to_string(plan.plan));
  json all{
      {"schema", "ozbound-certificate-" + std::to_string(claims.schema)},
      {"target", claims.target_text},
      {"method", name(claims.method)},
      {"plans", plans},
      {"m", claims.m},
      {"n", claims.n},
      {"k", claims.k},
      {"alpha", number(claims.alpha)},
      {"beta", number(claims.beta)},
      {"type", claims.narrow ? "binary32" : "binary64"},
      {"fingerprints",
       {{"a", print(claims.a_print)}, {"b", print(claims.b_print)}, {"c0", print(claims.c0_print)}, {"c", claims.c_print}}},
      {"holds", claims.holds},
      {"ratio", number(claims.ratio)},
      {"worst_entry", {claims.worst.i, claims.worst.j}},
      {"largest_bound", number(claims.largest_bound)},
      {"undecided_entries", claims.undecided},
      {"exact_entries", claims.exact},
      {"native", claims.native},
      {"bound",
       {{"source", claims.source},
        {"rigorous", claims.rigorous},
        {"terms", claims.terms},
        {"alpha", number(claims.bound_alpha)},
        {"result_factor", number(claims.result_factor)},
        {"underflow", number(claims.underflow)},
        {"rounded_once", claims.rounded_once},
        {"norms", record(claims.norms)}}},
      {"assumptions", claims.assumptions},
      {"seal", claims.seal}};
  if (claims.complex) all["complex"] = true, all["worst_entry"].push_back(claims.worst.part);
  if (claims.imaginary)
    all["imaginary"] = {{"alpha", number(claims.imaginary->first)}, {"beta", number(claims.imaginary->second)}};
  return all;
}

json certificate_in(std::string_view text) {
  const auto document = json::parse(text);
  return document["schema"] == "ozbound-report-1" ? document["certificate"] : document;
}

/// Operands that the certificate may be about. Its statements about A determine their elements; C is their product or not.
class Product {
 public:
  explicit Product(const Claims& claims)
      : alpha_(claims.alpha),
        beta_(claims.beta),
        imaginary_(claims.imaginary.value_or(std::pair(0.0, 0.0))),
        complex_(claims.complex),
        a_(real_m(claims), real_k(claims)),
        b_(real_k(claims), claims.n),
        c0_(real_m(claims), claims.n),
        doubles_(real_m(claims), claims.n),
        floats_(real_m(claims), claims.n),
        narrow_(claims.narrow),
        seed_(reinterpret_cast<const std::uint8_t*>(claims.c_print.data()), claims.c_print.size()) {
    for (auto* const matrix : {&a_, &b_, &c0_})
      for (Index i = 0; i < matrix->rows(); ++i)
        for (Index j = 0; j < matrix->cols(); ++j) (*matrix)(i, j) = seed_.pick(elements);
    if (complex_) make_blocks(a_);
    const ExactOracle oracle(operands());
    const bool exact = seed_.flag();
    for (Index i = 0; i < a_.rows(); ++i)
      for (Index j = 0; j < claims.n; ++j) {
        doubles_(i, j) = exact ? oracle.rounded(i, j) : seed_.pick(elements);
        floats_(i, j) = exact ? oracle.rounded_float(i, j) : static_cast<float>(seed_.pick(elements));
      }
  }

  [[nodiscard]] Operands operands() const {
    return {a_.view(), b_.view(), alpha_, beta_, c0_.view(), imaginary_.first, imaginary_.second, complex_};
  }
  [[nodiscard]] ResultView c() const { return narrow_ ? ResultView(floats_) : ResultView(doubles_); }

 private:
  /// Turns the even rows of a matrix into a matrix that represents a complex one.
  static void make_blocks(Matrix<double>& a) {
    for (Index i = 0; i < a.rows(); i += 2)
      for (Index l = 0; l < a.cols(); l += 2) a(i + 1, l + 1) = a(i, l), a(i + 1, l) = -a(i, l + 1);
  }

  static constexpr std::array<double, 16> elements{1,
                                                   -1,
                                                   0,
                                                   -0.0,
                                                   0.1,
                                                   0x1.fffffffffffffp0,
                                                   0x1.FDp0,
                                                   -3e-300,
                                                   0x1p-1074,
                                                   0x1.8p1000,
                                                   1e10,
                                                   -0x1p-30,
                                                   127,
                                                   0x1p-537,
                                                   std::numeric_limits<double>::infinity(),
                                                   std::numeric_limits<double>::quiet_NaN()};

  double alpha_, beta_;
  std::pair<double, double> imaginary_;
  bool complex_;
  Matrix<double> a_, b_, c0_, doubles_;
  Matrix<float> floats_;
  bool narrow_;
  Bytes seed_;
};

void require_told(const CertificateCheck& check, const Claims& claims) {
  std::set<std::string> told;
  for (const auto& [claim, holds, finding] : check.claims) {
    require(told.insert(claim).second, "a claim is judged twice");
    require(holds == finding.empty(), "a claim fails without a word, or holds with one");
    require(claim != "seal" || holds == (claims.seal == claims.sealed), "the seal is misjudged");
  }
  require(told.contains("seal") && told.contains("fingerprints.c"), "a claim is not judged");
}

bool same(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

/// Requires that everything judged and not rejected is true.
void require_true(const CertificateCheck& check, const Claims& claims, const Product& product) {
  std::set<std::string> accepted;
  for (const auto& claim : check.claims)
    if (claim.holds) accepted.insert(claim.claim);
  const bool bounded = accepted.contains("bound") && accepted.contains("largest_bound");
  const bool rounded_once = claims.method == checking::Method::correctly_rounded || claims.method == checking::Method::exact;
  const bool rounded = (rounded_once && accepted.contains("c")) || (claims.target_text == "cr" && accepted.contains("target"));
  const ExactOracle oracle(product.operands());
  for (Index i = 0; i < real_m(claims); ++i)
    for (Index j = 0; j < claims.n; ++j) {
      const double c = product.c()(i, j);
      const auto truth = oracle.evaluate(i, j, c, product.c().format());
      const bool finite = truth.kind == OracleEntry::Kind::finite;
      require(!rounded || same(c, truth.rounded), "an accepted entry is not the correct rounding");
      require(finite || !accepted.contains("c") || same(c, truth.rounded), "an accepted NaN or infinity is none");
      require(!finite || !bounded || !(truth.error_upper > Magnitude::of(claims.largest_bound)),
              "an accepted bound does not hold");
    }
}

void check(const Claims& claims, std::string_view text) {
  if (std::max({claims.m, claims.n, claims.k}) > largest_size) return;
  const Product product(claims);
  const auto check = check_certificate(text, product.operands(), product.c());
  require_told(check, claims);
  require_true(check, claims, product);
}

}  // namespace
}  // namespace ozbound::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound;
  const auto text = fuzz::text_of(data, size);
  checking::Claims claims;
  try {
    claims = checking::read_claims(text);
  } catch (const std::invalid_argument& refusal) {
    const std::string_view message = refusal.what();
    fuzz::require(message.starts_with("certificate: "), "a refusal does not say of what");
    return 0;
  }
  fuzz::require(fuzz::record(claims) == fuzz::certificate_in(text), "another certificate was read");
  fuzz::check(claims, text);
  return 0;
}
