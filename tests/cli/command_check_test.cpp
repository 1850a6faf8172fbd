// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "checks.hpp"
#include "cli/command.hpp"
#include "support/faulty_engine.hpp"

namespace ozbound::cli::test::command_check_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Runs ozbound check with a temporary folder for cases.
Finished check_briefly(std::vector<std::string> arguments) {
  const TemporaryDirectory directory;
  arguments.insert(arguments.begin(), {"check", "--time", "50ms", "--regressions", directory / "cases"});
  return ozbound(arguments);
}

TEST(CommandCheck, ForPeople) {
  const auto finished = check_briefly({"--property", "transposition", "--property", "sign", "--seed", "7"});
  EXPECT_EQ(finished.code, 0) << finished.out;
  EXPECT_THAT(finished.out, testing::MatchesRegex("seed 7\n"
                                                  "transposition +holds +[0-9]+ replayed, [0-9]+ drawn\n"
                                                  "sign +holds +[0-9]+ replayed, [0-9]+ drawn\n"));
  EXPECT_EQ(finished.err, "") << "no progress into a pipe";
}

TEST(CommandCheck, ForPrograms) {
  const auto finished = check_briefly({"--property", "sign", "--seed", "7", "--engine", "cpu", "--json"});
  EXPECT_EQ(finished.code, 0);
  const auto object = json::parse(finished.out);
  EXPECT_EQ(object["schema"], "ozbound-check-1");
  EXPECT_EQ(object["holds"], true);
  EXPECT_EQ(object["seed"], 7);
  ASSERT_EQ(object["properties"].size(), 1u);
  EXPECT_EQ(object["properties"][0]["property"], "sign");
  EXPECT_GE(object["properties"][0]["replayed"], 20) << "the cases that come with Ozbound";
  EXPECT_GT(object["properties"][0]["drawn"], 0);
}

TEST(CommandCheck, ListsWhatItChecks) {
  const auto people = ozbound({"check", "--list", "--wide"});
  const auto programs = json::parse(ozbound({"check", "--list", "--json"}).out);
  ASSERT_EQ(programs["properties"].size(), all_properties().size());
  for (std::size_t t = 0; t < all_properties().size(); ++t) {
    EXPECT_EQ(programs["properties"][t]["property"], all_properties()[t].name);
    EXPECT_THAT(people.out, HasSubstr(all_properties()[t].name + "\n    " + all_properties()[t].statement));
  }
}

TEST(CommandCheck, WrongArgumentsAreRefused) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& wrong) {
    const auto finished = ozbound(arguments);
    EXPECT_EQ(finished.code, 2) << wrong;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, testing::AllOf(testing::StartsWith("ozbound: "), HasSubstr(wrong)));
  };
  refused({"check", "--property", "sing"}, "property 'sing' is none of");
  refused({"check", "--engine", "abacus"}, "--engine: 'abacus' is not one of cpu, cuda");
  refused({"check", "--time", "0s"}, "--time");
  refused({"check", "--time", "soon"}, "--time");
  refused({"check", "--seed", "-1"}, "--seed");
  refused({"check", "--replay", "none.json"}, "none.json: cannot be read");
  refused({"check", "--replay", "none.json", "--seed", "1"}, "--replay");
  refused({"check", "--replay", ""}, "--replay: this names no file");
  refused({"check", "--regressions", ""}, "--regressions: this names no folder");
  for (const char* option : {"--engine", "--property", "--time", "--seed", "--regressions", "--replay"})
    refused({"check", "--list", option, option == std::string("--engine") ? "cpu" : "1"}, option);
}

TEST(CommandCheck, AWrongCaseFileIsNamed) {
  const TemporaryDirectory directory;
  write_bytes(directory / "wrong.json", "{\"schema\": \"ozbound-case-1\", \"properties\": 7}");
  const auto wrong = (directory / "wrong.json").string() + ": properties: is no array of names";
  expect_refusal({"check", "--replay", directory / "wrong.json"}, wrong);
  const auto finished = ozbound({"check", "--property", "sign", "--time", "50ms", "--regressions", directory.path(), "--json"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.err, "ozbound: " + wrong + "\n");
}

/// A case that names an unknown property is refused by its file: otherwise the case would silently never be replayed.
TEST(CommandCheck, ACaseForAPropertyThatIsNoneIsNamed) {
  const TemporaryDirectory directory;
  const auto file = store_case({{"sign", "sing"}, "", sample_case({}, 1)}, directory / "cases");
  const auto expect_refused = [&](const std::vector<std::string>& arguments) {
    const auto finished = ozbound(arguments);
    EXPECT_EQ(finished.code, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, testing::StartsWith("ozbound: " + file.string() +
                                                  ": properties: property 'sing' is none of exact-splitting, "));
  };
  expect_refused({"check", "--replay", file});
  expect_refused({"check", "--property", "transposition", "--time", "50ms", "--regressions", directory / "cases"});
}

TEST(CommandCheck, DirectoriesAreNoCaseFiles) {
  const TemporaryDirectory directory;
  const auto folder = directory / "folder.json";
  std::filesystem::create_directory(folder);
  expect_refusal({"check", "--replay", folder}, folder.string() + ": is a directory");
  expect_refusal({"check", "--time", "50ms", "--regressions", directory.path()}, folder.string() + ": is a directory");
}

/// A path that is no folder is refused before a case is drawn, as no case could be stored.
TEST(CommandCheck, AFolderThatIsNoneIsRefused) {
  const TemporaryDirectory directory;
  const auto file = directory / "file";
  write_bytes(file, "");
  for (const auto& folder : {file, file / "below"})
    expect_refusal({"check", "--time", "50ms", "--regressions", folder},
                   "--regressions: " + folder.string() + ": is no directory, and none can be made there");
}

// An engine with a fault, which the command does not offer.

struct Output {
  ExitCode code;
  std::string out;
};

Output run(const CheckArguments& arguments, const Engine& engine) {
  testing::internal::CaptureStdout();
  const auto code = run_checks(arguments, engine);
  std::fflush(stdout);
  return {code, testing::internal::GetCapturedStdout()};
}

/// An engine with a fault that no case on file shows.
auto faulty() {
  return ozbound::test::flipping([](const SlicedMatrix& a, const SlicedMatrix&, const OutputView& c, Index, Index j) {
    return a.inner_dimension() > 3 && a.inner_dimension() < 100 && c.cols() > 2 && j == 2;
  });
}

CheckArguments arguments_for(const TemporaryDirectory& directory) {
  CheckArguments arguments;
  arguments.properties = {"any-engine"};
  arguments.seconds = 60;
  arguments.regressions = directory / "found here";
  return arguments;
}

std::string replaying(const std::filesystem::path& file) {
  return "ozbound check --engine cpu --property any-engine --replay '" + file.string() + "'";
}

/// A fault is explained: the case is shown, and the last line tells how to reproduce it.
TEST(CommandCheck, AFaultIsExplained) {
  const TemporaryDirectory directory;
  const auto arguments = arguments_for(directory);
  const auto found = run(arguments, faulty());
  EXPECT_EQ(found.code, ExitCode::verdict_failed);
  const auto files = case_files(arguments.regressions);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(found.out, HasSubstr("any-engine            FAILS  "));
  EXPECT_THAT(found.out, HasSubstr("C(0, 2) is "));
  EXPECT_THAT(found.out, HasSubstr("\n  \"inner_repeat\": "));
  EXPECT_THAT(found.out, testing::EndsWith("\nstored in " + files[0].string() + "; again by\n" + replaying(files[0]) + "\n\n"));
  EXPECT_THAT(found.out, HasSubstr("\n" + read_bytes(files[0]) + "\n"));
}

/// A fault whose case cannot be stored is explained: the case is shown, and the last line has the seed.
TEST(CommandCheck, AFaultIsExplainedThatCannotBeStored) {
  const TemporaryDirectory directory;
  auto arguments = arguments_for(directory);
  arguments.seed = 8;
  arguments.seconds = 0.5;
  auto blocking = faulty();
  blocking.faulty_slice = [&](const Engine& right, InputView operand, Side side, Slicing slicing) {
    if (!std::filesystem::exists(arguments.regressions)) write_bytes(arguments.regressions, "");
    return right.slice(operand, side, slicing);
  };
  auto found = run(arguments, blocking);
  EXPECT_EQ(found.code, ExitCode::verdict_failed);
  EXPECT_THAT(found.out, HasSubstr("C(0, 2) is "));
  EXPECT_THAT(found.out, HasSubstr("\n  \"inner_repeat\": "));
  EXPECT_THAT(found.out, HasSubstr("\nnot stored: " + arguments.regressions.string() + "/any-engine-"));
  const std::string again = "ozbound check --engine cpu --property any-engine --seed 8 --time 0.5s";
  EXPECT_THAT(found.out, testing::EndsWith(": cannot be written; again by\n" + again + "\n\n"));

  std::filesystem::remove(arguments.regressions);
  arguments.json = true;
  found = run(arguments, blocking);
  const auto record = json::parse(found.out)["properties"][0];
  EXPECT_EQ(record["file"], "");
  EXPECT_THAT(record["not_stored"], HasSubstr("cannot be written"));
  EXPECT_EQ(record["reproduction"], again);
}

/// A replayed file is shown unchanged, also if it was written by hand.
TEST(CommandCheck, AReplayedFileIsShownAsItIs) {
  const TemporaryDirectory directory;
  auto arguments = arguments_for(directory);
  GemmCase one;
  one.a.values = Matrix<double>(1, 4), one.b.values = Matrix<double>(4, 3), one.c0.values = Matrix<double>(1, 3);
  const auto file = store_case({{}, "by hand", one}, directory / "by hand");
  arguments.replay = file;
  EXPECT_THAT(run(arguments, faulty()).out, testing::EndsWith("\n" + read_bytes(file) + "\nreplayed from " + file.string() +
                                                              "; again by\n" + replaying(file) + "\n\n"));
  arguments.json = true;
  EXPECT_EQ(json::parse(run(arguments, faulty()).out)["properties"][0]["case"], json::parse(read_bytes(file)));
}

TEST(CommandCheck, WhatIsStoredIsReplayedFirst) {
  const TemporaryDirectory directory;
  auto arguments = arguments_for(directory);
  ASSERT_EQ(run(arguments, faulty()).code, ExitCode::verdict_failed);
  const auto files = case_files(arguments.regressions);
  ASSERT_EQ(files.size(), 1u);

  arguments.json = true;
  const auto second = run(arguments, faulty());
  EXPECT_EQ(second.code, ExitCode::verdict_failed);
  const auto record = json::parse(second.out)["properties"][0];
  EXPECT_EQ(record["drawn"], 0);
  EXPECT_EQ(record["file"], files[0].string());
  EXPECT_EQ(record["reproduction"], replaying(files[0]));
  EXPECT_EQ(record["case"], json::parse(read_bytes(files[0])));
  EXPECT_EQ(case_from_json(record["case"]).gemm_case.n(), 3);
  EXPECT_EQ(case_files(arguments.regressions).size(), 1u);

  // The command replays the case for its own property or another one, and finds no fault in the correct engine.
  const auto right = ozbound({"check", "--replay", files[0]});
  EXPECT_EQ(right.code, 0);
  EXPECT_EQ(right.out, "any-engine            holds  1 replayed, 0 drawn\n");
  EXPECT_EQ(ozbound({"check", "--property", "sign", "--replay", files[0]}).out,
            "sign                  holds  1 replayed, 0 drawn\n");

  arguments.replay = files[0];
  EXPECT_EQ(run(arguments, faulty()).code, ExitCode::verdict_failed);
}

}  // namespace
}  // namespace ozbound::cli::test::command_check_test
