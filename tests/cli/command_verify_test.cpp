// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "ozbound/bounds/target.hpp"

namespace ozbound::cli::test::command_verify_test {
namespace {

using nlohmann::json;

/// A 2 x 3, B 3 x 2 and their product, which is exact; one of its entries can be made wrong by any small amount.
class CommandVerify : public testing::Test {
 protected:
  CommandVerify() {
    files::write_matrix(a_, matrix_of<double>(2, 3, {1, 2, 3, 4, 5, 6}).view());
    files::write_matrix(b_, matrix_of<double>(3, 2, {1, 0, 0, 1, 1, -1}).view());
    files::write_matrix(c_, matrix_of<double>(2, 2, {4, -1, 10, -1}).view());
  }

  [[nodiscard]] std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> out{"verify", a_, b_, c_};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  /// C with an entry (1, 0) that is one unit in the last place too large.
  void make_wrong() { files::write_matrix(c_, matrix_of<double>(2, 2, {4, -1, 10 + 0x1p-49, -1}).view()); }

  std::string write_report(const json& report) {
    write_bytes(directory_ / "report.json", report.dump());
    return directory_ / "report.json";
  }

  static json certificate() {
    return {{"schema", "ozbound-certificate-5"},
            {"target", "cr"},
            {"holds", true},
            {"largest_bound", 0x1p-49},
            {"m", 2},
            {"n", 2},
            {"k", 3}};
  }

  TemporaryDirectory directory_;
  std::string a_ = directory_ / "A.npy", b_ = directory_ / "B.mtx", c_ = directory_ / "C.npy";
};

TEST_F(CommandVerify, MeasuresAndSucceeds) {
  make_wrong();
  const auto finished = ozbound(arguments({"--wide"}));
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, testing::ContainsRegex("entries measured +4\n"));
  EXPECT_THAT(finished.out, testing::ContainsRegex("not correctly rounded +1\n"));
  EXPECT_THAT(finished.out, testing::ContainsRegex("relative +1\\.777e-16 "));  // 2^-49 / 10 = 1.7763…e-16, upward
  EXPECT_THAT(finished.out, testing::ContainsRegex("dgemm-typical +[0-9.]+  max \\|C\\^ - C\\| / \\(sqrt\\(k\\) u M\\)\n"));
  EXPECT_THAT(finished.out, testing::HasSubstr("  ||C^ - C||_F / ||M||_F: relative to || |alpha||A||B| + |beta||C0| ||_F, "
                                               "not to ||C||_F\n"));
}

TEST_F(CommandVerify, MeasuresForPrograms) {
  make_wrong();
  const auto record = json::parse(ozbound(arguments({"--json"})).out);
  EXPECT_EQ(record["schema"], "ozbound-verification-1");
  const auto& measured = record["measurement"];
  EXPECT_EQ(measured["entries"], 4);
  EXPECT_EQ(measured["not_correctly_rounded"], 1);
  EXPECT_EQ(measured["componentwise"], 0x1p-49 / 10);  // the double above the quotient
  EXPECT_GT(measured["dgemm_typical"], measured["dgemm"]);
}

TEST_F(CommandVerify, ATargetThatIsMet) {
  for (const auto* oracle : {"", "--mpfr"}) {
    auto all = arguments({"--target", "cr"});
    if (*oracle != '\0') all.emplace_back(oracle);
    const auto finished = ozbound(all);
    EXPECT_EQ(finished.code, 0) << oracle;
    EXPECT_THAT(finished.out, testing::StartsWith("cr holds: error / bound = 0\n")) << oracle;
  }
}

TEST_F(CommandVerify, ATargetThatIsNotMet) {
  make_wrong();
  const auto finished = ozbound(arguments({"--target", "cr"}));
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, testing::StartsWith("cr FAILS"));
  EXPECT_THAT(finished.out, testing::HasSubstr("worst entry (1, 0)"));
  EXPECT_THAT(finished.out, testing::HasSubstr("verify " + a_ + " " + b_ + " " + c_ + " --target cr\n"));
  EXPECT_EQ(ozbound(arguments({"--target", "componentwise:0x1p-52"})).code, 0);
}

TEST_F(CommandVerify, JudgesForPrograms) {
  make_wrong();
  const auto finished = ozbound(arguments({"--target", "cr", "--json", "--mpfr"}));
  EXPECT_EQ(finished.code, 1);
  const auto record = json::parse(finished.out);
  EXPECT_EQ(record["holds"], false);
  ASSERT_EQ(record["verdicts"].size(), 1U);
  EXPECT_EQ(record["verdicts"][0]["claim"], "cr");
  EXPECT_EQ(record["verdicts"][0]["row"], 1);
}

TEST_F(CommandVerify, AReportThatIsMet) {
  EXPECT_EQ(ozbound(arguments({"--report", write_report(certificate())})).code, 0);
  EXPECT_EQ(
      ozbound(arguments({"--report", write_report({{"schema", "ozbound-report-1"}, {"certificate", certificate()}})})).code, 0);
}

TEST_F(CommandVerify, AReportThatIsNotMet) {
  make_wrong();
  const auto finished = ozbound(arguments({"--json", "--report", write_report(certificate())}));
  EXPECT_EQ(finished.code, 1);
  const auto record = json::parse(finished.out);
  EXPECT_EQ(record["verdicts"][0]["claim"], "cr");
  EXPECT_EQ(record["verdicts"][0]["holds"], false);
  EXPECT_EQ(record["verdicts"][1]["claim"], "bound");
  EXPECT_EQ(record["verdicts"][1]["holds"], true) << "the largest bound is the error exactly";
}

TEST_F(CommandVerify, AReportClaimsNoMoreThanItSays) {
  make_wrong();
  auto report = certificate();
  report["holds"] = false;
  EXPECT_EQ(ozbound(arguments({"--report", write_report(report)})).code, 0) << "the target is not claimed";
  report["largest_bound"] = 0x1.fffffffffffffp-50;
  EXPECT_EQ(ozbound(arguments({"--report", write_report(report)})).code, 1);
  report["largest_bound"] = "inf";
  EXPECT_EQ(ozbound(arguments({"--report", write_report(report)})).code, 0);
  EXPECT_EQ(ozbound(arguments({"--target", "cr", "--report", write_report(report)})).code, 1) << "the target counts too";
}

TEST_F(CommandVerify, ReportsOfOtherProductsAreRefused) {
  auto report = certificate();
  report["k"] = 4;
  const auto path = write_report(report);
  expect_refusal(arguments({"--report", path}),
                 path + ": the report is about m = 2, n = 2, k = 4, and the matrices have 2, 2, 3");
}

TEST_F(CommandVerify, ReportsOfOtherScalarsAreRefused) {
  const json operands{{"a", {{"op", "N"}}}, {"b", {{"op", "N"}}}, {"alpha", 1}, {"beta", 0}};
  const auto path = write_report({{"schema", "ozbound-report-1"}, {"certificate", certificate()}, {"operands", operands}});
  EXPECT_EQ(ozbound(arguments({"--report", path})).code, 0);
  expect_refusal(arguments({"--report", path, "--alpha", "2"}),
                 path +
                     ": the report is about --op-a N --op-b N --alpha 1 --beta 0, and the arguments say --op-a N --op-b N "
                     "--alpha 2 --beta 0");
}

TEST_F(CommandVerify, JudgesWhatGemmReports) {
  const std::string report = directory_ / "report.json";
  files::write_matrix(a_, matrix_of<double>(2, 3, {0.1, 2e10, 3, 4, -5e-7, 6}).view());
  for (const auto* target : {"dgemm", "cr", "componentwise:1e-10"}) {
    ASSERT_EQ(ozbound({"gemm", a_, b_, "--op-a", "N", "--alpha", "0.1", "-o", c_, "--target", target, "--report", report}).code,
              0);
    EXPECT_EQ(ozbound(arguments({"--alpha", "0.1", "--report", report})).code, 0) << target;
    auto wrong = std::get<Matrix<double>>(files::read_matrix(c_).values);
    wrong(1, 1) *= 1.001;
    files::write_matrix(c_, wrong.view());
    EXPECT_EQ(ozbound(arguments({"--alpha", "0.1", "--report", report})).code, 1) << target;
  }
}

TEST_F(CommandVerify, RecomputesACertificate) {
  const std::string report = directory_ / "report.json", c0 = directory_ / "C0.npy";
  files::write_matrix(a_, matrix_of<double>(3, 2, {0.1, 2e10, 3, 4, -5e-7, 6}).view());
  files::write_matrix(b_, matrix_of<float>(2, 3, {1.5F, 0, 1, 1e-3F, 1, -1}).view());
  files::write_matrix(c0, matrix_of<double>(2, 2, {1e-3, 2, 3, 4}).view());
  const std::vector<std::string> call{"--op-a", "T", "--op-b", "T", "--alpha", "0.1", "--beta", "-3", "--c", c0};
  for (const auto* target : {"dgemm", "dgemm-typical", "cr", "componentwise:1e-10", "relative:1e-8", "normwise:1e-12"}) {
    std::vector<std::string> gemm{"gemm", a_, b_, "-o", c_, "--target", target, "--report", report};
    gemm.insert(gemm.end(), call.begin(), call.end());
    ASSERT_EQ(ozbound(gemm).code, 0) << target;
    auto verify = arguments(call);
    verify.insert(verify.end(), {"--certificate", report});
    const auto finished = ozbound(verify);
    EXPECT_EQ(finished.code, 0) << target << finished.out << finished.err;
    EXPECT_THAT(finished.out, testing::ContainsRegex("certificate +every claim holds\n")) << target;
    verify[5] = "N";  // op(B), which is not square
    EXPECT_EQ(ozbound(verify).code, 2) << target;
  }
}

/// The ratio includes the final rounding, which is all that the target allows: the product before it is exact.
TEST_F(CommandVerify, TheRatioHasTheLastRounding) {
  const std::string report = directory_ / "report.json";
  files::write_matrix(a_, matrix_of<double>(1, 1, {1 + 0x1p-26}).view());
  files::write_matrix(b_, matrix_of<double>(1, 1, {1 + 0x1p-27}).view());
  const auto gemm = ozbound({"gemm", a_, b_, "-o", c_, "--plan", "balanced:7x7:full:exact", "--target", "componentwise:0x1p-53",
                             "--engine", "cpu", "--report", report});
  EXPECT_EQ(gemm.code, 0) << gemm.err;
  EXPECT_THAT(gemm.out, testing::ContainsRegex("bound +1 of what the target allows\n"));
  auto record = json::parse(read_bytes(report));
  EXPECT_EQ(record["certificate"]["ratio"], 1);
  EXPECT_EQ(ozbound(arguments({"--certificate", report})).code, 0);
  record["certificate"]["ratio"] = 0.99;
  write_bytes(report, record.dump());
  const auto lowered = ozbound(arguments({"--certificate", report})).out;
  EXPECT_THAT(lowered, testing::ContainsRegex("wrong +ratio: "));
  EXPECT_THAT(lowered, testing::ContainsRegex("wrong +target: .*0.99 of what the target allows"));
  record["certificate"]["schema"] = "ozbound-certificate-3";
  write_bytes(report, record.dump());
  expect_refusal(arguments({"--certificate", report}),
                 report + ": certificate: 'schema' is ozbound-certificate-3, whose ratio stopped before the rounding");
}

TEST_F(CommandVerify, SaysWhichClaimFails) {
  const std::string report = directory_ / "report.json";
  ASSERT_EQ(ozbound({"gemm", a_, b_, "-o", c_, "--engine", "cpu", "--report", report}).code, 0);
  auto changed = json::parse(read_bytes(report));
  changed["certificate"]["undecided_entries"] = 3;
  write_bytes(report, changed.dump());
  const auto finished = ozbound(arguments({"--certificate", report}));
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, testing::ContainsRegex("certificate +REJECTED\n"));
  EXPECT_THAT(finished.out, testing::ContainsRegex("wrong +seal: "));
  EXPECT_THAT(finished.out, testing::ContainsRegex("wrong +undecided_entries: 3 is claimed, and 0 found\n"));
  const auto record = json::parse(ozbound(arguments({"--certificate", report, "--sample", "4", "--json"})).out);
  EXPECT_EQ(record["schema"], "ozbound-certificate-check-1");
  EXPECT_EQ(record["holds"], false);
  EXPECT_EQ(record["entries"], 4);
}

TEST_F(CommandVerify, ASampleIsSaidToBeOneFirst) {
  const std::string report = directory_ / "report.json";
  files::write_matrix(a_, Matrix<double>(20, 1).view());
  files::write_matrix(b_, Matrix<double>(1, 20).view());
  ASSERT_EQ(ozbound({"gemm", a_, b_, "-o", c_, "--engine", "cpu", "--report", report}).code, 0);
  const std::vector<std::string> sample{"--sample", "10", "--seed", "3"};
  const auto first_line = [&](std::vector<std::string> more) {
    more.insert(more.end(), sample.begin(), sample.end());
    const auto finished = ozbound(arguments(more));
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out.substr(0, finished.out.find('\n'));
  };
  EXPECT_EQ(first_line({"--certificate", report}), "certificate  a sample of 10 of 400 entries, seed 3: no claim fails");
  EXPECT_EQ(first_line({"--target", "cr"}), "a sample of 10 of 400 entries, seed 3, is looked at:");
  EXPECT_EQ(first_line({}), "a sample of 10 of 400 entries, seed 3, is looked at:");
  const auto record = json::parse(ozbound(arguments({"--certificate", report, "--sample", "10", "--json"})).out);
  EXPECT_EQ(record["sample"], json({{"entries", 10}, {"of", 400}, {"seed", 0}}));
  for (const std::vector<std::string>& all : {std::vector<std::string>{}, {"--all"}, {"--sample", "400"}}) {
    auto more = arguments({"--certificate", report, "--json"});
    more.insert(more.end(), all.begin(), all.end());
    const auto checked = json::parse(ozbound(more).out);
    EXPECT_EQ(checked["sample"], nullptr) << "a small product is checked entirely";
    EXPECT_EQ(checked["entries"], 400);
  }
  EXPECT_EQ(ozbound(arguments({"--certificate", report, "--seed", "7"})).code, 0);
  expect_refusal(arguments({"--seed", "7"}), "--seed: it needs --sample, or --certificate");
  EXPECT_EQ(ozbound(arguments({"--certificate", report, "--all", "--sample", "3"})).code, 2);
  EXPECT_EQ(ozbound(arguments({"--all"})).code, 2);
}

TEST_F(CommandVerify, IsNotTakenInByACertificateInACertificate) {
  const std::string report = directory_ / "report.json";
  ASSERT_EQ(ozbound({"gemm", a_, b_, "-o", c_, "--engine", "cpu", "--target", "componentwise:1e-3", "--report", report}).code,
            0);
  const auto weak = json::parse(read_bytes(report))["certificate"];
  auto forged = weak;
  forged["target"] = "cr", forged["largest_bound"] = 0, forged["certificate"] = weak;
  write_bytes(report, forged.dump());
  expect_refusal(arguments({"--certificate", report}), report + ": certificate: 'certificate' is unknown");
  make_wrong();
  EXPECT_EQ(ozbound(arguments({"--report", report})).code, 1) << "its own claims count";
  write_bytes(report, R"({"schema": "ozbound-report-1", "certificate": 1, "certificate": 2})");
  expect_refusal(arguments({"--report", report}), report + ": 'certificate' is there twice");
  write_bytes(report, R"({"schema": "ozbound-report-1"})");
  expect_refusal(arguments({"--report", report}), report + ": the report has no certificate");
}

TEST_F(CommandVerify, RejectsACertificateOfAnotherProduct) {
  const std::string report = directory_ / "report.json";
  ASSERT_EQ(ozbound({"gemm", a_, b_, "-o", c_, "--engine", "cpu", "--report", report}).code, 0);
  make_wrong();
  EXPECT_THAT(ozbound(arguments({"--certificate", report})).out, testing::ContainsRegex("wrong +fingerprints.c: "));
  const auto scaled = ozbound(arguments({"--certificate", report, "--alpha", "2"}));
  EXPECT_EQ(scaled.code, 1);
  EXPECT_THAT(scaled.out, testing::ContainsRegex("wrong +alpha: "));
}

TEST_F(CommandVerify, WhatIsNoCertificateIsRefused) {
  const std::string file = directory_ / "report.json";
  expect_refusal(arguments({"--certificate", file}), file + ": cannot be opened: No such file or directory");
  write_bytes(file, "no");
  expect_refusal(arguments({"--certificate", file}), file + ": certificate: line 1: this is not JSON");
  write_bytes(file, certificate().dump());
  expect_refusal(arguments({"--certificate", file}), file + ": certificate: 'seal' is missing");
  EXPECT_EQ(ozbound(arguments({"--certificate", file, "--report", file})).code, 2);
  EXPECT_EQ(ozbound(arguments({"--certificate", file, "--target", "cr"})).code, 2);
  EXPECT_EQ(ozbound(arguments({"--certificate", file, "--mpfr"})).code, 2);
}

TEST_F(CommandVerify, ScalarsTranspositionsAndC0) {
  files::write_matrix(a_, matrix_of<double>(3, 2, {1, 4, 2, 5, 3, 6}).view());
  files::write_matrix(b_, matrix_of<float>(2, 3, {1, 0, 1, 0, 1, -1}).view());  // .mtx
  const std::string c0 = directory_ / "C0.npy";
  files::write_matrix(c0, matrix_of<float>(2, 2, {1, 2, 3, 4}).view());
  files::write_matrix(c_, matrix_of<double>(2, 2, {8 - 0.5, -2 - 1, 20 - 1.5, -2 - 2}).view());
  const std::vector<std::string> call{"--op-a", "T",    "--op-b", "c", "--alpha",  "2",
                                      "--beta", "-0.5", "--c",    c0,  "--target", "cr"};
  EXPECT_EQ(ozbound(arguments(call)).code, 0);
  files::write_matrix(c0, matrix_of<double>(2, 3, {1, 2, 3, 4, 5, 6}).view());
  expect_refusal(arguments(call), c0 + ": C0 is 2 x 3, and the product is 2 x 2");
}

TEST_F(CommandVerify, C0IsNotReadWhereBetaIsZero) {
  EXPECT_EQ(ozbound(arguments({"--beta", "0", "--c", "missing.npy", "--target", "cr"})).code, 0);
  expect_refusal(arguments({"--beta", "1"}), "--beta: C0 is missing; --c names it");
  expect_usage_error(arguments({"--c", a_}), "--c requires --beta");
}

TEST_F(CommandVerify, FloatsAreJudgedAsFloats) {
  files::write_matrix(a_, matrix_of<double>(1, 1, {0.1}).view());
  files::write_matrix(b_, matrix_of<double>(1, 1, {1}).view());
  files::write_matrix(c_, matrix_of<float>(1, 1, {0.1F}).view());
  EXPECT_EQ(ozbound(arguments({"--target", "cr"})).code, 0);
  files::write_matrix(c_, matrix_of<double>(1, 1, {double{0.1F}}).view());
  EXPECT_EQ(ozbound(arguments({"--target", "cr"})).code, 1);
}

TEST_F(CommandVerify, SamplesLookAtSomeEntries) {
  files::write_matrix(a_, Matrix<double>(20, 1).view());
  files::write_matrix(b_, Matrix<double>(1, 20).view());
  files::write_matrix(c_, Matrix<double>(20, 20).view());
  const auto record = json::parse(ozbound(arguments({"--json", "--sample", "10", "--seed", "3"})).out);
  EXPECT_EQ(record["measurement"]["entries"], 10);
}

TEST_F(CommandVerify, EmptyProducts) {
  files::write_matrix(a_, Matrix<double>(0, 3).view());
  files::write_matrix(b_, Matrix<double>(3, 0).view());
  files::write_matrix(c_, Matrix<double>(0, 0).view());
  EXPECT_EQ(ozbound(arguments()).code, 0);
  EXPECT_EQ(ozbound(arguments({"--target", "cr"})).code, 0);
}

TEST_F(CommandVerify, WrongInputIsRefusedInOneLine) {
  expect_usage_error(arguments({"--target", "perfect"}), error_of<std::invalid_argument>([] { parse_target("perfect"); }));
  expect_usage_error(arguments({"--op-a", "X"}), "--op-a: 'X' is not one of N, T, C");
  expect_usage_error(arguments({"--alpha", "two"}), "--alpha: 'two' is not a number");
  expect_usage_error(arguments({"--sample", "-1"}), "--sample: '-1' is not an integer of at least 1");
  expect_usage_error({"verify", a_, b_}, "C is required");
  expect_refusal({"verify", a_, a_, c_},
                 "op(A) of " + a_ + " is 2 x 3 and op(B) of " + a_ + " is 2 x 3: 3 columns do not meet 2 rows");
  expect_refusal({"verify", a_, b_, a_}, a_ + ": C is 2 x 3, and the product is 2 x 2");
  expect_refusal({"verify", a_, directory_ / "no\nsuch.npy", c_},
                 directory_.path().string() + "/no such.npy: cannot be opened: No such file or directory");
  write_bytes(b_, "%%MatrixMarket matrix array real general\n1 1\nx\n");
  expect_refusal(arguments(), b_ + ":3: 'x' is not a decimal number");
  expect_usage_error(arguments({"--sample", "0"}), "--sample: '0' is not an integer of at least 1");
  write_bytes(b_, npy_file(npy_header("<i8", "False", "(1, 1)"), bytes_of<std::int64_t>({(std::int64_t{1} << 53) + 1})));
  expect_refusal(arguments(), b_ + ": element [0, 0]: 9007199254740993 is not exactly a double");
}

}  // namespace
}  // namespace ozbound::cli::test::command_verify_test
