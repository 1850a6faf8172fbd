// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/gemm_files.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound::cli::test::command_plan_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// 12 x 9, inner dimension 20, with a range of exponents so wide that plans differ.
GemmFiles wide() { return GemmFiles({.family = Family::wide_exponents, .m = 12, .n = 9, .k = 20, .phi = 1, .seed = 5}); }

json decision_of(const Finished& finished) {
  EXPECT_EQ(finished.code, 0) << finished.err;
  return json::parse(finished.out)["decision"];
}

TEST(CommandPlan, ForPeople) {
  const auto files = wide();
  const auto finished = ozbound(files.plan({"--engine", "cpu"}));
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, ContainsRegex("^ +method +plan +products +bound/target +predicted +certifies\n"));
  EXPECT_THAT(finished.out, ContainsRegex("\n\\* +slices +balanced:[0-9x]+:cut=[0-9full]+:exact .* yes\n"));
  EXPECT_THAT(finished.out, ContainsRegex("\n +exact +- .* 2.16 us +yes\n"));
  EXPECT_THAT(finished.out, ContainsRegex("reason +cheapest plan whose bound certifies the target\n"));
  EXPECT_EQ(files.names(), (Names{"A.npy", "B.npy"}));
}

TEST(CommandPlan, SaysWhatANormIsRelativeTo) {
  const auto files = wide();
  EXPECT_THAT(
      ozbound(files.plan({"--target", "normwise:1e-12"})).out,
      ContainsRegex("relative to +\\|\\| \\|alpha\\|\\|A\\|\\|B\\| \\+ \\|beta\\|\\|C0\\| \\|\\|_F, not to \\|\\|C\\|\\|_F\n"));
  EXPECT_THAT(ozbound(files.plan({})).out, testing::Not(testing::HasSubstr("relative to")));
}

TEST(CommandPlan, ForPrograms) {
  const auto files = wide();
  const auto record = json::parse(ozbound(files.plan({"--target", "componentwise:1e-8", "--json", "--op-a", "N"})).out);
  EXPECT_EQ(record["schema"], "ozbound-plan-1");
  EXPECT_EQ(record["operands"]["b"]["rows"], 20);
  EXPECT_EQ(record["decision"]["target"], "componentwise:1e-08");
  EXPECT_GE(record["decision"]["candidates"].size(), 2u);
  EXPECT_LE(record["decision"]["ratio"], 1);
  EXPECT_GE(record["seconds"]["decide"], 0);
}

TEST(CommandPlan, NoCheaperCandidateCertifies) {
  const auto files = wide();
  for (const auto* target : {"componentwise:1e-8", "dgemm", "dgemm-typical", "normwise:1e-12"}) {
    const auto decision = decision_of(ozbound(files.plan({"--target", target, "--json"})));
    for (const auto& candidate : decision["candidates"])
      if (candidate["cost"] < decision["cost"]) {
        EXPECT_FALSE(candidate["certifies"]) << target << ": " << candidate;
      }
  }
}

TEST(CommandPlan, GemmDecidesAlike) {
  const auto files = wide();
  for (const auto* target : {"componentwise:1e-8", "dgemm", "dgemm-typical", "cr", "relative:1e-10"})
    EXPECT_EQ(decision_of(ozbound(files.plan({"--target", target, "--json"}))), files.report({"--target", target})["decision"]);
}

TEST(CommandPlan, ASavedDecisionIsReplayed) {
  const auto files = wide();
  const auto saved = files.path("decision.json");
  EXPECT_EQ(ozbound(files.plan({"--target", "componentwise:1e-10", "--save", saved})).code, 0);
  EXPECT_EQ(json::parse(read_bytes(saved))["schema"], "ozbound-decision-3");
  EXPECT_EQ(files.product({"--decision", saved}), files.product({"--target", "componentwise:1e-10"}));
}

TEST(CommandPlan, UniformDataNeedAtMost28Products) {
  const GemmFiles files({.family = Family::uniform, .m = 16, .n = 16, .k = 4096, .seed = 1});
  const auto decision = decision_of(ozbound(files.plan({"--engine", "cpu", "--json"})));
  EXPECT_EQ(decision["method"], "slices");
  EXPECT_LE(parse_plan(decision["plan"].get<std::string>()).products(), 28);
}

TEST(CommandPlan, TargetsThatCannotBeCertifiedSaveNothing) {
  const auto files = wide();
  const auto finished = ozbound(files.plan({"--target", "normwise:1e-17", "--save", files.path("decision.json")}));
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, testing::MatchesRegex("ozbound: target normwise:1e-17 is below u = .*\n"));
  EXPECT_EQ(files.names(), (Names{"A.npy", "B.npy"}));
}

TEST(CommandPlan, WrongArgumentsAreRefused) {
  const auto files = wide();
  files.expect_refused(files.plan({"--engine", "fpga"}),
                       "--engine: 'fpga' is not one of auto, cpu, cuda, native; see ozbound plan --help");
  files.expect_refused(files.plan({"--beta", "2"}), "--beta: C0 is missing; --c names it");
  files.expect_refused(files.plan({"--save", files.path("none/d")}),
                       files.path("none/d") + ": cannot be created: No such file or directory");
  files.expect_refused({"plan", files.a_path()}, "B is required; see ozbound plan --help");
}

}  // namespace
}  // namespace ozbound::cli::test::command_plan_test
