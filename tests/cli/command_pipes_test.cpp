// SPDX-License-Identifier: BSD-3-Clause
// Standard input and output, pipes and devices in place of files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "cli/gemm_files.hpp"
#include "ozbound/files/columns.hpp"

namespace ozbound::cli::test::command_pipes_test {
namespace {

using testing::HasSubstr;

class CommandPipes : public testing::Test {
 protected:
  /// Runs a line of bash in the test's directory, with `ozbound` as the command.
  Finished shell(const std::string& line) {
    setenv("OZBOUND", OZBOUND_COMMAND, 1);
    const auto script = "cd '" + std::filesystem::path(files_.path("")).string() +
                        "' && set -o pipefail && ozbound() { \"$OZBOUND\" \"$@\"; } && " + line;
    write_bytes(scratch_ / "script", script);
    const auto command = "bash '" + std::string(scratch_ / "script") + "' >'" + std::string(scratch_ / "out") + "' 2>'" +
                         std::string(scratch_ / "err") + "'";
    const int status = std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe): nothing else runs
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_bytes(scratch_ / "out"), read_bytes(scratch_ / "err")};
  }

  GemmFiles files_{{.family = Family::wide_exponents, .m = 12, .n = 9, .k = 20, .phi = 1, .seed = 5}};
  TemporaryDirectory scratch_;
};

TEST_F(CommandPipes, AMatrixComesByStandardInputAndGoesToStandardOutput) {
  const auto expected = files_.product({"--engine", "cpu"});
  const auto finished = shell("ozbound gemm - B.npy -o - --engine cpu < A.npy");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(finished.out == expected) << "C and nothing else";
  EXPECT_EQ(finished.err, "");
  EXPECT_TRUE(shell("cat A.npy | ozbound gemm - B.npy -o - --engine cpu | cat").out == expected);
  EXPECT_EQ(shell("ozbound gemm A.npy B.npy -o - | ozbound verify A.npy B.npy - --target dgemm").code, 0);
}

TEST_F(CommandPipes, ProcessSubstitutionIsReadAndWritten) {
  const auto expected = files_.product({"--engine", "cpu"});
  const auto finished =
      shell("ozbound gemm <(cat A.npy) <(cat B.npy) -o >(cat > C2.npy) --engine cpu && sleep 0.5 && cat C2.npy");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(finished.out.ends_with(expected));
}

TEST_F(CommandPipes, ReportsGoToStandardOutput) {
  const auto report = shell("ozbound gemm A.npy B.npy -o C.npy --report -");
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_EQ(json::parse(report.out)["schema"], "ozbound-report-1");
  const auto decision = shell("ozbound plan A.npy B.npy --save - | ozbound gemm A.npy B.npy -o C.npy --decision -");
  EXPECT_EQ(decision.code, 0) << decision.err;
  const auto checked = shell("ozbound gemm A.npy B.npy -o C.npy --report - | ozbound verify A.npy B.npy C.npy --certificate -");
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("every claim holds"));
  EXPECT_EQ(shell("ozbound gemm A.npy B.npy -o C.npy --report - | ozbound bounds - -o E.npy").code, 0);
}

TEST_F(CommandPipes, NowhereIsWrittenTo) {
  const auto finished = shell("ozbound gemm A.npy B.npy -o /dev/null --report /dev/null");
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("12 x 9 in /dev/null"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(shell("ozbound generate uniform --m 2 --n 2 --k 2 -o /dev/null /dev/null").code, 0);
}

TEST_F(CommandPipes, StandardStreamsAreTakenOnce) {
  const auto refused = [this](const std::string& line, const std::string& wrong) {
    const auto before = files_.names();
    const auto finished = shell(line);
    EXPECT_EQ(finished.code, 2) << line;
    EXPECT_EQ(finished.out, "") << line;
    EXPECT_EQ(finished.err, "ozbound: " + wrong + "\n");
    EXPECT_EQ(files_.names(), before);
  };
  refused("ozbound gemm - - -o C.npy < A.npy", "standard input: can be read for one file only");
  refused("ozbound gemm A.npy B.npy -o - --report -", "-: C and the report cannot be the same file");
  refused("ozbound gemm A.npy B.npy -o - --json", "-: standard output can be written by one file or by --json, not by both");
  refused("ozbound generate uniform --m 2 --n 2 --k 2 -o - -", "-: A and B cannot be the same file");
  refused("printf text | ozbound gemm - B.npy -o -",
          "standard input: neither a NumPy .npy nor a Matrix Market file: it begins with 'text'");
  refused("head -c 200 A.npy | ozbound gemm - B.npy -o -",
          "standard input: the file ends too soon: 12 x 20 elements take 1920 bytes, and 72 follow the header");
  refused("ozbound gemm - B.npy -o C.npy < /dev/null", "standard input: is neither a regular file nor a pipe");
  refused("ozbound gemm A.npy B.npy -o /dev/full", "/dev/full: cannot be written: No space left on device");
}

TEST_F(CommandPipes, NothingIsWrittenWhereTheTargetIsNotCertified) {
  const auto finished = shell("ozbound gemm A.npy B.npy -o - --plan balanced:1x1:cut=2:exact --target dgemm");
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
}

TEST_F(CommandPipes, TablesFitTheWidth) {
  const auto widest = [this](const std::string& line) {
    std::size_t width = 0;
    std::istringstream lines(shell(line).out);
    for (std::string one; std::getline(lines, one);) width = std::max(width, files::width_of(one));
    return width;
  };
  for (const std::string command :
       {"ozbound plan A.npy B.npy", "ozbound survey --n 4 --k 4", "ozbound info", "ozbound compare uniform --n 4 --k 4 --cases",
        "ozbound study ootomo-fig4", "ozbound check --list", "ozbound calibrate --show"}) {
    EXPECT_LE(widest(command), 100U) << command;
    EXPECT_LE(widest("COLUMNS=70 " + command), 70U) << command;
    EXPECT_GE(widest(command + " --wide"), widest(command)) << command;
  }
  for (const std::string command : {"ozbound survey --n 4 --k 4", "ozbound compare uniform --n 4 --k 4"})
    EXPECT_GT(widest(command + " --wide"), 100U) << command;
}

}  // namespace
}  // namespace ozbound::cli::test::command_pipes_test
