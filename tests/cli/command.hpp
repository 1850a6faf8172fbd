// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/support.hpp"
#include "ozbound/bounds/calibration.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/native.hpp"

extern char** environ;

namespace ozbound::cli::test {

using namespace files::test;  // what tests of files have in common

struct Finished {
  int code = -1;  ///< -1 if a signal ended it
  std::string out, err;
};

/// Makes the commands decide on every machine as if they counted products, whatever calibration the user has.
class CountedProducts {
 public:
  CountedProducts() {
    auto here = this_machine(CpuEngine(), ::ozbound::native_gemm());
    here.tile = {1, 1};
    here.rates = {{1, {0, 0, 0, 1e-12, 0, 0, 0}, {0, 0, 0, 1000e-12}, {{0, 0, 0, 0, 28e-12}}}};
    std::filesystem::create_directory(cache_ / "ozbound");
    write_bytes(cache_ / "ozbound/calibration.json", to_json(std::vector{here}).dump());
    use();
  }
  void use() const { setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1); }

 private:
  TemporaryDirectory cache_;
};

inline const CountedProducts counted_products;

/// Starts the built command with its output going to files.
inline pid_t start_command(std::vector<std::string> arguments, const std::string& out, const std::string& err) {
  arguments.insert(arguments.begin(), OZBOUND_COMMAND);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t process = 0;
  const int failed = posix_spawn(&process, OZBOUND_COMMAND, &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error("the command cannot be run: " OZBOUND_COMMAND);
  return process;
}

/// Runs the built command and waits for it.
inline Finished ozbound(const std::vector<std::string>& arguments) {
  const TemporaryDirectory directory;
  const std::string out = directory / "out", err = directory / "err";
  int status = 0;
  waitpid(start_command(arguments, out, err), &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_bytes(out), read_bytes(err)};
}

/// Preloads a library into every command that runs while an object lives.
class Preloaded {
 public:
  explicit Preloaded(const char* library) {
    setenv("LD_PRELOAD", library, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  }
  ~Preloaded() {
    unsetenv("LD_PRELOAD");
    unsetenv("ASAN_OPTIONS");
  }
  Preloaded(const Preloaded&) = delete;
  Preloaded& operator=(const Preloaded&) = delete;
};

/// Checks the refusal of bad input: exit code 2, no standard output, and exactly this line on standard error, which names the
/// help if the line begins with an option.
inline void expect_refusal(const std::vector<std::string>& arguments, const std::string& wrong) {
  const bool of_option = wrong.starts_with("--") && !wrong.ends_with(" --help");
  const auto finished = ozbound(arguments);
  EXPECT_EQ(finished.code, 2) << wrong;
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "ozbound: " + wrong + (of_option ? "; see ozbound " + arguments.front() + " --help" : "") + "\n");
}

/// Checks the refusal of arguments that the subcommand does not take: the line names the help whatever it begins with.
inline void expect_usage_error(const std::vector<std::string>& arguments, const std::string& wrong) {
  expect_refusal(arguments, wrong + "; see ozbound " + arguments.front() + " --help");
}

}  // namespace ozbound::cli::test
