// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ozbound {

/// Where a supervised child finds its ends, besides standard input (empty), output and error (both kept as `printed`).
constexpr int result_descriptor = 3;  ///< a pipe: what the child has to say
constexpr int note_descriptor = 4;    ///< a file of its own: what it was doing, should it not live to say so

enum class ChildEnd { exited, signalled, timed_out };

struct ChildResult {
  ChildEnd end = ChildEnd::exited;
  int code = 0;                     ///< exit status or signal
  std::string result;               ///< all of it
  std::optional<std::string> note;  ///< up to its first '\0'; none if it wrote none
  std::string printed;              ///< the last 4 KiB
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs a program in a process group of its own, with these variables added to the environment, and waits for it. When it
/// ends, or `limit` is over, it is killed, and whatever is left of the group. What has left the group lives on, unheard.
/// @throws std::system_error where it cannot be started.
ChildResult run_child(const std::vector<std::string>& command, const Environment& added, std::chrono::milliseconds limit);

/// `SIGSEGV (Segmentation fault)`.
std::string signal_name(int signal);

}  // namespace ozbound
