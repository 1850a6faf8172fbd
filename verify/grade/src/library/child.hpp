// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ozbound {

/// Descriptors of a supervised child, besides standard input (empty), output and error (both kept as `printed`).
constexpr int result_descriptor = 3;  ///< a pipe for the child's result
constexpr int note_descriptor = 4;    ///< a file for the child's current action, in case the child dies

enum class ChildEnd { exited, signalled, timed_out };

struct ChildResult {
  ChildEnd end = ChildEnd::exited;
  int code = 0;                     ///< exit status or signal
  std::string result;               ///< complete
  std::optional<std::string> note;  ///< up to its first '\0'; empty if it wrote none
  std::string printed;              ///< the last 4 KiB
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs a program in a process group of its own, with these variables added to the environment, and waits for it. When the
/// program ends, or `limit` is over, kills the program and the rest of the group. Processes that left the group live on, and
/// their output is ignored.
/// @throws std::system_error if the program cannot be started.
ChildResult run_child(const std::vector<std::string>& command, const Environment& added, std::chrono::milliseconds limit);

/// `SIGSEGV (Segmentation fault)`.
std::string signal_name(int signal);

}  // namespace ozbound
