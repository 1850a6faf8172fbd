// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

#include "cli/gemm_files.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/machine.hpp"
#include "ozbound/verify/mpfr_oracle.hpp"

namespace ozbound::cli::test::command_gemm_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const Names inputs{"A.npy", "B.npy"};
const Names with_c{"A.npy", "B.npy", "C.npy"};

/// 12 x 9, inner dimension 20, with a range of exponents so wide that plans differ.
GemmFiles wide() { return GemmFiles({.family = Family::wide_exponents, .m = 12, .n = 9, .k = 20, .phi = 1, .seed = 5}); }

TEST(CommandGemm, ForPeople) {
  const auto files = wide();
  const auto finished = ozbound(files.gemm({"--engine", "cpu"}));
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, ContainsRegex("plan +balanced:[0-9x]+:cut=[0-9full]+:exact, [0-9]+ products\n"));
  EXPECT_THAT(finished.out, ContainsRegex("target +dgemm, proven\n"));
  EXPECT_THAT(finished.out, ContainsRegex("typical DGEMM +errs by about sqrt\\(k\\) u M; the bound is [0-9.e-]+ times that\n"));
  EXPECT_THAT(finished.out, ContainsRegex("multiply +[0-9.]+ s\n"));
  EXPECT_EQ(files.names(), with_c);
  EXPECT_LE(files.judge(Target::dgemm()).ratio, 1);
}

TEST(CommandGemm, EveryTargetIsMetAndJudged) {
  const auto files = wide();
  for (const auto* target : {"dgemm", "dgemm-typical", "cr", "componentwise:1e-8", "componentwise:0x1p-53", "rowcol:1e-12",
                             "normwise:1e-12", "relative:1e-10"}) {
    const auto report = files.report({"--target", target, "--verify", "exact"});
    EXPECT_TRUE(report["certificate"]["holds"]) << target;
    EXPECT_EQ(report["certificate"]["target"], to_string(parse_target(target)));
    EXPECT_TRUE(report["verification"]["holds"]) << target;
    EXPECT_TRUE(files.judge(parse_target(target)).holds()) << target;
  }
}

TEST(CommandGemm, ReportHasWhatIsDocumented) {
  const auto files = wide();
  const auto printed = files.report({"--report", files.path("report.json"), "--verify", "sample", "--threads", "1"});
  const auto report = json::parse(read_bytes(files.path("report.json")));
  EXPECT_EQ(printed, report);
  EXPECT_EQ(report["schema"], "ozbound-report-1");
  EXPECT_THAT(report["command"], HasSubstr("gemm"));
  EXPECT_EQ(report["operands"]["a"], json({{"file", files.a_path()}, {"rows", 12}, {"cols", 20}, {"type", "f8"}, {"op", "N"}}));
  EXPECT_EQ(report["operands"]["b"]["cols"], 9);
  EXPECT_EQ(report["operands"]["alpha"], 1);
  EXPECT_EQ(report["operands"]["beta"], 0);
  EXPECT_TRUE(report["operands"]["c0"].is_null());
  EXPECT_EQ(report["result"], json({{"file", files.c_path()}, {"type", "f8"}}));
  EXPECT_EQ(report["threads"], 1);
  EXPECT_EQ(report["decision"]["schema"], "ozbound-decision-3");
  EXPECT_EQ(report["certificate"]["schema"], "ozbound-certificate-5");
  EXPECT_EQ(report["verification"]["schema"], "ozbound-verification-1");
  EXPECT_EQ(report["verification"]["verdicts"].size(), 2u);  // by the target and by the bound
  for (const auto* phase : {"read", "decide", "multiply", "verify", "write"}) EXPECT_GE(report["seconds"][phase], 0) << phase;
}

/// The factor in the line about a typical DGEMM.
double typical_factor(const Finished& finished) {
  const auto at = finished.out.find("the bound is ");
  return at == std::string::npos ? -1 : std::stod(finished.out.substr(at + 13));
}

TEST(CommandGemm, SaysWhatTheBoundIsBesideATypicalDgemm) {
  const auto files = wide();  // k = 20
  const auto run = [&](const char* target) { return ozbound(files.gemm({"--engine", "cpu", "--target", target})); };
  EXPECT_LE(typical_factor(run("dgemm-typical")), 1);
  EXPECT_GT(typical_factor(run("dgemm-typical")), 0);
  EXPECT_LE(typical_factor(run("dgemm")), 4.473);  // sqrt(20), rounded up
  EXPECT_EQ(typical_factor(run("cr")), 0.2237);    // its inverse
  EXPECT_EQ(typical_factor(run("rowcol:1e-12")), -1) << "said of another measure";
  const auto normwise = run("normwise:1e-12");
  EXPECT_THAT(normwise.out, ContainsRegex("typical DGEMM +errs by about sqrt\\(k\\) u \\|\\|M\\|\\|_F; the bound is"));
}

TEST(CommandGemm, SaysWhatANormIsRelativeTo) {
  const auto files = wide();
  const char* const measure =
      "relative to +\\|\\| \\|alpha\\|\\|A\\|\\|B\\| \\+ \\|beta\\|\\|C0\\| \\|\\|_F, not to \\|\\|C\\|\\|_F\n";
  const auto normwise = ozbound(files.gemm({"--target", "normwise:1e-12", "--verify", "exact"}));
  EXPECT_THAT(normwise.out, ContainsRegex(std::string("\n") + measure));
  EXPECT_THAT(normwise.out, ContainsRegex(std::string("  in the Frobenius norm, ") + measure));
  EXPECT_THAT(ozbound(files.gemm({"--verify", "exact"})).out, Not(HasSubstr("relative to")));
}

TEST(CommandGemm, HelpSaysWhatEveryTargetMeans) {
  for (const auto* command : {"gemm", "plan", "verify"}) {
    const auto help = ozbound({command, "--help"}).out;
    for (const auto* target :
         {"cr ", "dgemm ", "dgemm-typical ", "componentwise:TAU ", "rowcol:TAU ", "normwise:TAU ", "relative:TAU "})
      EXPECT_THAT(help, HasSubstr(std::string("\n  ") + target)) << command;
    EXPECT_THAT(help, HasSubstr("relative to || |alpha||A||B| + |beta||C0| ||_F, not to ||C||_F")) << command;
  }
}

TEST(CommandGemm, WithoutAskingNobodyJudges) {
  const auto report = wide().report({"--verify", "none"});
  EXPECT_FALSE(report.contains("verification"));
  EXPECT_FALSE(report["seconds"].contains("verify"));
}

TEST(CommandGemm, MpfrJudgesToo) {
  const auto files = wide();
  const auto finished = ozbound(files.gemm({"--target", "cr", "--verify", "mpfr"}));
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, HasSubstr("cr holds: error / bound = 0\n"));
  EXPECT_THAT(finished.out, HasSubstr("108 entries judged"));
}

TEST(CommandGemm, TheReportIsWhatVerifyJudgesBy) {
  const auto files = wide();
  EXPECT_EQ(files.report({"--report", files.path("r.json")})["certificate"]["holds"], true);
  const std::vector<std::string> verify{"verify",       files.a_path(), files.b_path(),
                                        files.c_path(), "--report",     files.path("r.json")};
  EXPECT_EQ(ozbound(verify).code, 0);
  auto c = files.c();
  c(3, 4) *= 1 + 0x1p-30;
  files::write_matrix(files.c_path(), c.view());
  EXPECT_EQ(ozbound(verify).code, 1);
}

// --plan

TEST(CommandGemm, APlanWithoutATargetRunsAndIsGradedByDgemm) {
  const auto files = wide();
  const auto weak = files.report({"--plan", "balanced:2x2:full:exact", "--verify", "exact"});
  EXPECT_FALSE(weak["certificate"]["holds"]);
  EXPECT_EQ(weak["certificate"]["target"], "dgemm");
  EXPECT_GT(weak["certificate"]["ratio"], 1);
  EXPECT_EQ(weak["decision"]["ratio"], "inf");
  EXPECT_TRUE(weak["verification"]["holds"]);  // the certificate's bound, which holds for such a plan
  EXPECT_EQ(files.names(), with_c);
  EXPECT_TRUE(files.report({"--plan", "balanced:12x12:full:exact"})["certificate"]["holds"]);
  EXPECT_EQ(files.report({"--plan", "ozimmu-h:4x4"})["decision"]["plan"], "nearest7:4x4:cut=5:per_diagonal");
}

TEST(CommandGemm, APlanThatDoesNotCertifyTheTargetWritesNothing) {
  const auto files = wide();
  const auto finished = ozbound(files.gemm(
      {"--plan", "balanced:2x2:full:exact", "--target", "dgemm", "--report", files.path("r.json"), "--verify", "exact"}));
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err,
              testing::MatchesRegex("ozbound: balanced:2x2:full:exact does not certify dgemm: entry .* is not written\n"));
  EXPECT_EQ(files.names(), inputs);
}

TEST(CommandGemm, NothingReplacesAnEarlierProductUnlessCertified) {
  const auto files = wide();
  write_bytes(files.c_path(), "precious");
  EXPECT_EQ(ozbound(files.gemm({"--plan", "balanced:1x1:full:exact", "--target", "dgemm"})).code, 3);
  EXPECT_EQ(files.c_bytes(), "precious");
}

TEST(CommandGemm, APlanMayCertifyAnotherTarget) {
  const auto files = wide();
  const std::vector<std::string> options{"--plan", "nearest7:6x7:cut=8:per_diagonal", "--target", "componentwise:1e-3"};
  EXPECT_TRUE(files.report(options)["certificate"]["holds"]);
  EXPECT_TRUE(files.judge(Target::componentwise(1e-3)).holds());
}

TEST(CommandGemm, CorrectRoundingMayStartFromAnyPlan) {
  const auto files = wide();
  const auto decided = files.product({"--target", "cr"});
  for (const auto* plan :
       {"balanced:1x1:full:exact", "truncated5:3x4:cut=5:exact", "truncated7,nearest7:4x4:full:per_product"}) {
    const auto report = files.report({"--target", "cr", "--plan", plan});
    EXPECT_EQ(report["decision"]["method"], "correctly_rounded") << plan;
    EXPECT_EQ(report["certificate"]["plans"][0], plan);
    EXPECT_EQ(files.c_bytes(), decided) << plan;
  }
  const MpfrOracle oracle({files.a().view(), files.b().view()}, MpfrOracle::exact_bits(20));
  EXPECT_EQ(verify(files.c(), oracle, Target::correctly_rounded()).ratio, 0);
}

// --decision

TEST(CommandGemm, AReplayedDecisionGivesTheSameBytes) {
  const auto files = wide();
  const auto saved = files.path("saved.json");
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--target", "cr"},
                                                  {"--target", "relative:1e-12"},
                                                  {"--engine", "cpu"},
                                                  {"--plan", "balanced:2x3:cut=4:exact"},
                                                  {"--target", "componentwise:0x1p-52", "--engine", "cpu"}}) {
    auto first = options;
    first.insert(first.end(), {"--report", saved});
    const auto bytes = files.product(first);
    EXPECT_EQ(files.product({"--decision", saved}), bytes);  // a report
    write_bytes(saved, json::parse(read_bytes(saved))["decision"].dump());
    EXPECT_EQ(files.product({"--decision", saved, "--threads", "2"}), bytes);  // the decision alone
  }
}

TEST(CommandGemm, AReplayedDecisionIsProvenAnew) {
  const auto files = wide();
  const auto saved = files.path("saved.json");
  auto decision = files.report({"--target", "dgemm", "--engine", "cpu"})["decision"];
  std::filesystem::remove(files.c_path());
  decision["plan"] = "balanced:1x1:full:exact";
  write_bytes(saved, decision.dump());
  const auto finished = ozbound(files.gemm({"--decision", saved}));
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("does not certify dgemm"));
  EXPECT_EQ(files.names(), (Names{"A.npy", "B.npy", "saved.json"}));
}

TEST(CommandGemm, WrongDecisionsAreRefused) {
  const auto files = wide();
  const auto saved = files.path("saved.json");
  auto decision = files.report()["decision"];
  const auto refused = [&](const std::string& bytes, const std::string& wrong) {
    write_bytes(saved, bytes);
    files.expect_refused(files.gemm({"--decision", saved}), wrong);
  };
  refused("{\n\n]", saved + ":3: this is not JSON");
  refused("[]", saved + ": decision: must be a JSON object");
  refused("{}", saved + ": decision: member 'schema' is missing or of the wrong type");
  decision["reason"] = 7;
  refused(decision.dump(), saved + ": decision: member 'reason' is missing or of the wrong type");
  decision["reason"] = "";
  decision["m"] = 13;
  refused(decision.dump(), "decision: is for 13 x 9 x 20, not for 12 x 9 x 20");
  files.expect_refused(files.gemm({"--decision", files.path("none")}),
                       files.path("none") + ": cannot be opened: No such file or directory");
}

// Settings that change no bit

TEST(CommandGemm, ThreadsAndWorkspaceChangeNoBit) {
  const GemmFiles files({.family = Family::wide_exponents, .m = 70, .n = 50, .k = 300, .phi = 1, .seed = 2});
  for (const auto* target : {"cr", "componentwise:1e-12"}) {
    const auto bytes = files.product({"--target", target, "--threads", "1"});
    EXPECT_EQ(files.product({"--target", target, "--threads", "3"}), bytes) << target;
    EXPECT_EQ(files.product({"--target", target, "--threads", "1", "--workspace", "300K"}), bytes) << target;
    EXPECT_EQ(files.product({"--target", target, "--threads", "2", "--workspace", "1GiB"}), bytes) << target;
  }
}

TEST(CommandGemm, TransposesAreTheStoredMatrices) {
  const auto files = wide();
  const auto bytes = files.product({"--engine", "cpu"});
  Matrix<double> a(20, 12), b(9, 20);
  for (Index i = 0; i < 12; ++i)
    for (Index l = 0; l < 20; ++l) a(l, i) = files.a()(i, l);
  for (Index l = 0; l < 20; ++l)
    for (Index j = 0; j < 9; ++j) b(j, l) = files.b()(l, j);
  const GemmFiles transposed(std::move(a), std::move(b));
  for (const auto* op : {"T", "C"}) {
    EXPECT_EQ(transposed.product({"--engine", "cpu", "--op-a", op, "--op-b", op}), bytes);
    EXPECT_EQ(transposed.report({"--op-a", op, "--op-b", op})["operands"]["a"]["rows"], 20);
  }
  transposed.expect_refused(transposed.gemm({"--op-a", "T"}), "op(A) of " + transposed.a_path() + " is 12 x 20 and op(B) of " +
                                                                  transposed.b_path() +
                                                                  " is 9 x 20: 20 columns do not meet 9 rows");
}

TEST(CommandGemm, AlphaBetaAndC0) {
  const auto files = wide();
  Matrix<double> c0(12, 9);
  for (Index i = 0; i < 12; ++i)
    for (Index j = 0; j < 9; ++j) c0(i, j) = static_cast<double>(i - 3 * j) / 7;
  const auto c0_path = files.path("C0.npy");
  files::write_matrix(c0_path, c0.view());
  const auto report =
      files.report({"--alpha", "-0x1.8p-3", "--beta", "3", "--c", c0_path, "--target", "cr", "--verify", "exact"});
  EXPECT_EQ(report["operands"]["alpha"], -0.1875);
  EXPECT_EQ(report["operands"]["c0"]["file"], c0_path);
  const ExactOracle oracle({files.a().view(), files.b().view(), -0.1875, 3, c0.view()});
  EXPECT_EQ(verify(files.c(), oracle, Target::correctly_rounded()).ratio, 0);
}

TEST(CommandGemm, CMayReplaceC0) {
  const auto files = wide();
  files::write_matrix(files.c_path(), Matrix<double>(12, 9).view());
  EXPECT_EQ(ozbound(files.gemm({"--beta", "1", "--c", files.c_path(), "--target", "cr"})).code, 0);
  EXPECT_EQ(files.judge(Target::correctly_rounded()).ratio, 0);
}

TEST(CommandGemm, BetaZeroDoesNotReadC0) {
  const auto files = wide();
  EXPECT_EQ(files.product({"--beta", "0", "--c", "/nonexistent"}), files.product({}));
}

TEST(CommandGemm, FloatsGiveAFloatProduct) {
  const auto files = wide();
  Matrix<float> a(12, 20), b(20, 9);
  for (Index i = 0; i < 240; ++i) a.data()[i] = static_cast<float>(files.a().data()[i]);
  for (Index i = 0; i < 180; ++i) b.data()[i] = static_cast<float>(files.b().data()[i]);
  files::write_matrix(files.a_path(), a.view());
  EXPECT_EQ(files.report({"--target", "cr"})["result"]["type"], "f8");  // one of the operands is f8
  files::write_matrix(files.b_path(), b.view());
  for (const auto* target : {"cr", "dgemm", "componentwise:1e-5"}) {
    const auto report = files.report({"--target", target, "--verify", "exact"});
    EXPECT_EQ(report["result"]["type"], "f4");
    EXPECT_TRUE(report["verification"]["holds"]);
    EXPECT_EQ(report["verification"]["verdicts"][0]["format"], "binary32");
    EXPECT_TRUE(files::read_matrix(files.c_path()).is_float());
  }
#ifdef OZBOUND_HAVE_OPENBLAS
  const auto native = files.report({"--engine", "native", "--alpha", "3", "--verify", "exact"});
  EXPECT_EQ(native["result"]["type"], "f4");
  EXPECT_TRUE(native["verification"]["holds"]);
  EXPECT_THAT(std::string(native["certificate"]["assumptions"][0]), HasSubstr("the native SGEMM sums conventionally"));
#else
  const auto native = ozbound(files.gemm({"--engine", "native"}));
  EXPECT_EQ(native.code, 2);
  EXPECT_THAT(native.err, HasSubstr("this build has no native DGEMM"));
#endif
}

TEST(CommandGemm, MatrixMarketIn_MatrixMarketOut) {
  const auto files = wide();
  const auto mtx = files.path("C.mtx");
  EXPECT_EQ(ozbound({"gemm", files.a_path(), files.b_path(), "-o", mtx, "--target", "cr"}).code, 0);
  const auto bytes = files.product({"--target", "cr"});
  EXPECT_EQ(all_bits(files::read_matrix(mtx).to_double().view()), all_bits(files.c().view()));
}

// Engines

TEST(CommandGemm, NativeIsCertifiedWithItsAssumption) {
#ifndef OZBOUND_HAVE_OPENBLAS
  GTEST_SKIP() << "this build has no native DGEMM";
#endif
  const auto files = wide();
  const auto report = files.report({"--engine", "native", "--verify", "exact"});
  EXPECT_EQ(report["engine"], "native");
  EXPECT_EQ(report["decision"]["method"], "native");
  EXPECT_EQ(report["certificate"]["assumptions"].size(), 4u);
  EXPECT_TRUE(report["verification"]["holds"]);
  const auto beyond = ozbound(files.gemm({"--engine", "native", "--target", "componentwise:1e-15"}));
  EXPECT_EQ(beyond.code, 3);
  EXPECT_EQ(
      beyond.err,
      "ozbound: native DGEMM does not certify componentwise:1e-15: it may be wrong by 2.220446049250313e-15 |A||B|, and the "
      "target allows 1e-15\n");
}

TEST(CommandGemm, AFailedVerdictIsSaidAndCIsWritten) {
#ifndef OZBOUND_HAVE_OPENBLAS
  GTEST_SKIP() << "this build has no native DGEMM";
#endif
  const auto files = wide();
  const Preloaded wrong(OZBOUND_WRONG_BLAS);
  const auto trusted = ozbound(files.gemm({"--engine", "native"}));
  EXPECT_EQ(trusted.code, 0);
  if (files.c()(0, 0) != 1) GTEST_SKIP() << "OpenBLAS is linked statically";
  for (const auto* how : {"sample", "exact", "mpfr"}) {
    const auto finished = ozbound(files.gemm({"--engine", "native", "--verify", how, "--report", files.path("r.json")}));
    EXPECT_EQ(finished.code, 1) << how;
    EXPECT_EQ(finished.err, "ozbound: the verdict failed; " + files.c_path() + " is written all the same\n") << how;
    EXPECT_THAT(finished.out, HasSubstr("dgemm FAILS: error / bound = ")) << how;
    EXPECT_FALSE(json::parse(read_bytes(files.path("r.json")))["verification"]["holds"]) << how;
    EXPECT_EQ(files.c()(0, 0), 1) << how;
  }
}

TEST(CommandGemm, CpuNeverChoosesNative) {
  const GemmFiles files({.family = Family::wide_exponents, .m = 8, .n = 8, .k = 64, .phi = 4, .seed = 1});
  EXPECT_NE(files.report({"--engine", "cpu"})["decision"]["method"], "native");
}

// Refusals

TEST(CommandGemm, TargetsThatRoundingAloneMissesAreRefused) {
  const auto files = wide();
  const auto finished = ozbound(files.gemm({"--target", "componentwise:1e-16"}));
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err,
            "ozbound: target componentwise:1e-16 is below u = 2^-53: not even a correctly rounded result meets it\n");
  EXPECT_EQ(files.names(), inputs);
}

/// A relative target below u is refused also with a plan, and with a replayed decision that was made for wider numbers.
TEST(CommandGemm, ARelativeTargetBelowURefusesPlansToo) {
  const auto files = wide();
  const auto finished = ozbound(files.gemm({"--target", "relative:1e-17", "--plan", "balanced:3x3:cut=4:exact"}));
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "ozbound: target relative:1e-17 is below u = 2^-53: not even a correctly rounded result meets it\n");
  EXPECT_EQ(files.names(), inputs);
}

TEST(CommandGemm, WrongOptionsAreRefused) {
  const auto files = wide();
  const auto refused = [&files](const std::vector<std::string>& more, const std::string& wrong) {
    files.expect_refused(files.gemm(more), wrong);
  };
  refused({"--target", "best"}, error_of<std::invalid_argument>([] { parse_target("best"); }) + "; see ozbound gemm --help");
  refused({"--plan", "ozimmu-h:4x5"}, "--plan: the scheme is defined for as many slices of A as of B: 4, 5");
  refused({"--plan", "balanced:0x1:full:exact"},
          "--plan: " + error_of<std::invalid_argument>([] { parse_plan("balanced:0x1:full:exact"); }));
  refused({"--verify", "maybe"}, "--verify: 'maybe' is not one of none, sample, exact, mpfr; see ozbound gemm --help");
  refused({"--engine", "gpu"}, "--engine: 'gpu' is not one of auto, cpu, cuda, native; see ozbound gemm --help");
  refused({"--plan", "balanced:1x1:full:exact", "--engine", "native"}, "--engine: native DGEMM multiplies under no plan");
  refused({"--threads", "0"}, "--threads: '0' is not between 1 and 1024; see ozbound gemm --help");
  refused({"--workspace", "lots"}, "--workspace: 'lots' is not a size, such as 512M or 2GiB; see ozbound gemm --help");
  refused({"--beta", "1"}, "--beta: C0 is missing; --c names it");
  refused({"--c", files.a_path()}, "--c requires --beta; see ozbound gemm --help");
  refused({"--report", files.path("none/r.json")},
          files.path("none/r.json") + ": cannot be created: No such file or directory");
  refused({"--report", files.c_path()}, files.c_path() + ": C and the report cannot be the same file");
}

TEST(CommandGemm, ANaNScalarNeedsNoMethod) {
  const auto files = GemmFiles({.family = Family::uniform, .m = 40, .n = 40, .k = 40, .seed = 1});
  for (const auto* const engine : {"auto", "native"}) {
    const auto finished = ozbound(files.gemm({"--alpha", "nan", "--engine", engine}));
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out, ContainsRegex("\nmethod +[a-z]+: [a-z]"));
    EXPECT_THAT(finished.out, Not(HasSubstr(", \n")));
    EXPECT_TRUE(std::isnan(files.c()(3, 4)));
  }
}

TEST(CommandGemm, OptionsThatContradictEachOtherAreRefused) {
  const auto files = wide();
  const auto refused = [&files](const std::vector<std::string>& more, const std::string& one, const std::string& other) {
    const auto finished = ozbound(files.gemm(more));
    EXPECT_EQ(finished.code, 2);
    EXPECT_THAT(finished.err, testing::AnyOf("ozbound: " + one + " excludes " + other + "; see ozbound gemm --help\n",
                                             "ozbound: " + other + " excludes " + one + "; see ozbound gemm --help\n"));
    EXPECT_EQ(files.names(), inputs);
  };
  refused({"--decision", "d", "--plan", "balanced:1x1:full:exact"}, "--decision", "--plan");
  refused({"--decision", "d", "--target", "cr"}, "--decision", "--target");
  refused({"--decision", "d", "--engine", "cpu"}, "--decision", "--engine");
}

TEST(CommandGemm, WrongFilesAreRefused) {
  const auto files = wide();
  files.expect_refused({"gemm", files.a_path(), files.path("none"), "-o", files.c_path()},
                       files.path("none") + ": cannot be opened: No such file or directory");
  files.expect_refused(
      {"gemm", files.b_path(), files.b_path(), "-o", files.c_path()},
      "op(A) of " + files.b_path() + " is 20 x 9 and op(B) of " + files.b_path() + " is 20 x 9: 9 columns do not meet 20 rows");
  files.expect_refused({"gemm", files.a_path(), files.b_path(), "-o", files.path("C.txt")},
                       error_of<std::invalid_argument>([&] { files::output_format(files.path("C.txt")); }));
  files.expect_refused({"gemm", files.a_path(), files.b_path(), "-o", files.path("none/C.npy")},
                       files.path("none/C.npy") + ": cannot be created: No such file or directory");
  files.expect_refused({"gemm", files.a_path(), files.b_path()}, "--output is required; see ozbound gemm --help");
}

TEST(CommandGemm, AWorkspaceTooSmallForOneEntryIsRefused) {
  const auto files = wide();
  const auto finished = ozbound(files.gemm({"--engine", "cpu", "--workspace", "1K"}));
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, ContainsRegex("^ozbound: workspace must be at least [0-9.]+ bytes for k = 20\n$"));
  EXPECT_EQ(files.names(), inputs);
}

/// The command's certificate equals that of the library's call on the same machine.
TEST(CommandGemm, HasTheCertificateOfTheLibrary) {
  for (const auto family : {Family::uniform, Family::wide_exponents})
    for (const auto* target : {"dgemm", "componentwise:1e-9", "cr"}) {
      const GemmFiles files(Recipe{family, 12, 13, 30, 2, 9});
      const auto report = files.report({"--target", target});
      Matrix<double> c(12, 13);
      const auto [decision, certificate] = multiply(Product{files.a(), files.b(), c}, parse_target(target), Machine::detect());
      EXPECT_EQ(report["decision"], json(to_json(decision))) << target;
      EXPECT_EQ(report["certificate"], json(to_json(certificate))) << target;
      for (Index i = 0; i < 12; ++i)
        for (Index j = 0; j < 13; ++j) EXPECT_EQ(bits_of(files.c()(i, j)), bits_of(c(i, j)));
    }
}

TEST(CommandGemm, APlanByResiduesIsProvenAndJudged) {
  const GemmFiles files({.family = Family::uniform, .m = 30, .n = 20, .k = 300, .seed = 1});
  const auto report = files.report({"--plan", "residues:13:46x47", "--target", "dgemm", "--verify", "exact"});
  EXPECT_EQ(report["certificate"]["plans"][0], "residues:13:46x47");
  EXPECT_EQ(report["certificate"]["holds"], true);
  for (const auto* const target : {"dgemm", "cr", "relative:1e-12"}) {
    files.report({"--plan", "residues:14:48x48", "--target", target, "--report", files.path("R.json")});
    const auto checked =
        ozbound({"verify", files.a_path(), files.b_path(), files.c_path(), "--certificate", files.path("R.json")});
    EXPECT_EQ(checked.code, 0) << target << checked.err;
    EXPECT_THAT(checked.out, testing::ContainsRegex("certificate +(every claim holds|a sample .*no claim fails)\n")) << target;
  }
}

TEST(CommandGemm, PlansByResiduesThatDoNotDoAreRefusedInALine) {
  const GemmFiles files({.family = Family::uniform, .m = 30, .n = 20, .k = 300, .seed = 1});
  const auto refused = [&](const std::string& plan, const std::string& why) {
    const auto finished = ozbound(files.gemm({"--plan", plan}));
    EXPECT_EQ(finished.code, 2) << plan;
    EXPECT_THAT(finished.err, testing::HasSubstr(why)) << plan;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(files.c_path())) << plan;
  };
  refused("residues:4:46x47", "plan: residues:4:46x47 is not sure to hold entry (");
  refused("residues:1:46x47", "moduli must be 2");
  refused("residues:21:46x47", "moduli must be 2");
  refused("residues:13:0x47", "bits of A must be a positive integer");
  refused("residues:13:46x121", "bits must be 1");
  for (const auto* const text : {"residues", "residues:", "residues:13", "residues:13:46"})
    refused(text, std::string(text) == "residues" ? "plan" : "must read residues:N:AxB");
}

}  // namespace
}  // namespace ozbound::cli::test::command_gemm_test
