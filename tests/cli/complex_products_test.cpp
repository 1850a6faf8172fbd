// SPDX-License-Identifier: BSD-3-Clause
// Products of complex files by gemm, plan and verify.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cuda.hpp"
#include "ozbound/native.hpp"
#include "ozbound/verify/complex_operands.hpp"
#include "ozbound/verify/complex_problem.hpp"
#include "ozbound/verify/exact_oracle.hpp"

namespace ozbound::cli::test::complex_products_test {
namespace {

using nlohmann::json;
using Number = std::complex<double>;
using Numbers = Matrix<Number>;
using Names = std::set<std::string>;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class ComplexProducts : public testing::Test {
 protected:
  ComplexProducts() { write(generate_complex({Family::wide_exponents, 5, 4, 6, 1, 3})); }

  void write(ComplexProblem problem) {
    problem_ = std::move(problem);
    files::write_matrix(a_, std::as_const(problem_.a).view());
    files::write_matrix(b_, std::as_const(problem_.b).view());
  }

  [[nodiscard]] std::vector<std::string> with(const std::string& command, const std::vector<std::string>& more) const {
    std::vector<std::string> all{command, a_, b_};
    if (command == "verify") all.push_back(c_);
    if (command == "gemm") all.insert(all.end(), {"-o", c_});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// The report of a gemm, which must succeed.
  json gemm(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--json", "--report", report_});
    const auto finished = ozbound(with("gemm", more));
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return finished.code == 0 ? json::parse(finished.out) : json();
  }

  [[nodiscard]] Numbers c() const { return std::get<Numbers>(files::read_matrix(c_).values); }

  /// Checks that every bit of C is that of the exact product, rounded once.
  static void expect_rounded(const ComplexOperands& operands, const ResultView& c) {
    const ExactOracle oracle(operands.operands());
    ASSERT_EQ(c.rows(), oracle.rows());
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j)
        EXPECT_EQ(bits(c(i, j)), bits(oracle.evaluate(i, j, 0, c.format()).rounded)) << i << ' ' << j;
  }

  TemporaryDirectory directory_;
  std::string a_ = directory_ / "A.npy", b_ = directory_ / "B.mtx", c_ = directory_ / "C.npy", c0_ = directory_ / "C0.npy",
              report_ = directory_ / "C.json";
  ComplexProblem problem_;
};

/// For every target and method, the oracle judges C and the second program recomputes the certificate.
TEST_F(ComplexProducts, MeetTheirTargets) {
  files::write_matrix(c0_, matrix_of<Number>(5, 4, std::vector<Number>(20, {0.3, -7})).view());
  for (const std::vector<std::string>& scalars : {std::vector<std::string>{},
                                                  {"--alpha", "-1.5"},
                                                  {"--alpha", "1,-2", "--beta", "0.5,3", "--c", c0_},
                                                  {"--alpha", "0,0x1p-30", "--beta", "-1", "--c", c0_}})
    for (const std::string target :
         {"dgemm", "dgemm-typical", "cr", "componentwise:1e-9", "relative:1e-9", "normwise:1e-12", "rowcol:1e-12"})
      for (const std::string engine : {"auto", "cpu"}) {
        auto more = scalars;
        more.insert(more.end(), {"--target", target, "--engine", engine, "--verify", "exact"});
        const auto report = gemm(more);
        EXPECT_EQ(report["certificate"]["holds"], true) << target;
        EXPECT_EQ(report["verification"]["holds"], true) << target;
        auto check = scalars;
        check.insert(check.end(), {"--certificate", report_});
        const auto finished = ozbound(with("verify", check));
        EXPECT_EQ(finished.code, 0) << target << finished.out << finished.err;
      }
}

TEST_F(ComplexProducts, AreRoundedOnce) {
  gemm({"--target", "cr", "--alpha", "1,-2"});
  const auto computed = c();
  const ComplexOperands operands({problem_.a.view()}, {problem_.b.view()}, {1, -2});
  expect_rounded(operands, ComplexResult(computed.view()).view());
}

TEST_F(ComplexProducts, OperandsAreTransposedAndConjugated) {
  write(generate_complex({Family::powers_of_two, 4, 4, 4, 1, 1}));
  const auto view = [](const Numbers& x, char op) { return op == 'N' ? x.view() : x.view().transposed(); };
  for (const char op_a : {'N', 'T', 'C'})
    for (const char op_b : {'N', 'T', 'C'}) {
      const auto report =
          gemm({"--target", "cr", "--op-a", std::string(1, op_a), "--op-b", std::string(1, op_b), "--verify", "mpfr"});
      EXPECT_EQ(report["operands"]["a"]["op"], std::string(1, op_a));
      EXPECT_EQ(report["operands"]["b"]["op"], std::string(1, op_b));
      const auto computed = c();
      expect_rounded({{view(problem_.a, op_a), op_a == 'C'}, {view(problem_.b, op_b), op_b == 'C'}},
                     ComplexResult(computed.view()).view());
      const auto other = ozbound(with("verify", {"--op-a", op_a == 'C' ? "T" : "C", "--op-b", "N", "--target", "dgemm"}));
      EXPECT_EQ(other.code, 1) << "another product";
    }
}

TEST_F(ComplexProducts, HardElements) {
  ComplexProblem hard{{}, {3, 3}, {3, 3}};
  const double values[] = {0x1p-1074, -0.0, 0x1.fffffffffffffp1023, 1 + 0x1p-52, -0x1p-1022, 3, 0x1p-537, 0, -0x1p500};
  for (Index t = 0; t < 9; ++t) {
    hard.a.data()[t] = {values[t], values[(2 * t + 1) % 9]};
    hard.b.data()[t] = {values[(4 * t + 3) % 9], -values[(5 * t + 7) % 9]};
  }
  hard.a(2, 1) = {inf, 1}, hard.b(0, 2) = {1, nan};
  write(hard);
  for (const std::string alpha : {"1", "0,-1", "0x1p-1074,0x1p1000", "inf,1"})
    for (const std::string target : {"cr", "dgemm"}) {
      const auto report = gemm({"--target", target, "--alpha", alpha, "--verify", "exact"});
      EXPECT_EQ(report["verification"]["holds"], true) << alpha << target;
      EXPECT_EQ(ozbound(with("verify", {"--alpha", alpha, "--certificate", report_})).code, 0) << alpha << target;
    }
}

TEST_F(ComplexProducts, FloatsGiveFloats) {
  const auto narrow = [](const Numbers& x) {
    Matrix<std::complex<float>> out(x.rows(), x.cols());
    for (Index t = 0; t < x.rows() * x.cols(); ++t) out.data()[t] = std::complex<float>(x.data()[t]);
    return out;
  };
  const auto wide = [](const Matrix<std::complex<float>>& x) {
    Numbers out(x.rows(), x.cols());
    for (Index t = 0; t < x.rows() * x.cols(); ++t) out.data()[t] = x.data()[t];
    return out;
  };
  b_ = directory_ / "B.npy";
  const auto a = narrow(problem_.a), b = narrow(problem_.b);
  files::write_matrix(a_, a.view());
  files::write_matrix(b_, b.view());
  const auto report = gemm({"--target", "cr", "--beta", "0"});
  EXPECT_EQ(report["result"]["type"], "c8");
  EXPECT_EQ(report["operands"]["a"]["type"], "c8");
  const auto computed = std::get<Matrix<std::complex<float>>>(files::read_matrix(c_).values);
  const auto wide_a = wide(a), wide_b = wide(b);
  expect_rounded({{wide_a.view()}, {wide_b.view()}}, ComplexResult(computed.view()).view());
  EXPECT_EQ(ozbound(with("verify", {"--certificate", report_})).code, 0);
  files::write_matrix(b_, wide_b.view());
  EXPECT_EQ(gemm()["result"]["type"], "c16") << "of a float and a double";
}

/// Real matrices in a complex product have imaginary parts of zero, whichever argument makes the product complex.
TEST_F(ComplexProducts, OfRealMatrices) {
  const auto real = generate({Family::uniform, 5, 4, 6, 0, 8});
  const auto promoted = [](const Matrix<double>& x) {
    Numbers out(x.rows(), x.cols());
    for (Index t = 0; t < x.rows() * x.cols(); ++t) out.data()[t] = x.data()[t];
    return out;
  };
  const auto a = promoted(real.a), b = promoted(real.b);
  const Numbers c0 = matrix_of<Number>(5, 4, std::vector<Number>(20, {1, 2}));
  const auto computed = [&](const std::vector<std::string>& more) {
    auto all = more;
    all.insert(all.end(), {"--target", "cr"});
    EXPECT_EQ(gemm(all)["result"]["type"], "c16");
    all = more;
    all.insert(all.end(), {"--certificate", report_});
    EXPECT_EQ(ozbound(with("verify", all)).code, 0);
    return c();
  };
  files::write_matrix(a_, real.a.view());
  auto result = computed({});
  expect_rounded({{a.view()}, {problem_.b.view()}}, ComplexResult(result.view()).view());
  files::write_matrix(b_, real.b.view());
  result = computed({"--alpha", "0.1,1"});
  expect_rounded({{a.view()}, {b.view()}, {0.1, 1}}, ComplexResult(result.view()).view());
  files::write_matrix(c0_, c0.view());
  result = computed({"--beta", "3", "--c", c0_});
  expect_rounded({{a.view()}, {b.view()}, 1, 3, c0.view()}, ComplexResult(result.view()).view());
  EXPECT_EQ(gemm({"--alpha", "2,0", "--op-a", "N"})["result"]["type"], "f8") << "an imaginary part of zero is none";
  files::write_matrix(a_, problem_.a.view());
  files::write_matrix(c0_, generate({Family::uniform, 5, 4, 6, 0, 9}).a.view().block(0, 0, 5, 4));
  const auto real_c0 = promoted(std::get<Matrix<double>>(files::read_matrix(c0_).values));
  for (const auto& [text, beta] : {std::pair<std::string, Number>{"3", 3}, {"0.5,-2", {0.5, -2}}}) {
    result = computed({"--beta", text, "--c", c0_});
    expect_rounded({{problem_.a.view()}, {b.view()}, 1, beta, real_c0.view()}, ComplexResult(result.view()).view());
  }
}

TEST_F(ComplexProducts, DecisionsAreReplayed) {
  for (const auto& scalars : {std::vector<std::string>{}, {"--alpha", "1,-2"}}) {
    const std::string decision = directory_ / "decision.json";
    auto more = scalars;
    more.insert(more.end(), {"--target", "componentwise:1e-9", "--engine", "cpu", "--save", decision});
    ASSERT_EQ(ozbound(with("plan", more)).code, 0);
    const auto saved = json::parse(read_bytes(decision));
    EXPECT_EQ(saved["complex"], true);
    EXPECT_EQ(saved["m"], 5);
    EXPECT_EQ(saved["n"], 4);
    EXPECT_EQ(saved["k"], 6);
    more = scalars;
    more.insert(more.end(), {"--target", "componentwise:1e-9", "--engine", "cpu"});
    gemm(more);
    const auto bytes = read_bytes(c_);
    more = scalars;
    more.insert(more.end(), {"--decision", decision});
    gemm(more);
    EXPECT_EQ(read_bytes(c_), bytes);
  }
}

TEST_F(ComplexProducts, HaveTheSameBitsOnADevice) {
  if (!cuda_obstacle().empty()) GTEST_SKIP() << cuda_obstacle();
  for (const std::string alpha : {"1", "1,-2"})
    for (const std::string target : {"dgemm", "cr"}) {
      const std::vector<std::string> more{"--alpha", alpha, "--target", target, "--plan", "balanced:9x9:cut=10:exact",
                                          "--engine"};
      auto here = more, there = more;
      here.emplace_back("cpu"), there.emplace_back("cuda");
      const auto expected = gemm(here)["certificate"];
      const auto bytes = read_bytes(c_);
      EXPECT_EQ(gemm(there)["certificate"], expected);
      EXPECT_EQ(read_bytes(c_), bytes);
    }
}

TEST_F(ComplexProducts, ForPeople) {
  EXPECT_THAT(ozbound(with("plan", {})).out, HasSubstr("dgemm for a complex 5 x 4, inner dimension 6\n"));
  const auto finished = ozbound(with("gemm", {"--verify", "sample"}));
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, ContainsRegex("C +complex 5 x 4 in "));
  EXPECT_THAT(finished.out, HasSubstr("  40 real and imaginary parts judged, 0 failing"));
  EXPECT_THAT(finished.out, ContainsRegex("typical DGEMM +errs by about sqrt\\(2k\\) u M; "));
  EXPECT_THAT(ozbound(with("verify", {"--target", "dgemm", "--sample", "7"})).out,
              HasSubstr("a sample of 7 of 40 real and imaginary parts, seed 0, is looked at:\n"));
  const auto measured = ozbound(with("verify", {})).out;
  EXPECT_THAT(measured, ContainsRegex("parts measured +40\n"));
  EXPECT_THAT(measured, ContainsRegex("dgemm-typical .* / \\(sqrt\\(2k\\) u M\\)\n"));
}

/// A product of 1 x 1 matrices is reported as 1 x 1; the real matrices that represent it are not mentioned.
TEST_F(ComplexProducts, ShowTheirOwnSizes) {
  write(generate_complex({Family::uniform, 1, 1, 1, 0, 7}));
  const std::string decision = directory_ / "decision.json", bounds = directory_ / "E.npy";
  std::string shown;
  const auto show = [&](const std::vector<std::string>& arguments) {
    const auto finished = ozbound(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    shown += finished.out;
    return finished.out;
  };
  EXPECT_THAT(show(with("plan", {"--save", decision})), HasSubstr("dgemm for a complex 1 x 1, inner dimension 1\n"));
  EXPECT_THAT(show(with("gemm", {"--decision", decision, "--report", report_, "--verify", "exact"})),
              ContainsRegex("C +complex 1 x 1 in "));
  EXPECT_THAT(show(with("verify", {"--report", report_})),
              ContainsRegex("worst entry \\(0, 0\\), (real|imaginary) part, binary64, counted from 0\n"));
  EXPECT_THAT(show(with("verify", {"--certificate", report_})), ContainsRegex("parts +2 recomputed\n"));
  EXPECT_THAT(show({"bounds", report_, "-o", bounds}), ContainsRegex("bounds +complex 1 x 1 in "));
  EXPECT_THAT(shown, testing::Not(HasSubstr("2 x 1")));
  const auto report = json::parse(read_bytes(report_));
  for (const auto* const record : {"decision", "certificate"}) {
    EXPECT_EQ(report[record]["complex"], true);
    for (const auto* const size : {"m", "n", "k"}) EXPECT_EQ(report[record][size], 1) << record << size;
  }
  for (const auto& verdict : report["verification"]["verdicts"]) {
    EXPECT_EQ(verdict["row"], 0);
    EXPECT_THAT(verdict["part"], testing::AnyOf("real", "imaginary"));
  }
}

/// Records without the member `complex` are about a real product of 2m x n x 2k and are refused for the complex one.
TEST_F(ComplexProducts, RecordsOfTheRealProductAreForNoComplexOne) {
  const std::string decision = directory_ / "decision.json";
  auto record = gemm({"--engine", "cpu"});
  for (const auto* const name : {"decision", "certificate"}) {
    record[name].erase("complex");
    record[name]["m"] = 10, record[name]["k"] = 12;
  }
  auto& worst = record["certificate"]["worst_entry"];
  worst = {2 * worst[0].get<int>() + (worst[2] == "real" ? 0 : 1), worst[1]};
  write_bytes(decision, record["decision"].dump());
  expect_refusal(with("gemm", {"--decision", decision}), "decision: is for a real 10 x 4 x 12, not for a complex 5 x 4 x 6");
  write_bytes(report_, record.dump());
  expect_refusal(with("verify", {"--report", report_}),
                 report_ + ": the report is about a real product, and the one of these matrices is complex");
  const auto check = ozbound(with("verify", {"--certificate", report_}));
  EXPECT_EQ(check.code, 1);
  EXPECT_THAT(check.out, ContainsRegex("wrong +complex: false is claimed, and true found\n"));
}

TEST_F(ComplexProducts, AWrongPartIsFound) {
  gemm({"--target", "cr"});
  for (const bool imaginary : {false, true}) {
    auto wrong = c();
    auto& entry = wrong(2, 3);
    entry = imaginary ? Number{entry.real(), std::nextafter(entry.imag(), 9)}
                      : Number{std::nextafter(entry.real(), 9), entry.imag()};
    const auto right = c();
    files::write_matrix(c_, std::as_const(wrong).view());
    EXPECT_EQ(ozbound(with("verify", {"--target", "cr", "--mpfr"})).code, 1);
    const auto verdict = json::parse(ozbound(with("verify", {"--report", report_, "--json"})).out)["verdicts"][0];
    EXPECT_EQ(verdict["holds"], false);
    EXPECT_EQ(verdict["row"], 2);
    EXPECT_EQ(verdict["col"], 3);
    EXPECT_EQ(verdict["part"], imaginary ? "imaginary" : "real");
    const auto check = ozbound(with("verify", {"--certificate", report_}));
    EXPECT_EQ(check.code, 1);
    EXPECT_THAT(check.out, ContainsRegex("wrong +fingerprints.c: "));
    files::write_matrix(c_, right.view());
  }
}

TEST_F(ComplexProducts, WhatDoesNotFitIsRefused) {
  const auto refuse = [&](const std::string& command, const std::vector<std::string>& more, const std::string& wrong) {
    const auto before = directory_.names();
    expect_refusal(with(command, more), wrong);
    EXPECT_EQ(directory_.names(), before) << wrong;
  };
  refuse("gemm", {"--alpha", "1,x"}, "--alpha: 'x' is not a number; see ozbound gemm --help");
  refuse("gemm", {"--alpha", "1,2,3"}, "--alpha: '2,3' is not a number; see ozbound gemm --help");
  refuse("gemm", {"--op-a", "T"},
         "op(A) of " + a_ + " is 6 x 5 and op(B) of " + b_ + " is 6 x 4: 5 columns do not meet 6 rows");
  refuse("gemm", {"--beta", "0,1"}, "--beta: C0 is missing; --c names it");
  const auto real = generate({Family::uniform, 5, 4, 6, 0, 8});
  gemm({"--alpha", "1,-2"});
  expect_refusal(with("verify", {"--alpha", "1,2", "--report", report_}),
                 report_ +
                     ": the report is about --op-a N --op-b N --alpha 1,-2 --beta 0, and the arguments say --op-a N --op-b N "
                     "--alpha 1,2 --beta 0");
  EXPECT_EQ(ozbound(with("verify", {"--alpha", "1,2", "--certificate", report_})).code, 1);
  files::write_matrix(a_, real.a.view());
  files::write_matrix(b_, real.b.view());
  expect_refusal(with("verify", {}), c_ + ": C is complex, and the product is real");
  files::write_matrix(b_, problem_.b.view());
  files::write_matrix(c_, Matrix<double>(5, 4).view());
  EXPECT_EQ(ozbound(with("verify", {"--target", "dgemm"})).code, 1)
      << "a real C of a complex product has imaginary parts of zero";
}

TEST_F(ComplexProducts, TheWorstPartIsNamed) {
  auto last_row = problem_;  // the other rows have no error
  for (Index t = 0; t < 4 * 6; ++t) last_row.a.data()[t] = 0;
  write(last_row);
  const std::vector<std::string> coarse{"--plan", "balanced:1x1:full:exact", "--alpha", "0,1"};
  const auto worst = gemm(coarse)["certificate"]["worst_entry"];
  const int row = worst[0], column = worst[1];
  const std::string part = worst[2];
  EXPECT_EQ(row, 4);
  std::filesystem::remove(c_);
  std::filesystem::remove(report_);
  auto strict = coarse;
  strict.insert(strict.end(), {"--target", "dgemm", "--report", report_});
  const auto finished = ozbound(with("gemm", strict));
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr(" does not certify dgemm: the " + part + " part of entry (" + std::to_string(row) + ", " +
                                      std::to_string(column) + ") may be wrong by "));
  EXPECT_EQ(directory_.names(), (Names{"A.npy", "B.mtx"}));
}

TEST_F(ComplexProducts, NativeDgemmAloneTakesRealScalars) {
  if (ozbound::native_gemm() == nullptr) GTEST_SKIP() << "no native DGEMM in this build";
  for (const std::string command : {"gemm", "plan"}) {
    EXPECT_EQ(ozbound(with(command, {"--engine", "native", "--alpha", "-1"})).code, 0);
    const auto finished = ozbound(with(command, {"--engine", "native", "--alpha", "1,-2"}));
    EXPECT_EQ(finished.code, 3);
    EXPECT_EQ(finished.err, "ozbound: native DGEMM does not certify dgemm: it has no complex alpha or beta\n");
  }
}

TEST_F(ComplexProducts, SpecialPartsOfAReport) {
  const auto report = gemm({"--alpha", "1,-2"});
  EXPECT_EQ(report["operands"]["alpha"], json({1.0, -2.0}));
  EXPECT_EQ(report["operands"]["beta"], 0.0);
  EXPECT_EQ(report["operands"]["b"]["type"], "c16");
  EXPECT_EQ(report["certificate"]["imaginary"]["alpha"], -2.0);
  EXPECT_EQ(report["certificate"]["m"], 5);
  EXPECT_FALSE(gemm({"--alpha", "2"})["certificate"].contains("imaginary"));
}

TEST_F(ComplexProducts, EmptyOnes) {
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{0, 4, 3}, {3, 0, 2}, {3, 2, 0}}) {
    write(generate_complex({Family::uniform, m, n, k, 0, 0}));
    for (const std::string alpha : {"1", "1,2"}) {
      const auto report = gemm({"--alpha", alpha, "--verify", "exact"});
      EXPECT_EQ(report["certificate"]["holds"], true);
      EXPECT_EQ(ozbound(with("verify", {"--alpha", alpha, "--certificate", report_})).code, 0);
      EXPECT_EQ(c().rows(), m);
    }
  }
}

}  // namespace
}  // namespace ozbound::cli::test::complex_products_test
