// SPDX-License-Identifier: BSD-3-Clause
#include "interruption.hpp"

#include <dirent.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "cli/gemm_files.hpp"
#include "ozbound/files/atomic_file.hpp"

// Ctrl-C and other signals that end the command.

namespace ozbound::cli::test::interruption_test {
namespace {

using std::chrono::milliseconds;

class InterruptionDeathTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

/// Does the same as main: begins an output, works, and ends as the shell must see it.
template <class Work>
[[noreturn]] void run(const TemporaryDirectory& directory, const Work& work) {
  files::remove_temporaries_on_signals();
  try {
    files::AtomicFile file(directory / "C.npy");
    interruptibly("not written", work);
    file.commit();
  } catch (const Interrupted& interrupted) {
    std::fprintf(stderr, "%s\n", interrupted.what());
    interrupted.end_process();
  }
  std::_Exit(0);
}

TEST_F(InterruptionDeathTest, EndsWorkThatLooks) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto work = [signal] {
      std::raise(signal);
      poll_cancelled();
      std::_Exit(0);
    };
    EXPECT_EXIT(run(directory_, work), testing::KilledBySignal(signal), "^not written\n$");
  }
  EXPECT_EQ(directory_.names(), Names());
}

TEST_F(InterruptionDeathTest, IsHeededWhereTheWorkWasDone) {
  EXPECT_EXIT(run(directory_, [] { std::raise(SIGINT); }), testing::KilledBySignal(SIGINT), "^not written\n$");
  EXPECT_EQ(directory_.names(), Names());
}

TEST_F(InterruptionDeathTest, ASecondOneEndsAtOnce) {
  const auto work = [] {
    std::raise(SIGINT);
    std::raise(SIGTERM);
    std::_Exit(0);
  };
  EXPECT_EXIT(run(directory_, work), testing::KilledBySignal(SIGTERM), "^$");
  EXPECT_EQ(directory_.names(), Names());
}

TEST_F(InterruptionDeathTest, IgnoredSignalsStayIgnored) {
  std::signal(SIGINT, SIG_IGN);
  EXPECT_EXIT(run(directory_, [] { std::raise(SIGINT), poll_cancelled(); }), testing::ExitedWithCode(0), "^$");
  std::signal(SIGINT, SIG_DFL);
  EXPECT_EQ(directory_.names(), Names{"C.npy"});
}

TEST_F(InterruptionDeathTest, CancelledForAnotherReasonIsNone) {
  EXPECT_THROW(interruptibly("", [] { throw Cancelled(); }), Cancelled);
}

Index threads_of(pid_t process) {
  Index threads = -2;  // without . and ..
  if (DIR* const tasks = opendir(("/proc/" + std::to_string(process) + "/task").c_str())) {
    while (readdir(tasks) != nullptr) ++threads;
    closedir(tasks);
  }
  return threads;
}

/// Runs the command, sends it a signal once it computes (it then has threads), and waits for its end.
struct Signalled {
  int status = 0;
  std::string out, err;

  Signalled(const std::vector<std::string>& arguments, int signal) {
    const TemporaryDirectory directory;
    const std::string out_path = directory / "out", err_path = directory / "err";
    const pid_t process = start_command(arguments, out_path, err_path);
    bool runs = true;
    while ((runs = waitpid(process, &status, WNOHANG) == 0) && threads_of(process) < 2)
      std::this_thread::sleep_for(milliseconds(5));
    if (runs) {
      std::this_thread::sleep_for(milliseconds(200));  // in case a library has threads from the beginning
      kill(process, signal);
      waitpid(process, &status, 0);
    }
    out = read_bytes(out_path), err = read_bytes(err_path);
  }
};

Matrix<double> numbers(Index rows, Index cols) {
  Matrix<double> matrix(rows, cols);
  for (Index t = 0; t < rows * cols; ++t) matrix.data()[t] = 1 / static_cast<double>(t % 1009 + 3);
  return matrix;
}

/// An interrupted product or verdict of many seconds leaves no file behind.
TEST(Interruption, LeavesNothingOfAProduct) {
  const GemmFiles files(numbers(1200, 1500), numbers(1500, 1200));
  write_bytes(files.c_path(), "old");
  const auto before = files.names();
  for (const int signal : {SIGINT, SIGTERM}) {
    const Signalled run(files.gemm({"--plan", "balanced:20x20:full:exact", "--threads", "2", "--report", files.path("C.json")}),
                        signal);
    EXPECT_TRUE(WIFSIGNALED(run.status) && WTERMSIG(run.status) == signal) << run.status;
    EXPECT_EQ(run.err, "ozbound: interrupted; " + files.c_path() + " and " + files.path("C.json") + " are not written\n");
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(files.names(), before);
    EXPECT_EQ(files.c_bytes(), "old");
  }
}

TEST(Interruption, EndsAJudgement) {
  const GemmFiles files(numbers(300, 4000), numbers(4000, 300));
  files::write_matrix(files.c_path(), Matrix<double>(300, 300).view());
  setenv("OMP_NUM_THREADS", "2", 1);
  const Signalled run({"verify", files.a_path(), files.b_path(), files.c_path(), "--mpfr"}, SIGINT);
  unsetenv("OMP_NUM_THREADS");
  EXPECT_TRUE(WIFSIGNALED(run.status) && WTERMSIG(run.status) == SIGINT) << run.status;
  EXPECT_EQ(run.err, "ozbound: interrupted\n");
  EXPECT_EQ(run.out, "");
}

}  // namespace
}  // namespace ozbound::cli::test::interruption_test
