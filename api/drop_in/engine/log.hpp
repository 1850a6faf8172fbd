// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <csignal>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

namespace ozbound::drop_in {

/// The version of what a log holds (docs/records.md).
inline constexpr const char* log_schema = "ozbound-drop-in-1";

/// While it lives, a write that the system refuses by a signal (SIGPIPE, SIGXFSZ) fails with an error in this thread.
class QuietSignals {
 public:
  QuietSignals();
  ~QuietSignals();
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;

 private:
  sigset_t refused_, before_;
  bool pending_[2];  ///< already, of the program's own doing
};

/// A file of JSON lines, each written at once and at the end of the file, so that a process that is killed leaves whole ones
/// but perhaps the last.
class Log {
 public:
  Log() = default;
  /// A file, in whose name `%p` stands for the process. It is opened by the first record.
  explicit Log(std::string name) : name_(std::move(name)) {}
  ~Log() { close(); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Whether records are asked for and can be written.
  [[nodiscard]] bool is_wanted() const { return !name_.empty() && !failed_; }
  /// That the file cannot be written is said once, on stderr.
  void write(const nlohmann::ordered_json& record);
  /// Another process goes on with a file of its own, or with the same.
  void begin_in_child() { close(); }

 private:
  void open();
  void close();
  void complain();

  [[nodiscard]] bool is_ours() const;

  std::string name_;  ///< empty: no file
  int file_ = -1;
  dev_t device_ = 0;  ///< of the file, with the next: a program may close what it did not open
  ino_t inode_ = 0;
  bool failed_ = false;
};

}  // namespace ozbound::drop_in
