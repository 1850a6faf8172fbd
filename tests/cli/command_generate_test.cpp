// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "ozbound/verify/complex_problem.hpp"

namespace ozbound::cli::test::command_generate_test {
namespace {

using Names = std::set<std::string>;

class CommandGenerate : public testing::Test {
 protected:
  /// The arguments that generate a 5 x 6 x 7 problem of `family` as A.npy and B.mtx, unless `more` says otherwise.
  [[nodiscard]] std::vector<std::string> arguments(const std::string& family, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> out{"generate", family, "--m", "5", "--n", "6", "--k", "7"};
    out.insert(out.end(), more.begin(), more.end());
    out.insert(out.end(), {"-o", a_, b_});
    return out;
  }

  /// Checks both files bit for bit.
  void expect_problem(const Recipe& recipe) {
    const auto problem = ozbound::generate(recipe);
    EXPECT_EQ(all_bits(std::get<Matrix<double>>(files::read_matrix(a_).values).view()), all_bits(problem.a.view()));
    EXPECT_EQ(all_bits(std::get<Matrix<double>>(files::read_matrix(b_).values).view()), all_bits(problem.b.view()));
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::string& wrong) {
    expect_refusal(arguments, wrong);
    EXPECT_EQ(directory_.names(), Names());
  }

  TemporaryDirectory directory_;
  std::string a_ = directory_ / "A.npy", b_ = directory_ / "B.mtx";
};

TEST_F(CommandGenerate, WritesTheProblem) {
  const auto finished = ozbound(arguments("full-range", {"--phi", "0x1p-1", "--seed", "18446744073709551615"}));
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out,
              testing::HasSubstr("ozbound generate full-range --m 5 --n 6 --k 7 --phi 0.5 --seed 18446744073709551615"));
  expect_problem({.family = Family::full_range, .m = 5, .n = 6, .k = 7, .phi = 0.5, .seed = ~std::uint64_t{0}});
  EXPECT_EQ(directory_.names(), (Names{"A.npy", "B.mtx"}));
}

TEST_F(CommandGenerate, EveryFamily) {
  for (const auto family : all_families()) {
    EXPECT_EQ(ozbound(arguments(std::string(name(family)))).code, 0) << name(family);
    expect_problem({.family = family, .m = 5, .n = 6, .k = 7});
  }
}

TEST_F(CommandGenerate, ComplexProblems) {
  for (const auto family : {Family::full_range, Family::cancellation, Family::sparse}) {
    const auto finished = ozbound(arguments(std::string(name(family)), {"--complex", "--phi", "1", "--seed", "3"}));
    EXPECT_EQ(finished.code, 0) << finished.err;
    const Recipe recipe{.family = family, .m = 5, .n = 6, .k = 7, .phi = 1, .seed = 3};
    EXPECT_THAT(finished.out, testing::HasSubstr(generate_complex_command(recipe)));
    EXPECT_THAT(finished.out, testing::HasSubstr("complex 5 x 7 in " + a_));
    EXPECT_THAT(finished.out, testing::HasSubstr("complex 7 x 6 in " + b_));
    const auto problem = generate_complex(recipe);
    using Complex = Matrix<std::complex<double>>;
    EXPECT_EQ(all_bits(std::get<Complex>(files::read_matrix(a_).values).view()), all_bits(problem.a.view()));
    EXPECT_EQ(all_bits(std::get<Complex>(files::read_matrix(b_).values).view()), all_bits(problem.b.view()));
  }
}

TEST_F(CommandGenerate, ForPrograms) {
  const auto record = nlohmann::json::parse(ozbound(arguments("uniform", {"--json", "--phi", "0.1"})).out);
  EXPECT_EQ(record["schema"], "ozbound-problem-1");
  EXPECT_EQ(record["family"], "uniform");
  EXPECT_EQ(record["k"], 7);
  EXPECT_EQ(record["phi"], 0.1);
  EXPECT_EQ(record["a"], a_);
  EXPECT_EQ(record["complex"], false);
  EXPECT_EQ(nlohmann::json::parse(ozbound(arguments("uniform", {"--json", "--complex"})).out)["complex"], true);
}

TEST_F(CommandGenerate, WrongArgumentsAreRefused) {
  expect_refused(arguments("uniform", {"--m", "-1"}), "--m: At Most 1 required but received 2; see ozbound generate --help");
  expect_refused({"generate", "uniform", "--m", "-1", "--n", "2", "--k", "3", "-o", a_, b_},
                 "--m: '-1' is not an integer of at least 0; see ozbound generate --help");
  expect_refused(arguments("uniform", {"--phi", "1,5"}), "--phi: '1,5' is not a number; see ozbound generate --help");
  expect_refused(arguments("uniform", {"--phi", "-1"}), "phi must be finite and not negative: -1");
  expect_refused(arguments("uniform", {"--seed", "-1"}),
                 "--seed: '-1' is not an integer from 0 to 2^64 - 1; see ozbound generate --help");
  expect_refused({"generate", "uniform", "--m", "1", "--n", "2", "-o", a_, b_}, "--k is required; see ozbound generate --help");
  expect_refused({"generate", "uniform", "--m", "1", "--n", "2", "--k", "3", "-o", a_},
                 "--output: At least 2 required but received 1; see ozbound generate --help");
  const auto unknown = ozbound(arguments("unifrom"));
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, testing::HasSubstr("uniform-positive"));
}

TEST_F(CommandGenerate, OutputsThatCannotBeWrittenAreRefused) {
  b_ = directory_ / "B.txt";
  expect_refused(arguments("uniform"), b_ + ": a matrix is written to a file that ends in .npy or .mtx");
  b_ = directory_ / "missing" / "B.npy";
  expect_refused(arguments("uniform"), b_ + ": cannot be created: No such file or directory");
  b_ = directory_ / "." / "A.npy";
  expect_refused(arguments("uniform"), a_ + ": A and B cannot be the same file");
}

TEST_F(CommandGenerate, ProblemsLargerThanMemoryAreRefused) {
  const auto finished = ozbound({"generate", "uniform", "--m", "10000000", "--n", "1", "--k", "10000000", "-o", a_, b_});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, testing::StartsWith("ozbound: A and B would take 8e+14 bytes, more than the memory of "));
  const auto complex =
      ozbound({"generate", "uniform", "--m", "10000000", "--n", "1", "--k", "10000000", "--complex", "-o", a_, b_});
  EXPECT_THAT(complex.err, testing::StartsWith("ozbound: A and B would take 1.6e+15 bytes, more than the memory of "));
  EXPECT_EQ(directory_.names(), Names());
}

}  // namespace
}  // namespace ozbound::cli::test::command_generate_test
