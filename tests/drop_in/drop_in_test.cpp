// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "drop_in/engine/settings.hpp"
#include "drop_in/engine/unseen.hpp"
#include "support/temporary_directory.hpp"

namespace ozbound::drop_in {
namespace drop_in_test {
namespace {

using ozbound::test::read_bytes;
using ozbound::test::TemporaryDirectory;
using ozbound::test::write_bytes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Environment = std::map<std::string, std::string>;

struct Finished {
  int code = -1;  ///< 128 plus the signal that ended it, as in a shell
  std::string out, err;
};

/// Runs a shell line with these variables in a temporary folder, for two minutes at most.
Finished run(const std::string& line, const Environment& environment = {}) {
  const TemporaryDirectory folder;
  std::string variables = "env -u LD_PRELOAD -u OZBOUND_MODE OMP_NUM_THREADS=2 ";
  for (const auto& [name, value] : environment) variables += name + "='" + value + "' ";
  const auto file = [&](const char* name) { return (folder / name).string(); };
  write_bytes(folder / "script", line);
  const int status =
      std::system((variables + "timeout -k 1 120 sh " + file("script") + " >" + file("out") + " 2>" + file("err")).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read_bytes(folder / "out"), read_bytes(folder / "err")};
}

/// The environment of a program in shadow mode that has every call examined, however slow the machine is.
Environment shadow(Environment more = {}) {
  more.merge(Environment{
      {"LD_PRELOAD", OZBOUND_HOOK}, {"OZBOUND_MODE", "shadow"}, {"OZBOUND_MIN_WORK", "0"}, {"OZBOUND_SHARE", "1e6"}});
  return more;
}

std::string program(const std::string& which, const std::string& plugins = OZBOUND_PRODUCTS) {
  return std::string("exec " OZBOUND_PROGRAM " '") + which + "' " + plugins;
}

std::vector<nlohmann::json> records_of(const std::string& text) {
  std::vector<nlohmann::json> records;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) records.push_back(nlohmann::json::parse(line));
  return records;
}

/// The last record of this kind, or null.
nlohmann::json last(const std::vector<nlohmann::json>& records, const std::string& kind) {
  nlohmann::json found;
  for (const auto& record : records)
    if (record.at("record") == kind) found = record;
  return found;
}

/// The number of calls handled this way, by the last counts.
long calls_of(const std::vector<nlohmann::json>& records, const std::string& way) {
  std::map<std::string, long> counts;
  for (const auto& record : records)
    if (record.at("record") == "count" && record.at("way") == way) {
      auto key = record;
      for (const auto* member : {"calls", "work", "native_seconds", "own_seconds", "other_seconds", "worst"}) key.erase(member);
      counts[key.dump()] = record.at("calls");
    }
  long sum = 0;
  for (const auto& [key, count] : counts) sum += count;
  return sum;
}

/// Folders with a libblas.so.3: netlib's and OpenBLAS's.
std::vector<std::string> libraries() {
  std::vector<std::string> found;
  for (const auto* folder : {"/blas", "/openblas-openmp", "/openblas-pthread", "/openblas-serial"})
    if (const auto path = OZBOUND_LIBRARIES + std::string(folder); std::filesystem::exists(path + "/libblas.so.3"))
      found.push_back(path);
  return found;
}

TEST(DropIn, LeavesTheBitsOfAPlugInThatIsOpenedLocally) {
  ASSERT_THAT(libraries(), ::testing::Not(IsEmpty()));
  for (const auto& folder : libraries()) {
    const auto alone = run(program("bits"), {{"LD_LIBRARY_PATH", folder}});
    ASSERT_EQ(alone.code, 0) << alone.err;
    for (const auto* mode : {"off", "shadow"}) {
      const auto hooked = run(program("bits"), shadow({{"LD_LIBRARY_PATH", folder}, {"OZBOUND_MODE", mode}}));
      EXPECT_EQ(hooked.code, 0) << hooked.err;
      EXPECT_EQ(hooked.out, alone.out) << folder << ' ' << mode;
      EXPECT_EQ(hooked.err.empty(), std::string(mode) == "off") << hooked.err;
    }
  }
}

TEST(DropIn, HookNeedsLibcAlone) {
  const auto needed = run("readelf -d " OZBOUND_HOOK " | grep -c NEEDED; readelf -d " OZBOUND_HOOK " | grep NEEDED");
  EXPECT_THAT(needed.out, HasSubstr("libc.so")) << needed.err;
  EXPECT_EQ(needed.out.substr(0, 2), "1\n");
}

TEST(DropIn, CountsACallOfCblasOnce) {
  for (const auto& folder : libraries()) {  // netlib's cblas_dgemm calls dgemm_
    const TemporaryDirectory logs;
    const auto log = (logs / "log").string();
    EXPECT_EQ(run(program("cblas"), shadow({{"LD_LIBRARY_PATH", folder}, {"OZBOUND_LOG", log}})).code, 0);
    const auto records = records_of(read_bytes(log));
    EXPECT_EQ(last(records, "calls").at("calls"), 5) << folder;
    EXPECT_EQ(last(records, "call").at("routine"), "cblas_dgemm");
  }
}

TEST(DropIn, LeavesComplaintsToTheProgramsOwnXerbla) {
  if (std::string(OZBOUND_REFERENCE_BLAS).empty()) GTEST_SKIP() << "netlib's BLAS is not installed";
  const auto folder = std::filesystem::path(OZBOUND_REFERENCE_BLAS).parent_path().string();
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  const auto odd = run(program("odd"), shadow({{"LD_LIBRARY_PATH", folder}, {"OZBOUND_LOG", log}}));
  EXPECT_EQ(odd.code, 0);
  EXPECT_EQ(odd.err, "xerbla DGEMM 4\nxerbla DGEMM 1\n");
  const auto records = records_of(read_bytes(log));
  EXPECT_EQ(last(records, "calls").at("bad_arguments"), 2);
  EXPECT_EQ(calls_of(records, "overlap"), 1);
  EXPECT_EQ(calls_of(records, "special"), 1);
}

TEST(DropIn, LetsAConstructorMultiplyWhileAnotherThreadMakesTheFirstCall) {
  const auto plugins = std::string(OZBOUND_PRODUCTS " " OZBOUND_MULTIPLYING_CONSTRUCTOR);
  const auto alone = run(program("constructor", plugins)),
             hooked = run(program("constructor", plugins), shadow({{"OZBOUND_SUMMARY", "0"}}));
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(hooked.code, 0) << hooked.err;
  EXPECT_EQ(hooked.out, alone.out);
  EXPECT_EQ(hooked.err, alone.err);
}

TEST(DropIn, ServesThreadsForksAndWhatRunsAtExit) {
  for (const auto* which : {"threads", "fork", "fork after", "exit", "closed"}) {
    const Environment common{{"MULTIPLY_IN_DESTRUCTOR", "1"}};
    const auto alone = run(program(which), common), hooked = run(program(which), shadow(common));
    EXPECT_EQ(alone.code, 0) << which << alone.err;
    EXPECT_EQ(hooked.code, 0) << which << hooked.err;
    EXPECT_EQ(hooked.out, alone.out) << which;
    EXPECT_THAT(hooked.err, HasSubstr("in shadow, target dgemm")) << which;
  }
}

TEST(DropIn, CountsEveryCallOfManyThreads) {
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  EXPECT_EQ(run(program("threads"), shadow({{"OZBOUND_LOG", log}})).code, 0);
  EXPECT_EQ(last(records_of(read_bytes(log)), "calls").at("calls"), 100 * 5 * 4);
}

TEST(DropIn, GivesEachProcessItsOwnLogAndCounts) {
  const TemporaryDirectory logs;
  EXPECT_EQ(run(program("fork after"), shadow({{"OZBOUND_LOG", (logs / "%p.log").string()}})).code, 0);
  std::vector<long> calls;
  for (const auto& entry : std::filesystem::directory_iterator(logs.path()))
    calls.push_back(last(records_of(read_bytes(entry.path())), "calls").at("calls").get<long>());
  EXPECT_THAT(calls, ::testing::UnorderedElementsAre(8, 4));  // the parent's before and after; the child's
  const auto audit = run(OZBOUND_COMMAND " audit --json " + logs.path().string() + "/*.log");
  EXPECT_EQ(nlohmann::json::parse(audit.out).at("processes").size(), 2) << audit.err;
}

TEST(DropIn, LeavesExceptionFlagsAlone) {
  for (const auto& folder : libraries()) {
    const auto alone = run(program("flags"), {{"LD_LIBRARY_PATH", folder}});
    EXPECT_EQ(run(program("flags"), shadow({{"LD_LIBRARY_PATH", folder}})).out, alone.out) << folder;
    EXPECT_THAT(alone.out, HasSubstr("flags 0\n"));
  }
}

TEST(DropIn, GoesOnCountingAfterAnXerblaThatIsLeft) {
  if (std::string(OZBOUND_REFERENCE_BLAS).empty()) GTEST_SKIP() << "netlib's BLAS is not installed";
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  const auto folder = std::filesystem::path(OZBOUND_REFERENCE_BLAS).parent_path().string();
  EXPECT_EQ(run(program("jump"), shadow({{"LD_LIBRARY_PATH", folder}, {"OZBOUND_LOG", log}})).code, 0);
  const auto calls = last(records_of(read_bytes(log)), "calls");
  EXPECT_EQ(calls.at("bad_arguments"), 3);
  EXPECT_EQ(calls.at("calls"), 3 + 4);
}

TEST(DropIn, WritesNothingIntoAFileOfTheProgramsThatHasTheLogsNumber) {
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string(), own = (logs / "own").string();
  EXPECT_EQ(run(program("descriptors", OZBOUND_PRODUCTS " " + own), shadow({{"OZBOUND_LOG", log}})).code, 0);
  EXPECT_EQ(read_bytes(own), "the program's own\n");
  EXPECT_EQ(last(records_of(read_bytes(log)), "calls").at("calls"), 6 * 4);
}

TEST(DropIn, LogThatGrowsTooLargeEndsNoProgram) {
  const TemporaryDirectory logs;
  const auto alone = run(program("bits"));
  const auto hooked = run("ulimit -f 4; " + program("bits"), shadow({{"OZBOUND_LOG", (logs / "log").string()}}));
  EXPECT_EQ(hooked.code, 0);
  EXPECT_EQ(hooked.out, alone.out);
  EXPECT_THAT(hooked.err, HasSubstr("cannot be written"));
}

TEST(DropIn, EndsAProgramThatMultipliesUnderABadVariable) {
  const std::pair<const char*, const char*> bad[] = {{"OZBOUND_MODE", "on"},       {"OZBOUND_TARGET", "1e-8"},
                                                     {"OZBOUND_MIN_WORK", "-1"},   {"OZBOUND_SHARE", "2e6"},
                                                     {"OZBOUND_SUMMARY", "maybe"}, {"OZBOUND_BLAS", "/nowhere/libblas.so"}};
  for (const auto& [variable, value] : bad) {
    auto environment = shadow();
    environment[variable] = value;
    const auto multiplies = run(program("cblas"), environment);
    EXPECT_EQ(multiplies.code, 2) << variable;
    EXPECT_THAT(multiplies.err, ::testing::StartsWith(std::string("ozbound: ") + variable));
    EXPECT_EQ(std::count(multiplies.err.begin(), multiplies.err.end(), '\n'), 1) << multiplies.err;
    const auto idle = run("exec /bin/true", environment);
    EXPECT_EQ(idle.code, 0);
    EXPECT_THAT(idle.err, IsEmpty());
  }
}

TEST(DropIn, SaysOnceThatALogCannotBeWritten) {
  const auto alone = run(program("bits"));
  for (const auto* log : {"/dev/full", "/nowhere/log"}) {
    const auto hooked = run(program("bits"), shadow({{"OZBOUND_LOG", log}}));
    EXPECT_EQ(hooked.code, 0);
    EXPECT_EQ(hooked.out, alone.out);
    EXPECT_THAT(hooked.err, HasSubstr(std::string(log) + " cannot be written"));
    EXPECT_EQ(std::count(hooked.err.begin(), hooked.err.end(), '\n'), 1) << hooked.err;
  }
}

TEST(DropIn, LeavesALogOfAKilledProcessThatAuditReads) {
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  EXPECT_EQ(run(program("killed"), shadow({{"OZBOUND_LOG", log}})).code, 128 + 9);
  EXPECT_GE(records_of(read_bytes(log)).size(), 3U);
  write_bytes(log, read_bytes(log) + R"({"record":"call","num)");  // a last line that was cut short
  const auto audit = run(OZBOUND_COMMAND " audit " + log);
  EXPECT_EQ(audit.code, 0) << audit.err;
  EXPECT_THAT(audit.out, HasSubstr("worst sampled error"));
}

TEST(DropIn, ReadsIntegersOf64Bits) {
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  const auto alone = run(program("bits", OZBOUND_WIDE_PRODUCTS));
  const auto hooked = run(program("bits", OZBOUND_WIDE_PRODUCTS), shadow({{"OZBOUND_LOG", log}}));
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(hooked.code, 0) << hooked.err;
  EXPECT_EQ(hooked.out, alone.out);
  const auto call = last(records_of(read_bytes(log)), "call");
  EXPECT_EQ(call.at("routine"), "cblas_dgemm64_");
  EXPECT_EQ(call.at("k").get<long>(), call.at("m").get<long>() + 3);
}

TEST(DropIn, ExaminesNothingBelowItsLeastWorkOrWithoutTime) {
  const auto count_examined = [](const Environment& environment) {
    const TemporaryDirectory logs;
    const auto log = (logs / "log").string();
    auto all = environment;
    all["OZBOUND_LOG"] = log;
    EXPECT_EQ(run(program("bits"), shadow(all)).code, 0);
    const auto records = records_of(read_bytes(log));
    return calls_of(records, "native") + calls_of(records, "residues") + calls_of(records, "slices") +
           calls_of(records, "exact");
  };
  EXPECT_GT(count_examined({}), 4);
  EXPECT_EQ(count_examined({{"OZBOUND_MIN_WORK", "1e9"}}), 0);
  EXPECT_EQ(count_examined({{"OZBOUND_SHARE", "0"}}), 0);
}

TEST(DropIn, CertifiesRecognisedLibrariesAlone) {
  for (const auto& folder : libraries()) {
    const TemporaryDirectory logs;
    const auto log = (logs / "log").string();
    EXPECT_EQ(run(program("cblas"), shadow({{"LD_LIBRARY_PATH", folder}, {"OZBOUND_LOG", log}})).code, 0);
    EXPECT_EQ(last(records_of(read_bytes(log)), "call").at("native"), "certified") << folder;
  }
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  EXPECT_EQ(run(program("bits", OZBOUND_WIDE_PRODUCTS), shadow({{"OZBOUND_LOG", log}})).code, 0);
  EXPECT_EQ(last(records_of(read_bytes(log)), "call").at("native"), "unproven");
  EXPECT_THAT(run(OZBOUND_COMMAND " audit " + log).out, HasSubstr("unproven"));
}

TEST(DropIn, NativeIsUnprovenInAnotherFloatingPointMode) {
  for (const auto& folder : libraries())
    for (const std::string mode : {"upward", "flush"}) {
#ifndef __x86_64__
      if (mode == "flush") continue;
#endif
      const TemporaryDirectory logs;
      const auto log = (logs / "log").string();
      const auto alone = run(program(mode), {{"LD_LIBRARY_PATH", folder}});
      const auto hooked =
          run(program(mode),
              shadow({{"LD_LIBRARY_PATH", folder}, {"OZBOUND_LOG", log}, {"OZBOUND_SUMMARY", "1"}, {"OZBOUND_SHARE", "1e6"}}));
      EXPECT_EQ(hooked.out, alone.out) << folder;
      EXPECT_THAT(hooked.out, HasSubstr("the same mode"));
      EXPECT_THAT(hooked.err, HasSubstr("in another floating-point mode than the default, native unproven: 4"));
      const auto records = records_of(read_bytes(log));
      EXPECT_EQ(calls_of(records, "native"), 0);
      EXPECT_EQ(last(records, "call").at("native"), "unproven (mode)");
      EXPECT_EQ(last(records, "calls").at("other_mode"), 4);
      EXPECT_THAT(run(OZBOUND_COMMAND " audit " + log).out, HasSubstr("unproven for 4 calls in another floating-point mode"));
    }
}

/// netlib's BLAS with 64-bit integers has the names of one with 32 bits.
TEST(DropIn, FindsTheWidthOfIntegersThatNoNameTells) {
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  const auto alone = run(program("bits", OZBOUND_UNSUFFIXED_WIDE_PRODUCTS));
  const auto hooked = run(program("bits", OZBOUND_UNSUFFIXED_WIDE_PRODUCTS), shadow({{"OZBOUND_LOG", log}}));
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(hooked.out, alone.out);
  const auto records = records_of(read_bytes(log));
  EXPECT_EQ(last(records, "calls").at("bad_arguments"), 0);
  EXPECT_EQ(last(records, "call").at("k"), 2);
  EXPECT_EQ(last(records, "call").at("native_ratio"), 0);
  // Without address space nobody can tell, and nothing is said of the product.
  const std::string netlib = OZBOUND_LIBRARIES "/blas";
  if (!std::filesystem::exists(netlib + "/libblas.so.3")) return;
  const auto narrow =
      run("ulimit -v 8000000; " + program("bits"), shadow({{"LD_LIBRARY_PATH", netlib}, {"OZBOUND_SUMMARY", "1"}}));
  EXPECT_THAT(narrow.err, HasSubstr("not examined, since its integers may have 32 or 64 bits: "));
}

TEST(DropIn, SaysThatNoProductWasSeen) {
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  const auto idle = run("exec " OZBOUND_COMMAND " run --summary 1 --log " + log + " -- /bin/true");
  EXPECT_EQ(idle.code, 0);
  EXPECT_THAT(idle.err, testing::StartsWith("ozbound: no product was seen, process "));
  EXPECT_THAT(idle.err, HasSubstr("None of its files has a BLAS"));
  EXPECT_EQ(last(records_of(read_bytes(log)), "calls").at("calls"), 0);
  EXPECT_EQ(run(OZBOUND_COMMAND " audit " + log).code, 0);
  // Children of that process say nothing.
  const auto children = run("exec " OZBOUND_COMMAND " run --summary 1 -- sh -c '/bin/true; /bin/true; exit 3'");
  EXPECT_EQ(children.code, 3);
  EXPECT_EQ(children.err.find("no product was seen"), children.err.rfind("no product was seen"));
}

TEST(DropIn, FindsFilesWithABlasOfTheirOwn) {
  EXPECT_EQ(blas_routine_in("/bin/true"), "");
  EXPECT_EQ(blas_routine_in("/nowhere"), "");
  EXPECT_EQ(blas_routine_in(OZBOUND_PRODUCTS), "") << "it needs one, and has none";
  EXPECT_THAT(blas_routine_in(OZBOUND_HOOK), HasSubstr("gemm"));
  for (const auto& folder : libraries()) EXPECT_THAT(blas_routine_in(folder + "/libblas.so.3"), HasSubstr("gemm")) << folder;
  const TemporaryDirectory folder;
  write_bytes(folder / "cut", std::string("\x7f"
                                          "ELF\2\1\1",
                                          7));
  EXPECT_EQ(blas_routine_in(folder / "cut"), "");
}

TEST(DropIn, RefusesALogThatCannotBeWrittenBeforeTheProgramRuns) {
  const auto refused = run("exec " OZBOUND_COMMAND " run --log /nowhere/log -- echo ran");
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err, "ozbound: --log: /nowhere/log cannot be written: No such file or directory; see ozbound run --help\n");
}

/// A sanitizer's library must come first, and a BLAS must not hide the hook.
TEST(DropIn, KeepsTheUsersPreloadedLibrariesInTheirOrder) {
  const auto preloads = [](const std::string& mine) {
    return run("LD_PRELOAD=" + mine + " " OZBOUND_COMMAND " run -- sh -c 'echo $LD_PRELOAD'").out;
  };
  const std::string hook = OZBOUND_HOOK, other = OZBOUND_PRODUCTS;
  EXPECT_EQ(preloads(other), other + ":" + hook + "\n");
  for (const auto& folder : libraries())
    EXPECT_EQ(preloads(folder + "/libblas.so.3:" + other), other + ":" + hook + ":" + folder + "/libblas.so.3\n");
}

TEST(DropIn, SamplesErrorsThatTheLibraryKeepsBelowItsBound) {
  const TemporaryDirectory logs;
  const auto log = (logs / "log").string();
  EXPECT_EQ(run(program("bits"), shadow({{"OZBOUND_LOG", log}})).code, 0);
  int sampled = 0;
  double worst = 0;
  for (const auto& record : records_of(read_bytes(log)))
    if (record.at("record") == "call" && !record.at("native_ratio").is_null()) {
      ++sampled;
      worst = std::max(worst, record.at("native_ratio").get<double>());
    }
  EXPECT_GT(sampled, 4);
  EXPECT_GT(worst, 0);
  EXPECT_LE(worst, 1);
}

TEST(DropIn, LeavesNumPysBits) {
  const std::string numpy =
      "exec /usr/bin/python3 -c 'import numpy as n; r = n.random.RandomState(1); a = r.rand(300, 300); b = "
      "a.astype(n.float32)\n"
      "for x in (a @ a, b @ b, a.T @ a, *n.linalg.svd(a), n.linalg.solve(a, a)): print(hash(x.tobytes()))'";
  const auto alone = run(numpy, {{"PYTHONHASHSEED", "1"}});
  if (alone.code != 0) GTEST_SKIP() << "python3-numpy is not installed";
  for (const auto* mode : {"off", "shadow"}) {
    const auto hooked = run(numpy, shadow({{"PYTHONHASHSEED", "1"}, {"OZBOUND_MODE", mode}, {"OZBOUND_SUMMARY", "0"}}));
    EXPECT_EQ(hooked.out, alone.out) << mode << hooked.err;
    EXPECT_THAT(hooked.err, IsEmpty());
  }
}

TEST(DropIn, PassesNetlibsTestersOfLevel3) {
  const std::string folder = OZBOUND_LIBRARIES "/blas";
  if (!std::filesystem::exists(folder + "/xblat3d")) GTEST_SKIP() << "libblas-test is not installed";
  for (const auto* tester : {"xblat3d <" OZBOUND_LIBRARIES "/blas/dblat3.in", "xblat3s <" OZBOUND_LIBRARIES "/blas/sblat3.in",
                             "xdcblat3 <" OZBOUND_LIBRARIES "/blas/din3"})
    for (const auto& library : libraries()) {
      const auto line = "cd $(mktemp -d) && " + folder + "/" + tester + "; s=$?; cat *.out *.SUMM 2>/dev/null; exit $s";
      const auto alone = run(line, {{"LD_LIBRARY_PATH", library}});
      if (alone.code == 127) continue;  // CBLAS's testers need a variable that only netlib's library has
      const auto hooked = run(line, shadow({{"LD_LIBRARY_PATH", library}, {"OZBOUND_SUMMARY", "0"}}));
      EXPECT_EQ(hooked.code, alone.code) << tester << library << hooked.err;
      EXPECT_EQ(hooked.out, alone.out) << tester << library;
      EXPECT_THAT(hooked.out, HasSubstr("PASSED THE")) << tester << library;
    }
}

TEST(DropIn, RunsByTheCommand) {
  const auto run_by_command = [](const std::string& options, const std::string& what) {
    return run("exec " OZBOUND_COMMAND " run " + options + " -- " + what);
  };
  const auto multiplies = run_by_command("--min-work 0", OZBOUND_PROGRAM " cblas " OZBOUND_PRODUCTS);
  EXPECT_EQ(multiplies.code, 0);
  EXPECT_THAT(multiplies.err, HasSubstr("ozbound: 5 products of process"));
  EXPECT_EQ(run_by_command("", "sh -c 'exit 7'").code, 7);
  EXPECT_EQ(run_by_command("", "echo '[a,b]' '[]' -x '' --").out, "[a,b] [] -x  --\n");
  EXPECT_EQ(run_by_command("--mode off", OZBOUND_PROGRAM " cblas " OZBOUND_PRODUCTS).err, "");
  const std::pair<const char*, const char*> refused[] = {
      {"--mode on", "--mode must be off or shadow"}, {"--share x", "--share must be"}, {"--target 7", "--target: "}};
  for (const auto& [option, message] : refused) {
    const auto bad = run_by_command(option, "true");
    EXPECT_EQ(bad.code, 2);
    EXPECT_THAT(bad.err, HasSubstr(message));
  }
  EXPECT_THAT(run_by_command("", "/nowhere/program").err, HasSubstr("cannot be run"));
}

TEST(DropIn, SettingsAreReadStrictly) {
  const auto read = [](const Environment& environment) {
    return Settings::read([&](const char* variable) {
      const auto found = environment.find(variable);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_EQ(to_string(read({}).target), "dgemm");
  EXPECT_TRUE(read({}).writes_summary());
  EXPECT_FALSE(read({{"OZBOUND_LOG", "x"}}).writes_summary());
  EXPECT_TRUE(read({{"OZBOUND_LOG", "x"}, {"OZBOUND_SUMMARY", "1"}}).writes_summary());
  EXPECT_EQ(read({{"OZBOUND_MIN_WORK", "1e6"}, {"OZBOUND_SHARE", "0.5"}}).min_work, 1e6);
  EXPECT_EQ(to_string(read({{"OZBOUND_TARGET", "cr"}}).target), "cr");
  for (const auto* wrong : {"nan", "0.5x", " 1", "", "inf", "2e6", "-1"}) {
    if (*wrong == 0) continue;
    EXPECT_THROW(read({{"OZBOUND_SHARE", wrong}}), std::invalid_argument) << wrong;
  }
}

/// A log of one process with calls of one kind, followed by these lines.
std::string log_of(const std::string& more) {
  using Json = nlohmann::ordered_json;
  Json process{{"record", "process"}, {"process", 5},         {"schema", "ozbound-drop-in-1"},
               {"version", "0"},      {"program", "/x/prog"}, {"mode", "shadow"},
               {"target", "dgemm"},   {"min_work", 1},        {"share", 0.05}};
  Json examined{{"record", "count"},  {"process", 5},         {"routine", "dgemm_"}, {"object", "/l/liba.so.1"},
                {"ops", "NN"},        {"log2_m", 9},          {"log2_n", 9},         {"log2_k", 9},
                {"way", "residues"},  {"calls", 2},           {"work", 2e8},         {"native_seconds", 2.0},
                {"own_seconds", 0.5}, {"other_seconds", 1.0}, {"worst", 0.25}};
  auto others = examined;
  others["way"] = "not examined", others["calls"] = 6, others["work"] = 6e8, others["native_seconds"] = 6.0;
  others["own_seconds"] = 0.0, others["other_seconds"] = 6.0, others["worst"] = nullptr;
  const Json calls{{"record", "calls"}, {"process", 5}, {"calls", 10}, {"small", 2}, {"empty", 0}, {"bad_arguments", 0}};
  std::string text;
  for (const auto& record : {process, examined, others, calls}) text += record.dump() + '\n';
  return text + more;
}

TEST(Audit, AddsUpLogsAndPredictsForCallsThatWereNotExamined) {
  const TemporaryDirectory logs;
  write_bytes(logs / "a", log_of("{\"record\":\"end\",\"process\":5}\n"));
  write_bytes(logs / "b", log_of(""));
  const auto both = (logs / "a").string() + " " + (logs / "b").string();
  const auto audit = run(OZBOUND_COMMAND " audit --json " + both);
  ASSERT_EQ(audit.code, 0) << audit.err;
  const auto json = nlohmann::json::parse(audit.out);
  EXPECT_EQ(json.at("native_seconds"), 16);
  EXPECT_EQ(json.at("predicted_seconds"), 8);  // half of the time, like the examined calls
  EXPECT_EQ(json.at("kinds").at(0).at("calls"), 16);
  EXPECT_EQ(json.at("kinds").at(0).at("worst"), 0.25);
  const auto text = run("COLUMNS=80 " OZBOUND_COMMAND " audit " + both).out;
  EXPECT_THAT(text, HasSubstr("8.000 s for 16.000 s"));
  EXPECT_THAT(text, HasSubstr("1 did not end"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(Audit, RefusesWhatIsNoLogByFileAndLine) {
  const TemporaryDirectory logs;
  const auto said = [&](const std::string& text) {
    write_bytes(logs / "log", text);
    const auto audit = run(OZBOUND_COMMAND " audit " + (logs / "log").string());
    EXPECT_EQ(audit.code, 2);
    EXPECT_THAT(audit.out, IsEmpty());
    return audit.err;
  };
  EXPECT_THAT(said("nonsense\n{}\n"), HasSubstr("log:1: is not JSON"));
  EXPECT_THAT(said("{}\n"), HasSubstr("log:1: a member of a record"));
  EXPECT_THAT(said("{\"record\":\"end\",\"process\":5}\n"), HasSubstr("log:1: no record `process` comes before"));
  EXPECT_THAT(said(log_of("{\"record\":\"count\",\"process\":5}\n")), HasSubstr("log:5: a member"));
  EXPECT_THAT(said(log_of("{\"record\":\"other\",\"process\":5}\n")), HasSubstr("log:5: 'other' is no record"));
}

}  // namespace
}  // namespace drop_in_test
}  // namespace ozbound::drop_in
