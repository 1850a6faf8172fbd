// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/command.hpp"
#include "ozbound/files/columns.hpp"

namespace ozbound::cli::test::command_grade_test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string bad(const std::string& name) { return OZBOUND_BAD_BLAS "/" + name + ".so"; }

TEST(CommandGrade, ARightLibrary) {
  const auto finished = ozbound({"grade", bad("correct"), "--quick", "--part", "threads"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, HasSubstr("correct.so: cblas_dgemm, "));
  EXPECT_THAT(finished.out, ContainsRegex("\npass +loading.environment\n"));
  EXPECT_THAT(finished.out, ContainsRegex("\npass +reproducibility.threads +threads: 1"));
  EXPECT_THAT(finished.out, Not(HasSubstr("demmel")));  // not requested
  EXPECT_THAT(finished.out, ContainsRegex("\nNo fault found: 7 pass\n$"));
}

TEST(CommandGrade, AWrongLibrary) {
  const auto finished = ozbound({"grade", bad("crashes"), "--quick", "--part", "threads", "--symbol", "dgemm_"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, HasSubstr("crashes.so: dgemm_, "));
  EXPECT_THAT(finished.out, HasSubstr("\nFaults\ncrashed   threads.completes\n"));
  EXPECT_THAT(finished.out, HasSubstr("found: it ended the process by SIGSEGV (Segmentation fault) in dgemm("));
  EXPECT_THAT(finished.out, HasSubstr("| kernel of 64 <inner> & more\n"));
  EXPECT_THAT(finished.out, HasSubstr("\nFAULTS FOUND: 2 pass, 1 crashed\n"));
}

TEST(CommandGrade, PartsAreAskedForOneByOne) {
  const auto finished = ozbound({"grade", "--quick", "--part", "threads", "--part", "memory", bad("correct"), "--json"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");
  std::vector<std::string> names;
  const auto record = json::parse(finished.out);
  for (const auto& part : record["parts"]) names.push_back(part["name"]);
  EXPECT_THAT(names, testing::ElementsAre("loading", "memory", "threads"));
}

TEST(CommandGrade, TheRecord) {
  const std::vector<std::string> arguments{"grade",  bad("hangs"), "--quick", "--part",       "threads",
                                           "--seed", "3",          "--json",  "--time-limit", "500ms"};
  const auto finished = ozbound(arguments);
  EXPECT_EQ(finished.code, 1);
  const auto record = json::parse(finished.out);
  EXPECT_EQ(record["schema"], "ozbound-grade-1");
  EXPECT_THAT(record["command"], HasSubstr(" grade "));
  EXPECT_EQ(record["library"]["named"], bad("hangs"));
  EXPECT_EQ(record["seed"], 3);
  EXPECT_EQ(record["quick"], true);
  EXPECT_EQ(record["summary"]["holds"], false);
  EXPECT_EQ(record["summary"]["hung"], 1);
  ASSERT_EQ(record["parts"].size(), 2U);
  EXPECT_EQ(record["parts"][1]["findings"][0]["outcome"], "hung");
  EXPECT_THAT(record["parts"][1]["findings"][0]["detail"], HasSubstr("not returned after 0.5 s in dgemm("));
  auto again = json::parse(ozbound(arguments).out), first = record;
  EXPECT_THAT(first["date"].get<std::string>(), testing::MatchesRegex("20[0-9-]+ [0-9:]+ UTC"));
  again.erase("date"), first.erase("date");
  EXPECT_EQ(again, first);
}

TEST(CommandGrade, SaysEveryNote) {
  const std::vector<std::string> arguments{"grade", bad("correct"), "--quick", "--part", "accuracy", "--part", "threads"};
  auto with_json = arguments, whole = arguments;
  with_json.emplace_back("--json"), whole.emplace_back("--wide");
  const auto record = json::parse(ozbound(with_json).out);
  const auto text = ozbound(whole).out;
  int notes = 0;
  for (const auto& part : record["parts"])
    for (const auto& finding : part["findings"]) {
      EXPECT_THAT(text, HasSubstr(finding["detail"].get<std::string>()));
      notes += finding["detail"] == "" ? 0 : 1;
    }
  EXPECT_GT(notes, 10);
}

/// The length of the widest line in characters.
std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) width = std::max(width, files::width_of(line));
  return width;
}

TEST(CommandGrade, FitsTheWidth) {
  const std::vector<std::string> arguments{"grade", bad("correct"), "--quick", "--part", "demmel"};
  EXPECT_LE(widest(ozbound(arguments).out), 100U);
  EXPECT_GT(widest(ozbound({"grade", bad("correct"), "--quick", "--part", "demmel", "--wide"}).out), 100U);
}

TEST(CommandGrade, ThePage) {
  const TemporaryDirectory directory;
  const std::string page = directory / "grade.html";
  const auto plain = ozbound({"grade", bad("correct"), "--quick", "--part", "demmel"});
  const auto finished = ozbound({"grade", bad("correct"), "--quick", "--part", "demmel", "--html", page});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.out, plain.out);
  EXPECT_EQ(directory.names(), std::set<std::string>{"grade.html"});
  const auto html = read_bytes(page);
  EXPECT_THAT(html, HasSubstr("<figure>"));
  EXPECT_THAT(html, HasSubstr("--html " + page + "</code>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
}

TEST(CommandGrade, WrongArgumentsAreRefused) {
  expect_refusal({"grade", "/nonexistent.so"}, "/nonexistent.so: cannot open shared object file: No such file or directory");
  expect_refusal({"grade", bad("no_symbol")},
                 "the library has none of the symbols cblas_dgemm, dgemm_, cblas_dgemm64_, dgemm_64_, scipy_cblas_dgemm64_, "
                 "scipy_cblas_dgemm, scipy_dgemm_64_, scipy_dgemm_, cblas_dgemm_64, dgemm_64, dgemm");
  expect_refusal({"grade", bad("correct"), "--symbol", "sgemm_"}, bad("correct") + ": undefined symbol: sgemm_");
  expect_usage_error({"grade", bad("correct"), "--seed", "-1"}, "--seed: '-1' is not an integer from 0 to 2^64 - 1");
  expect_usage_error({"grade", bad("correct"), "--html", ""}, "--html: a file name is missing");
  for (const auto* const time : {"0s", "-1s", "1d", "soon", "inf", "1e3s"})
    expect_usage_error({"grade", bad("correct"), "--time-limit", time},
                       "--time-limit: '" + std::string(time) + "' is not a time, such as 300s or 5m");
  const auto finished = ozbound({"grade", bad("correct"), "--part", "x"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, testing::StartsWith("ozbound: there is no part 'x'; the parts are loading, demmel, "));
}

TEST(CommandGrade, APageThatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  const TemporaryDirectory directory;
  const auto begin = std::chrono::steady_clock::now();
  expect_refusal({"grade", bad("hangs"), "--quick", "--html", directory / "none/x.html"},
                 std::string(directory / "none/x.html") + ": cannot be created: No such file or directory");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(CommandGrade, ARefusedLibraryLeavesAnOldPageAsItWas) {
  const TemporaryDirectory directory;
  write_bytes(directory / "old.html", "old");
  EXPECT_EQ(ozbound({"grade", bad("no_symbol"), "--html", directory / "old.html"}).code, 2);
  EXPECT_EQ(read_bytes(directory / "old.html"), "old");
  EXPECT_EQ(directory.names(), std::set<std::string>{"old.html"});
}

bool runs(pid_t process) {
  const auto stat = read_bytes("/proc/" + std::to_string(process) + "/stat");
  const auto state = stat.find(") ");
  return state != std::string::npos && stat[state + 2] != 'Z';
}

/// Waits until `condition` holds; false if that takes half a minute.
template <class Condition>
bool soon(Condition condition) {
  for (int wait = 0; wait < 3000 && !condition(); ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

/// Starts grading a library that hangs, and waits until it hangs.
struct HangingGrade {
  TemporaryDirectory directory;
  pid_t command = 0, worker = 0;

  HangingGrade() {
    const std::string file = directory / "worker";
    std::vector<std::string> arguments{OZBOUND_COMMAND, "grade", bad("hangs"), "--quick", "--html", directory / "x.html"};
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    setenv("OZBOUND_HANGS_IN", file.c_str(), 1);
    EXPECT_EQ(posix_spawn(&command, OZBOUND_COMMAND, nullptr, nullptr, argv.data(), environ), 0);
    unsetenv("OZBOUND_HANGS_IN");
    EXPECT_TRUE(soon([&] { return read_bytes(file).ends_with('\n'); }));
    worker = static_cast<pid_t>(std::stoi(read_bytes(file)));
  }
};

/// If memory runs out, the kernel ends the worker first, not the process that writes the report.
TEST(CommandGrade, TheWorkerGoesFirstWhereMemoryRunsOut) {
  const HangingGrade grade;
  EXPECT_EQ(read_bytes("/proc/" + std::to_string(grade.worker) + "/oom_score_adj"), "1000\n");
  kill(grade.command, SIGINT);
  waitpid(grade.command, nullptr, 0);
}

TEST(CommandGrade, LeavesNoProcessBehindWhenItIsInterrupted) {
  for (const int signal : {SIGINT, SIGKILL}) {
    const HangingGrade grade;
    EXPECT_TRUE(runs(grade.worker));
    kill(grade.command, signal);
    waitpid(grade.command, nullptr, 0);
    EXPECT_TRUE(soon([&] { return !runs(grade.worker); })) << grade.worker;
    if (signal == SIGINT) {
      EXPECT_EQ(grade.directory.names(), std::set<std::string>{"worker"});  // no page, and no part of a page
    }
  }
}

}  // namespace
}  // namespace ozbound::cli::test::command_grade_test
