// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "files/support.hpp"

namespace ozbound::files::test::progress_test {
namespace {

using namespace std::chrono_literals;

/// Records everything that was drawn.
class Screen {
 public:
  Progress::Sink sink() {
    return [this](std::string_view text) {
      const std::lock_guard lock(mutex_);
      drawn_.emplace_back(text);
    };
  }

  std::vector<std::string> drawn() {
    const std::lock_guard lock(mutex_);
    return drawn_;
  }

  /// Waits until `count` drawings were made; only the time limit of the test ends the wait otherwise.
  void wait_for(std::size_t count) {
    while (drawn().size() < count) std::this_thread::sleep_for(1ms);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> drawn_;
};

TEST(ProgressMeter, ShowsNothingOfAShortActivity) {
  Screen screen;
  {
    const Progress progress("multiplying", screen.sink(), 1h, 1h);
  }
  EXPECT_TRUE(screen.drawn().empty());
}

TEST(ProgressMeter, DrawsAndLeavesNoTrace) {
  Screen screen;
  {
    Progress progress("multiplying", screen.sink(), 1ms, 1ms);
    screen.wait_for(2);
    progress(0.25);
    const auto before = screen.drawn().size();
    screen.wait_for(before + 2);
  }
  EXPECT_THAT(screen.drawn().front(), testing::StartsWith("\r\x1b[Kmultiplying: 0 s"));
  EXPECT_THAT(screen.drawn(), testing::Contains(testing::StartsWith("\r\x1b[Kmultiplying: 25 %")));
  EXPECT_EQ(screen.drawn().back(), "\r\x1b[K");
}

TEST(ProgressMeter, Line) {
  EXPECT_EQ(progress_line("x", -1, 3.2), "x: 3 s");
  EXPECT_EQ(progress_line("x", 0, 3), "x: 0 %, 3 s");
  EXPECT_EQ(progress_line("x", 0.25, 30), "x: 25 %, 30 s, about 1 min 30 s left");
  EXPECT_EQ(progress_line("x", 0.999, 4000), "x: 99 %, 1 h 06 min, about 4 s left");
  EXPECT_EQ(progress_line("x", 1, 60), "x: 100 %, 1 min 00 s");
}

/// While an object lives, standard error goes to `descriptor`, as a terminal that can clear a line.
class Redirected {
 public:
  explicit Redirected(int descriptor) : saved_(dup(STDERR_FILENO)) {
    dup2(descriptor, STDERR_FILENO);
    setenv("TERM", "xterm", 1);
  }
  ~Redirected() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int saved_;
};

TEST(ProgressMeter, AppearsOnATerminalAfterASecond) {
  int terminal = 0, program = 0;
  if (openpty(&terminal, &program, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "there are no pseudo-terminals here";
  const auto start = std::chrono::steady_clock::now();
  std::string text(100, '\0');
  {
    const Redirected redirected(program);
    const Progress progress("multiplying");
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(terminal, text.data(), text.size()))));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, 1s);
  EXPECT_THAT(text, testing::HasSubstr("multiplying: 1 s"));
  close(terminal);
  close(program);
}

TEST(ProgressMeter, IsSilentInAFile) {
  const TemporaryDirectory directory;
  std::FILE* const file = std::fopen((directory / "stderr").c_str(), "w");
  {
    const Redirected redirected(fileno(file));
    const Progress progress("multiplying");
    std::this_thread::sleep_for(1300ms);
  }
  std::fclose(file);
  EXPECT_EQ(read_bytes(directory / "stderr"), "");
}

}  // namespace
}  // namespace ozbound::files::test::progress_test
