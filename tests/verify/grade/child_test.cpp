// SPDX-License-Identifier: BSD-3-Clause
#include "library/child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace ozbound::child_test {
namespace {

using namespace std::chrono_literals;

ChildResult shell(const std::string& script, std::chrono::milliseconds limit = 20s, const Environment& added = {}) {
  return run_child({"/bin/sh", "-c", script}, added, limit);
}

TEST(Child, SaysHowItEndedAndWhatItSaid) {
  const auto child = shell("echo answer >&3; printf 'note\\0rest' >&4; echo out; echo err >&2; exit 7");
  EXPECT_EQ(child.end, ChildEnd::exited);
  EXPECT_EQ(child.code, 7);
  EXPECT_EQ(child.result, "answer\n");
  EXPECT_EQ(child.note, "note");
  EXPECT_EQ(child.printed, "out\nerr\n");
}

TEST(Child, EndedByASignal) {
  const auto child = shell("echo last words >&2; kill -SEGV $$");
  EXPECT_EQ(child.end, ChildEnd::signalled);
  EXPECT_EQ(child.code, SIGSEGV);
  EXPECT_EQ(child.printed, "last words\n");
  EXPECT_EQ(child.note, std::nullopt);
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV (Segmentation fault)");
}

TEST(Child, IsEndedWithTheTimeLimit) {
  const auto before = std::chrono::steady_clock::now();
  const auto child = shell("printf waiting >&4; sleep 1000", 200ms);
  EXPECT_EQ(child.end, ChildEnd::timed_out);
  EXPECT_EQ(child.note, "waiting");
  EXPECT_LT(std::chrono::steady_clock::now() - before, 20s);
}

TEST(Child, MayStopItselfOrCloseItsResultWithoutEnding) {
  EXPECT_EQ(shell("kill -STOP $$", 200ms).end, ChildEnd::timed_out);
  EXPECT_EQ(shell("exec 3>&-; sleep 1000", 200ms).end, ChildEnd::timed_out);
}

/// Processes that a child started end with it, and no zombie remains.
TEST(Child, LeavesNothingBehind) {
  const auto child = shell("sleep 1000 & echo $! >&3; exec 3>&-; wait", 300ms);
  const auto grandchild = static_cast<pid_t>(std::stoi(child.result));
  const auto state = [grandchild] {  // an adopted zombie is no process any more
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string number, name, letter;
    stat >> number >> name >> letter;
    return letter;
  };
  for (int wait = 0; wait < 1000 && !state().empty() && state() != "Z"; ++wait) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(state().empty() || state() == "Z") << state();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

/// The parent stops listening when its child ends. Helpers may hold the pipes and write endlessly: those in the child's group
/// are ended, the others are not waited for.
TEST(Child, IsHeardNoLongerThanItLives) {
  for (const std::string helper : {"sleep 30", "setsid sleep 30", "setsid yes"}) {
    const auto before = std::chrono::steady_clock::now();
    const auto child = shell(helper + " & echo answer >&3; echo out; sleep 0.3; exit 7");
    EXPECT_EQ(child.end, ChildEnd::exited) << helper;
    EXPECT_EQ(child.code, 7) << helper;
    EXPECT_EQ(child.result, "answer\n") << helper;
    EXPECT_THAT(child.printed, testing::HasSubstr(helper.ends_with("yes") ? "y\n" : "out\n"));
    EXPECT_LT(std::chrono::steady_clock::now() - before, 15s) << helper;
  }
}

TEST(Child, OnlyTheLastOfWhatItPrintsIsKept) {
  const auto child = shell("head -c 1000000 /dev/zero | tr '\\0' x; echo the end; echo answer >&3");
  EXPECT_EQ(child.result, "answer\n");
  EXPECT_EQ(child.printed.size(), 4096U);
  EXPECT_TRUE(child.printed.ends_with("xxxthe end\n"));
}

TEST(Child, ALongResultComesWhole) {
  const auto child = shell("head -c 3000000 /dev/zero | tr '\\0' y >&3");
  EXPECT_EQ(child.result, std::string(3000000, 'y'));
}

TEST(Child, VariablesAreAddedToTheEnvironmentOrReplaceOthers) {
  setenv("OZBOUND_TEST_OLD", "old", 1);
  setenv("OZBOUND_TEST_KEPT", "kept", 1);
  const auto child = shell("echo $OZBOUND_TEST_OLD $OZBOUND_TEST_NEW $OZBOUND_TEST_KEPT >&3", 20s,
                           {{"OZBOUND_TEST_OLD", "1"}, {"OZBOUND_TEST_NEW", "2"}});
  EXPECT_EQ(child.result, "1 2 kept\n");
}

TEST(Child, ReadsNothing) { EXPECT_EQ(shell("cat >&3; echo end >&3").result, "end\n"); }

TEST(Child, ThatCannotBeStarted) { EXPECT_THROW(run_child({"/nonexistent/program"}, {}, 1s), std::system_error); }

}  // namespace
}  // namespace ozbound::child_test
