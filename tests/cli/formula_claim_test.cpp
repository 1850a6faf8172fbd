// SPDX-License-Identifier: BSD-3-Clause
// `ozbound verify --claims` compares C with the formula of cuBLAS's emulation.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "formula_claim.hpp"
#include "ozbound/verify/literature/models/cublas_emulation.hpp"

namespace ozbound::cli::test::formula_claim_test {
namespace {

using nlohmann::json;

class FormulaClaim : public testing::Test {
 protected:
  FormulaClaim() {
    files::write_matrix(a_, a.view());
    files::write_matrix(b_, b.view());
    files::write_matrix(c_, c.view());
  }

  [[nodiscard]] Finished claims(const std::string& formula, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"verify", a_, b_, c_, "--claims", formula};
    all.insert(all.end(), more.begin(), more.end());
    return ozbound(all);
  }

  TemporaryDirectory directory_;
  std::string a_ = directory_ / "A.npy", b_ = directory_ / "B.npy", c_ = directory_ / "C.npy";
  Matrix<double> a = matrix_of<double>(2, 3, {0.1, 2e10, 3, 4.7, -5e-7, 1.0 / 3});
  Matrix<double> b = matrix_of<double>(3, 2, {1.1, 0, 0.7, 1e3, -1.9, -1});
  Matrix<double> c = models::multiply({.mantissa_bits = 23}, {a.view(), b.view()});
};

TEST_F(FormulaClaim, IsMetByItsOwnBits) {
  const auto finished = claims("cublas:23");
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, testing::HasSubstr("\nbound of cublas:23 holds: error / bound = "));
  EXPECT_THAT(finished.out, testing::HasSubstr("  The bound rests on the formula of cuBLAS's emulation"));
  EXPECT_THAT(finished.out, testing::StartsWith("C has the bits of cublas:23 in all 4 entries compared.\n"));
}

TEST_F(FormulaClaim, TellsOtherBitsWithinTheBound) {
  c(1, 0) = std::nextafter(c(1, 0), 0);
  files::write_matrix(c_, c.view());
  const auto finished = claims("cublas:23");
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, testing::StartsWith("C is NOT what cublas:23 computes: 1 of 4 entries differ, first (1, 0), "));
  const auto record = json::parse(claims("cublas:23", {"--json"}).out);
  EXPECT_EQ(record["schema"], "ozbound-verification-1");
  EXPECT_EQ(record["holds"], true);
  EXPECT_EQ(record["verdicts"][0]["claim"], "bound of cublas:23");
  EXPECT_EQ(record["formula"]["name"], "cublas:23");
  EXPECT_EQ(record["formula"]["entries"], 4);
  EXPECT_EQ(record["formula"]["differing"], 1);
  EXPECT_EQ(record["formula"]["row"], 1);
}

TEST_F(FormulaClaim, FailsBeyondTheBound) {
  c(0, 1) *= 1 + 0x1p-12;
  files::write_matrix(c_, c.view());
  const auto finished = claims("cublas:23");
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, testing::HasSubstr("\nbound of cublas:23 FAILS"));
  EXPECT_EQ(json::parse(claims("cublas:23", {"--json"}).out)["holds"], false);
  // A result that holds for 23 bits is too coarse for 55.
  files::write_matrix(c_, models::multiply({.mantissa_bits = 23}, {a.view(), b.view()}).view());
  EXPECT_EQ(claims("cublas:55").code, 1);
}

TEST_F(FormulaClaim, KnowsScalarsAndSamples) {
  const Operands operands{a.view(), b.view(), -0.3, 1.7, b.view().block(0, 0, 2, 2)};
  const std::string c0 = directory_ / "C0.npy";
  Matrix<double> addend = matrix_of<double>(2, 2, {1.1, 0, 0.7, 1e3});
  files::write_matrix(c0, addend.view());
  files::write_matrix(c_, models::multiply({}, operands).view());
  const auto finished = claims("cublas:55", {"--alpha", "-0.3", "--beta", "1.7", "--c", c0, "--sample", "4"});
  EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, testing::HasSubstr("C has the bits of cublas:55 in all 4 entries compared.\n"));
}

TEST_F(FormulaClaim, RefusesWhatIsNoFormula) {
  const auto wrong = [&](const std::string& formula, const std::string& message) {
    expect_refusal({"verify", a_, b_, c_, "--claims", formula}, message);
  };
  wrong("ozimmu:8", "--claims must be cublas:M, M mantissa bits from 8 to 64, and is 'ozimmu:8'");
  for (const auto* bits : {"", "7", "65", "x", "55 "}) {
    const auto finished = claims(std::string("cublas:") + bits);
    EXPECT_EQ(finished.code, 2) << bits;
    EXPECT_THAT(finished.err, testing::HasSubstr("--claims cublas:M")) << bits;
  }
  for (const auto* other : {"--target", "--report", "--certificate"})
    EXPECT_EQ(claims("cublas:55", {other, "cr"}).code, 2) << other;
}

TEST_F(FormulaClaim, RefusesProductsThatTheFormulaIsNotAbout) {
  files::write_matrix(c_, matrix_of<float>(2, 2, {1, 2, 3, 4}).view());
  expect_refusal({"verify", a_, b_, c_, "--claims", "cublas:55"}, "--claims: C must be of doubles");
  files::write_matrix(c_, c.view());
  a(0, 0) = std::numeric_limits<double>::infinity();
  files::write_matrix(a_, a.view());
  expect_refusal({"verify", a_, b_, c_, "--claims", "cublas:55"},
                 "a must be finite: cuBLAS multiplies NaN and infinities natively");
  files::write_matrix(a_, matrix_of<std::complex<double>>(2, 3, {1, 2, 3, 4, 5, 6}).view());
  const auto finished = claims("cublas:55");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, testing::HasSubstr("complex"));
}

}  // namespace
}  // namespace ozbound::cli::test::formula_claim_test
