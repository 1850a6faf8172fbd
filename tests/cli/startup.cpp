// SPDX-License-Identifier: BSD-3-Clause
// ozbound-startup COMMAND [ARGUMENT ...]: measures the time of a command that is started repeatedly, and its largest memory.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

struct Run {
  double milliseconds;
  double mebibytes;  ///< largest resident memory; at least that of this program when it starts the command, about 4
  int status;
};

Run run(char** command) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    execvp(command[0], command);
    std::perror(command[0]);
    _exit(127);
  }
  int status = -1;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return {0, 0, -1};
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  return {taken.count(), static_cast<double>(usage.ru_maxrss) / 1024, status};
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fputs("usage: ozbound-startup COMMAND [ARGUMENT ...]\n", stderr);
    return 2;
  }
  constexpr int times = 41;
  std::vector<double> milliseconds;
  double mebibytes = 0;
  for (int t = 0; t < times; ++t) {
    const auto one = run(arguments + 1);
    if (one.status != 0) {
      std::fputs("the command failed\n", stderr);
      return 1;
    }
    milliseconds.push_back(one.milliseconds);
    mebibytes = std::max(mebibytes, one.mebibytes);
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("%.1f ms (median of %d; %.1f to %.1f), %.1f MiB at most\n", milliseconds[times / 2], times, milliseconds.front(),
              milliseconds.back(), mebibytes);
  return 0;
}
