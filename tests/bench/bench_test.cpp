// SPDX-License-Identifier: BSD-3-Clause
// The benchmark takes and judges samples correctly and writes the right output.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command.hpp"
#include "cli/documented.hpp"
#include "goals.hpp"
#include "openblas.hpp"
#include "record.hpp"
#include "report.hpp"

namespace ozbound::bench::bench_test {
namespace {

using cli::test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Quartiles, AreInterpolatedBetweenSortedValues) {
  const auto five = quartiles({5, 1, 4, 2, 3});
  EXPECT_THAT((std::vector{five.lower, five.median, five.upper}), ElementsAre(2, 3, 4));
  const auto four = quartiles({8, 0, 2, 4});
  EXPECT_THAT((std::vector{four.lower, four.median, four.upper}), ElementsAre(1.5, 3, 5));
  const auto one = quartiles({7});
  EXPECT_THAT((std::vector{one.lower, one.median, one.upper}), ElementsAre(7, 7, 7));
}

/// Subjects that write their names and take at least a microsecond, so that no warm-up repeats them.
std::vector<Subject> writers(std::string& log) {
  std::vector<Subject> subjects;
  for (const char name : {'a', 'b', 'c'})
    subjects.push_back({{name}, [&log, name] {
                          const auto start = std::chrono::steady_clock::now();
                          while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(1)) {
                          }
                          log += name;
                        }});
  return subjects;
}

constexpr Effort three_repetitions{.sample_seconds = 1e-6,
                                   .longest_sample_seconds = 1e-6,
                                   .seconds = 0,
                                   .least_repetitions = 3,
                                   .most_repetitions = 5,
                                   .longest_repetition_seconds = 60};

TEST(Sample, GoesThereAndBackAfterAWarmUp) {
  std::string log;
  const auto samples = sample(writers(log), three_repetitions);
  EXPECT_EQ(log, "abcabccbaabccbaabccba");
  ASSERT_EQ(samples.repetitions.size(), 3U);
  for (const auto& seconds : samples.repetitions) {
    ASSERT_EQ(seconds.size(), 3U);
    for (const double one : seconds) EXPECT_GE(one, 1e-6);
  }
}

TEST(Sample, OfAShortSubjectIsLongBesideALongOne) {
  std::string log;
  auto subjects = writers(log);
  subjects.resize(2);
  subjects[1].call = [&log] {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    log += 'b';
  };
  auto effort = three_repetitions;
  effort.longest_sample_seconds = 0.5e-3;  // not a quarter of 4 ms
  sample(subjects, effort);
  EXPECT_EQ(std::ranges::count(log, 'b'), 1 + 2 * 3);  // the first call of b is also a sample
  const auto last = log.substr(log.rfind('b') + 1);    // a sample of the short subject
  EXPECT_GT(last.size(), 1U);
  EXPECT_EQ(last.find_first_not_of('a'), std::string::npos);
}

TEST(Sample, RepeatsShortCallsAndKeepsItsLimits) {
  std::string log;
  auto effort = three_repetitions;
  effort.sample_seconds = effort.longest_sample_seconds = 50e-6;
  effort.seconds = 1e3;
  const auto many = sample(writers(log), effort);
  EXPECT_EQ(many.repetitions.size(), 5U);
  EXPECT_GT(many.expected_seconds, 6 * 50e-6);
  effort.longest_repetition_seconds = 1e-6;
  EXPECT_TRUE(sample(writers(log), effort).repetitions.empty());
}

SeriesEntry series_of(std::string& log) {
  const auto prepare = [&log] {
    const auto ratio = [count = 0.0](std::span<const double> seconds) mutable { return seconds.size() == 3 ? ++count : 0; };
    return Series{writers(log), {{"group/what", "base", Kind::speed, 0, 1, ratio, 1e3, "scaled"}}};
  };
  return {"group", "group/what/2x3x4/threads:1", {2, 3, 4}, 1, "portable", prepare};
}

TEST(Measure, FormsRatiosWithinARepetition) {
  std::string log;
  const auto measurements = measure(series_of(log), three_repetitions);
  ASSERT_EQ(measurements.size(), 1U);
  const auto& x = measurements.front();
  EXPECT_THAT((std::vector{x.ratio.lower, x.ratio.median, x.ratio.upper}), ElementsAre(1.5, 2, 2.5));
  EXPECT_EQ(x.repetitions, 3);
  EXPECT_EQ(x.operations_per_second, 1e3 / x.seconds);
  EXPECT_EQ(x.note, "scaled");
}

TEST(Measure, SaysWhyASeriesIsLeftOut) {
  std::string log;
  auto effort = three_repetitions;
  effort.longest_repetition_seconds = 0;
  const auto measurements = measure(series_of(log), effort);
  ASSERT_EQ(measurements.size(), 1U);
  EXPECT_EQ(measurements.front().repetitions, 0);
  EXPECT_THAT(measurements.front().note, HasSubstr("left out"));
}

Measurement measured(const std::string& name, const std::string& baseline, const Shape& shape, double ratio) {
  return {.name = name,
          .baseline = baseline,
          .shape = shape,
          .threads = 2,
          .kernel = "avx512vnni",
          .repetitions = 5,
          .ratio = {ratio, ratio, ratio}};
}

Goal goal_about(const std::string& words, const std::vector<Measurement>& measurements, const std::string& kernel) {
  for (const auto& goal : judge_goals(measurements, kernel))
    if (goal.name.find(words) != std::string::npos) return goal;
  ADD_FAILURE() << "no goal about " << words;
  return {};
}

TEST(Goals, AreMetOrMissedByTheWorst) {
  const std::string plan = "gemm/balanced:7x7:cut=8:exact";
  std::vector<Measurement> measurements{measured(plan, "OpenBLAS", {1024, 1024, 1024}, 0.28),
                                        measured(plan, "OpenBLAS", {512, 512, 512}, 0.1),
                                        measured(plan, "OpenBLAS", {2048, 8, 2048}, 0.1)};
  EXPECT_EQ(status(goal_about("28 products over", measurements, "avx512vnni")), "met");
  measurements.push_back(measured(plan, "OpenBLAS", {2048, 2048, 2048}, 0.25));
  const auto missed = goal_about("28 products over", measurements, "avx512vnni");
  EXPECT_EQ(status(missed), "missed");
  EXPECT_EQ(missed.measured, 0.25);
  EXPECT_EQ(status(goal_about("36 products over", measurements, "avx512vnni")), "not measured");
}

TEST(Goals, TellKernelsAndDirectionsApart) {
  const std::vector<Measurement> measurements{measured("kernel", "integer peak", {256, 256, 4096}, 0.84),
                                              measured("kernel", "integer peak", {256, 256, 256}, 0.76),
                                              measured("proof/phi=0/deciding+certifying", "gemm", {512, 512, 512}, 0.2)};
  EXPECT_EQ(goal_about("K' >= 4096", measurements, "avx512vnni").measured, 0.84);
  EXPECT_EQ(status(goal_about("K' >= 4096", measurements, "avx512vnni")), "missed");
  EXPECT_EQ(status(goal_about("256 ... 1024", measurements, "avx512vnni")), "met");
  EXPECT_EQ(status(goal_about("deciding", measurements, "avx512vnni")), "missed");
  EXPECT_EQ(status(goal_about("deciding", measurements, "avx2")), "not applicable");
  EXPECT_EQ(status(goal_about("deciding", measurements, "avxvnni")), "not measured");
}

// A processor with AMX also has VNNI: the peak is that of the VNNI kernel, all other figures use the engine's default.
TEST(Goals, ApplyWithAmx) {
  const std::string plan = "gemm/balanced:7x7:cut=8:exact";
  std::vector<Measurement> measurements{measured("kernel", "integer peak", {256, 256, 256}, 0.76),
                                        measured(plan, "integer peak", {1024, 1024, 1024}, 0.8),
                                        measured(plan, "OpenBLAS", {1024, 1024, 1024}, 0.1)};
  const auto by_vnni = measurements;
  for (auto x : by_vnni) {
    x.kernel = "amx", x.ratio.median = 0.6;
    measurements.push_back(x);
  }
  EXPECT_EQ(goal_about("256 ... 1024", measurements, "amx").measured, 0.76);
  EXPECT_EQ(status(goal_about("end to end", measurements, "amx")), "met");
  EXPECT_EQ(goal_about("28 products over", measurements, "amx").measured, 0.6);
  EXPECT_EQ(status(goal_about("28 products over", by_vnni, "amx")), "not measured");
}

TEST(Goals, AreAllThere) { EXPECT_EQ(judge_goals({}, "avx512vnni").size(), 17U); }

TEST(Change, IsWhatLeavesBothSpreads) {
  auto before = measured("x", "y", {}, 1), now = before;
  before.ratio = {0.9, 1, 1.1};
  now.ratio = {1.1, 1.2, 1.3};
  EXPECT_EQ(change(now, before), "");
  now.ratio.lower = 1.11;
  EXPECT_EQ(change(now, before), "faster");
  EXPECT_EQ(change(before, now), "slower");
  now.kind = before.kind = Kind::share;
  EXPECT_EQ(change(now, before), "more");
  EXPECT_EQ(change(before, now), "less");
}

TEST(Record, ComesBackAsItWas) {
  auto x = measured("gemm/p", "OpenBLAS", {2, 3, 4}, 0.1);
  x.ratio = {0.1, 0.3, 0.7};
  x.kind = Kind::share;
  x.note = "scaled";
  x.library = "OpenBLAS 0.3.21 Haswell";
  x.seconds = 1e-7;
  const std::vector<Measurement> measurements{x};
  const auto json = to_json(measurements, judge_goals(measurements, "avx512vnni"),
                            {.kernel = "avx512vnni", .quick = true, .unset = {}, .cores = {}});
  const auto back = record_from_json(json);
  ASSERT_EQ(back.measurements.size(), 1U);
  const auto& y = back.measurements.front();
  EXPECT_EQ(to_json(y), to_json(x));
  EXPECT_THAT((std::vector{y.ratio.lower, y.ratio.median, y.ratio.upper}), ElementsAre(0.1, 0.3, 0.7));
  EXPECT_EQ(y.kind, Kind::share);
  EXPECT_EQ(y.repetitions, 5);
  EXPECT_TRUE(back.measurements.front().same_place(x));
  EXPECT_EQ(back.processor, json["machine"]["processor"].get<std::string>());
}

TEST(Comparison, MatchesPlacesAndCountsTheRest) {
  const auto shared = measured("gemm/p", "OpenBLAS", {2, 3, 4}, 2), faster = measured("gemm/p", "OpenBLAS", {2, 3, 4}, 3);
  auto other_threads = shared;
  other_threads.threads = 1;
  const Record now{"one", {faster, other_threads}}, before{"two", {shared}};
  const auto table = comparison_table(now, before);
  EXPECT_THAT(table, HasSubstr("  3      2        1.5  faster\n"));
  EXPECT_THAT(table, HasSubstr("another processor: two"));
  EXPECT_THAT(table, HasSubstr("1 measurements are only in this run"));
  EXPECT_THAT(table, testing::Not(HasSubstr("only in the saved run")));
}

// The benchmark program.

nlohmann::json read(const std::string& file) { return nlohmann::json::parse(cli::test::read_bytes(file)); }

TEST(Program, MeasuresEverythingQuickly) {
  const TemporaryDirectory directory;
  const std::string file = directory / "run.json";
  const auto finished = cli::test::ozbound({"cpu", "--quick", "--json", file});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const auto json = read(file);
  EXPECT_EQ(json.at("schema"), "ozbound-bench-1");
  EXPECT_FALSE(json.at("machine").at("processor").get<std::string>().empty());
  std::set<std::string> groups;
  for (const auto& x : record_from_json(json).measurements) {
    groups.insert(x.name.substr(0, x.name.find('/')));
    EXPECT_GT(x.repetitions, 0) << x.name;
    EXPECT_LE(x.ratio.lower, x.ratio.median) << x.name;
    EXPECT_LE(x.ratio.median, x.ratio.upper) << x.name;
    EXPECT_GT(x.seconds, 0) << x.name;
    EXPECT_THAT(finished.out, HasSubstr(x.name));
  }
  EXPECT_THAT(groups, testing::IsSupersetOf({"complex", "cr", "gemm", "proof", "small"}));
  for (const auto& goal : json.at("goals")) {
    EXPECT_TRUE(goal.at("measured").is_null()) << goal;  // such small sizes prove nothing
    EXPECT_TRUE(goal.at("met").is_null()) << goal;
    EXPECT_TRUE(goal.at("goal").is_number()) << goal;
    EXPECT_THAT(finished.out, HasSubstr(goal.at("name").get<std::string>()));
  }
}

TEST(Program, ComparesWithASavedRunWhoseRecordIsDocumented) {
  const TemporaryDirectory directory;
  const std::string file = directory / "run.json";
  const std::string filter = "small/.*threads:1/";
  ASSERT_EQ(cli::test::ozbound({"cpu", "--quick", "--filter", filter, "--json", file}).code, 0);
  cli::test::expect_documented(read(file), cli::test::read_bytes(OZBOUND_DOCS "/benchmarks.md"));
  const auto finished = cli::test::ozbound({"cpu", "--quick", "--filter", filter, "--compare", file});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("now/saved"));
  EXPECT_THAT(finished.out, testing::Not(HasSubstr("only in")));
}

void expect_refusal(const std::vector<std::string>& arguments, const std::string& wrong) {
  const auto finished = cli::test::ozbound(arguments);
  EXPECT_EQ(finished.code, 2) << wrong;
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "ozbound-bench: " + wrong + "\n");
}

/// A variable of the environment must not choose the baseline.
TEST(Program, MeasuresWithTheFastestOfOpenBlassKernels) {
  if (!have_openblas()) GTEST_SKIP() << "without OpenBLAS";
  const TemporaryDirectory directory;
  const std::string file = directory / "run.json";
  ::setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  const auto finished = cli::test::ozbound({"cpu", "--quick", "--filter", "^gemm/balanced:2x2.*/threads:1/", "--json", file});
  ::unsetenv("OPENBLAS_CORETYPE");
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, testing::MatchesRegex("Unset while measuring: [^\n]*OPENBLAS_CORETYPE=Prescott\n.*"));
  const auto json = nlohmann::json::parse(cli::test::read_bytes(file));
  EXPECT_EQ(json["complete"], true);
  const auto& cores = json["machine"]["openblas_cores"];
  ASSERT_GE(cores.size(), 2U);
  for (const auto& core : cores) EXPECT_GE(core["seconds"], cores[0]["seconds"]);
  const auto fastest = cores[0]["library"].get<std::string>();
  for (const auto& x : json["measurements"])
    if (x["baseline"] == "OpenBLAS" && x["kernel"] == json["machine"]["kernel"]) {
      const auto library = x["library"].get<std::string>();
      EXPECT_THAT(fastest, HasSubstr(" " + library.substr(library.rfind(' ') + 1))) << library;
    }
}

/// Nobody reads any longer: the program ends.
TEST(Program, EndsWhereItsOutputIsClosed) {
  const std::string command =
      "timeout 60 " OZBOUND_COMMAND " cpu --quick --filter '^gemm/balanced:2x2.*threads:1/sse2' | head -n 1";
  const std::string line = [&] {
    FILE* const pipe = popen(("bash -c \"set -o pipefail; " + command + "; echo $? >&2\" 2>&1").c_str(), "r");
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    pclose(pipe);
    return text;
  }();
  EXPECT_THAT(line, testing::Not(HasSubstr("124"))) << "timeout had to end it";
}

/// A run that is killed leaves what it measured before.
TEST(Program, WritesWhatItHasAfterEachSeries) {
  const TemporaryDirectory directory;
  const std::string file = directory / "run.json";
  const pid_t program = cli::test::start_command({"cpu", "--quick", "--json", file}, directory / "out", directory / "err");
  for (int t = 0; t < 6000 && (!std::filesystem::exists(file) || std::filesystem::file_size(file) == 0); ++t)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  EXPECT_THAT(cli::test::read_bytes(directory / "out"), HasSubstr("\npeak/"));  // a line is out as soon as it is measured
  const auto json = nlohmann::json::parse(cli::test::read_bytes(file));
  EXPECT_EQ(json["complete"], false);
  EXPECT_FALSE(json["measurements"].empty());
}

TEST(Program, RefusesBadFilesBeforeItMeasures) {
  const TemporaryDirectory directory;
  const std::string file = directory / "bad.json", out = directory / "out.json";
  const auto refused = [&](const std::string& content, const std::string& wrong) {
    cli::test::write_bytes(file, content);
    expect_refusal({"cpu", "--json", out, "--compare", file}, file + wrong);
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  refused("{\n\"schema\": }", ":2: this is not JSON");
  refused("[]", ": this is no record of a benchmark, schema 'ozbound-bench-1'");
  refused(R"({"schema": "ozbound-bench-1"})", ": the record has no list 'measurements'");
  refused(R"({"schema": "ozbound-bench-1", "measurements": []})", ": the record has no machine with a processor");
  refused(R"({"schema": "ozbound-bench-1", "machine": {"processor": ""}, "measurements": [7]})",
          ": a measurement has no 'name'");
  refused(R"({"schema": "ozbound-bench-1", "machine": {"processor": ""}, "measurements": [{"name": 7}]})",
          ": 'name' of a measurement must be a text");
}

TEST(Program, RefusesBadMembers) {
  auto json = nlohmann::json(to_json(measured("x", "y", {1, 2, 3}, 1)));
  const auto refused = [&](const char* name, const nlohmann::json& value, const std::string& wrong) {
    auto changed = json;
    changed[name] = value;
    try {
      measurement_from_json(changed);
      ADD_FAILURE() << wrong;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(), wrong);
    }
  };
  EXPECT_NO_THROW(measurement_from_json(json));
  refused("kind", "size", "'kind' of a measurement must be 'speed' or 'share'");
  refused("m", 1.5, "'m' of a measurement must be a whole number");
  refused("threads", 0x1p31, "'threads' of a measurement must be a whole number");
  refused("median", "1", "'median' of a measurement must be a number");
}

TEST(Program, RefusesBadArguments) {
  expect_refusal({"cpu", "--filter", "("}, "--filter is not a regular expression: '('");
  expect_refusal({"cpu", "--filter", "nothing"}, "--filter leaves no series (see --list): 'nothing'");
  EXPECT_EQ(cli::test::ozbound({"cpu", "--fast"}).code, 2);
  EXPECT_EQ(cli::test::ozbound({}).code, 2);
}

TEST(Program, ListsSeries) {
  const auto finished = cli::test::ozbound({"cpu", "--list", "--filter", "gemm/balanced:7x7.*/2048x8x2048/"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.out, HasSubstr("gemm/balanced:7x7:cut=8:exact/2048x8x2048/threads:1/"));
}

}  // namespace
}  // namespace ozbound::bench::bench_test
