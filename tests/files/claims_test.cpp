// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/claims.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "files/support.hpp"

namespace ozbound::files::test::claims_test {
namespace {

class ReadClaims : public testing::Test {
 protected:
  Claims read(std::string_view text) {
    write_bytes(path_, text);
    return read_claims(path_);
  }

  void expect_error(std::string_view text, const std::string& wrong) {
    EXPECT_EQ(error_of([&] { read(text); }), path_.string() + ":" + wrong) << text;
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "report.json";
};

/// A certificate with these members in place of `target` to `largest_bound`.
std::string certificate(const std::string& members) {
  return R"({"schema": "ozbound-certificate-5", "m": 1, "n": 2, "k": 3)" + members + "}";
}

TEST_F(ReadClaims, OfACertificate) {
  const auto claims = read(certificate(R"(, "target": "componentwise:1e-10", "holds": true, "largest_bound": 2.5e-324)"));
  EXPECT_EQ(claims.targets, std::vector{Target::componentwise(1e-10)});
  EXPECT_EQ(claims.largest_bounds, std::vector{0x1p-1074});
  EXPECT_EQ(std::vector({claims.m, claims.n, claims.k}), std::vector<Index>({1, 2, 3}));
  EXPECT_FALSE(claims.call);
}

TEST_F(ReadClaims, OfATargetThatDoesNotHold) {
  const auto claims = read(certificate(R"(, "target": "dgemm", "holds": false, "largest_bound": "inf")"));
  EXPECT_TRUE(claims.targets.empty());
  EXPECT_EQ(claims.largest_bounds, std::vector{std::numeric_limits<double>::infinity()});
}

/// In the former schema the tau of `dgemm` is k u, whatever the scalars.
TEST_F(ReadClaims, OfTheFormerSchema) {
  const auto target = [this](const std::string& members) {
    return read(R"({"schema": "ozbound-certificate-4", "m": 1, "n": 2, "k": 3, "holds": true, "largest_bound": 0, )" + members +
                "}")
        .targets;
  };
  EXPECT_EQ(target(R"("target": "dgemm", "alpha": -1, "beta": 0)"), std::vector{Target::dgemm()});
  EXPECT_EQ(target(R"("target": "dgemm", "alpha": 2, "beta": 0, "type": "binary64")"),
            std::vector{Target::componentwise(3 * 0x1p-53)});
  EXPECT_EQ(target(R"("target": "dgemm", "alpha": 1, "beta": "inf", "type": "binary32", "complex": true)"),
            std::vector{Target::componentwise(6 * 0x1p-24)});
  EXPECT_EQ(target(R"("target": "cr", "alpha": 2, "beta": 0)"), std::vector{Target::correctly_rounded()});
  EXPECT_EQ(target(R"("target": "dgemm", "alpha": 2, "beta": 0, "imaginary": {"alpha": 1, "beta": 0})"),
            std::vector{Target::dgemm()});
}

TEST_F(ReadClaims, OfAReport) {
  const auto claims =
      read(R"({"schema": "ozbound-report-1", "certificate": )" + certificate(R"(, "holds": false, "largest_bound": 0)") +
           R"(, "operands": {"a": {"op": "T"}, "b": {"op": "N"}, "alpha": "-inf", "beta": 0.5}})");
  EXPECT_EQ(claims.largest_bounds, std::vector{0.0});
  ASSERT_TRUE(claims.call);
  EXPECT_EQ(claims.call->op_a, 'T');
  EXPECT_EQ(claims.call->op_b, 'N');
  EXPECT_EQ(claims.call->alpha, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(claims.call->beta, 0.5);
}

TEST_F(ReadClaims, OfAReportOfAComplexProduct) {
  const auto claims =
      read(R"({"schema": "ozbound-report-1", "certificate": )" + certificate(R"(, "holds": false, "largest_bound": 0)") +
           R"(, "operands": {"a": {"op": "C"}, "b": {"op": "T"}, "alpha": [1, "-inf"], "beta": [0, 0.5]}})");
  ASSERT_TRUE(claims.call);
  EXPECT_EQ(claims.call->op_a, 'C');
  EXPECT_EQ(claims.call->op_b, 'T');
  EXPECT_EQ(claims.call->alpha, std::complex<double>(1, -std::numeric_limits<double>::infinity()));
  EXPECT_EQ(claims.call->beta, std::complex<double>(0, 0.5));
}

TEST_F(ReadClaims, WrongReportsAreRefused) {
  const std::string none = " the report has no certificate of schema ozbound-certificate-5";
  expect_error("", "1: this is not JSON");
  expect_error("{\n\"m\": 1,\n!}", "3: this is not JSON");
  expect_error("[1e999]", " a number in it lies outside the range of a double");
  for (const auto* text : {"[]", "3", "null", "{}", R"({"certificate": 3})", R"({"schema": "ozbound-certificate-1"})"})
    expect_error(text, none);
  expect_error(certificate(""), " the certificate has no 'holds'");
  expect_error(certificate(R"(, "holds": 1)"), " 'holds' of the certificate is not true or false");
  expect_error(certificate(R"(, "holds": true)"), " the certificate has no 'target'");
  expect_error(certificate(R"(, "holds": true, "target": "best")"), " 'target' of the certificate is not a target");
  expect_error(certificate(R"(, "holds": true, "target": 7)"), " 'target' of the certificate is not a target");
  expect_error(certificate(R"(, "holds": false)"), " the certificate has no 'largest_bound'");
  for (const auto* bound : {"-1", "null", "\"nan\"", "[1]"})
    expect_error(certificate(std::string(R"(, "holds": false, "largest_bound": )") + bound),
                 " 'largest_bound' of the certificate is not a bound");
  expect_error(R"({"schema": "ozbound-certificate-5", "m": -1})", " 'm' of the certificate is not a size");
  expect_error(R"({"schema": "ozbound-certificate-5", "m": 1, "n": 1.5})", " 'n' of the certificate is not a size");
  for (const auto* operands : {"3", "{}", R"({"a": 1})", R"({"a": {"op": "N"}, "b": {"op": "N"}, "alpha": 1})",
                               R"({"a": {"op": "X"}, "b": {"op": "N"}, "alpha": 1, "beta": 0})",
                               R"({"a": {"op": 1}, "b": {"op": "N"}, "alpha": 1, "beta": 0})",
                               R"({"a": {"op": "N"}, "b": {"op": "N"}, "alpha": [1], "beta": 0})",
                               R"({"a": {"op": "N"}, "b": {"op": "N"}, "alpha": [1, 2, 3], "beta": 0})"})
    expect_error(R"({"schema": "ozbound-report-1", "certificate": )" + certificate(R"(, "holds": false, "largest_bound": 0)") +
                     R"(, "operands": )" + operands + "}",
                 " the operands of the report are incomplete");
  EXPECT_THROW(read_claims(directory_ / "missing.json"), InputError);
}

// 100 000 brackets would overflow the stack of a recursive parser.
TEST_F(ReadClaims, DeepNestingIsRefused) { expect_error(std::string(100000, '['), "1: this is not JSON"); }

}  // namespace
}  // namespace ozbound::files::test::claims_test
