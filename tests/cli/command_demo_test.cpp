// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/gemm_files.hpp"
#include "demo_problems.hpp"
#include "ozbound/bounds/decision.hpp"

namespace ozbound::cli::test::command_demo_test {
namespace {

/// Checks the files that the recipe of data/README.md writes under these names.
void expect_recipe(const std::vector<std::string>& arguments, const std::vector<std::string>& names) {
  const TemporaryDirectory directory;
  auto command = arguments;
  command.emplace_back("-o");
  for (const auto& name : names) command.push_back(directory / name);
  ASSERT_EQ(ozbound(command).code, 0);
  for (const auto& name : names) EXPECT_EQ(read_bytes(data_directory() / name), read_bytes(directory / name)) << name;
}

TEST(DemoData, TheBeamIsItsRecipe) {
  expect_recipe({"generate", "fem", "--m", "96", "--n", "96", "--k", "96", "--phi", "1", "--seed", "1"},
                {"beam-stiffness.mtx", "beam-inverse.npy"});
}

TEST(DemoData, TheGridLaplacianIsItsFormula) {
  constexpr Index side = 24;
  const auto laplacian = files::read_matrix(data_directory() / "grid-laplacian.mtx").to_double();
  ASSERT_EQ(laplacian.rows(), side * side);
  ASSERT_EQ(laplacian.cols(), side * side);
  for (Index p = 0; p < side * side; ++p)
    for (Index q = 0; q < side * side; ++q) {
      const Index distance = std::abs(p / side - q / side) + std::abs(p % side - q % side);
      EXPECT_EQ(bits(laplacian(p, q)), bits(distance == 0 ? 4.0 : distance == 1 ? -1.0 : 0.0)) << p << ", " << q;
    }
}

TEST(DemoProblems, AreOfEveryKindAskedFor) {
  const auto problems = demo_problems(data_directory());
  EXPECT_GE(problems.size(), 4u);
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const auto& problem) { return problem.a.rows() >= 500; }));
  for (const auto& problem : problems) EXPECT_EQ(problem.a.cols(), problem.b.rows()) << problem.name;
}

TEST(CommandDemo, EveryTargetIsCertifiedAndHolds) {
#ifndef NDEBUG
  GTEST_SKIP() << "too slow without optimisation; smaller products go the same ways in other tests";
#endif
  const auto finished = ozbound({"demo", "--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const auto record = json::parse(finished.out);
  EXPECT_EQ(record["schema"], "ozbound-demo-1");
  EXPECT_EQ(record["rows"].size(), 3 * demo_problems(data_directory()).size());
  for (const auto& row : record["rows"]) {
    EXPECT_TRUE(row["certificate"]["holds"]) << row["problem"] << row["target"];
    EXPECT_TRUE(row["verification"]["holds"]) << row["problem"] << row["target"];
    EXPECT_GE(row["verification"]["verdicts"][0]["entries"], 9216);
    EXPECT_GT(row["seconds"], 0);
    EXPECT_NE(row["decision"]["method"], "native");
  }
}

TEST(CommandDemo, NativeAloneIsRefused) {
  expect_refusal({"demo", "--engine", "native"},
                 "--engine: native DGEMM alone cannot meet every target here; auto, cpu or cuda");
}

TEST(CommandDemo, MissingDataAreNamed) {
  const TemporaryDirectory directory;
  expect_refusal({"demo", "--data", directory.path()},
                 (directory / "beam-stiffness.mtx").string() + ": cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace ozbound::cli::test::command_demo_test
