// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <csignal>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

namespace ozbound::drop_in {

/// The version of the log format (docs/records.md).
inline constexpr const char* log_schema = "ozbound-drop-in-1";

/// While it lives, a write that the system refuses with a signal (SIGPIPE, SIGXFSZ) fails with an error in this thread.
class QuietSignals {
 public:
  QuietSignals();
  ~QuietSignals();
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;

 private:
  sigset_t refused_, before_;
  bool pending_[2];  ///< signals that were already pending because of the program
};

/// A file of JSON lines. Each line is written at once, at the end of the file. If the process is killed, at most the last line
/// is incomplete.
class Log {
 public:
  Log() = default;
  /// Takes a file name, in which `%p` stands for the process number. The first record opens the file.
  explicit Log(std::string name) : name_(std::move(name)) {}
  ~Log() { close(); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// True if records are wanted and can be written.
  [[nodiscard]] bool is_wanted() const { return !name_.empty() && !failed_; }
  /// Writes a record. The first failure prints one message on stderr.
  void write(const nlohmann::ordered_json& record);
  /// Closes the file in a child process, which continues with its own file or reopens the same one.
  void begin_in_child() { close(); }

 private:
  void open();
  void close();
  void complain();

  [[nodiscard]] bool is_ours() const;

  std::string name_;  ///< empty: no file
  int file_ = -1;
  dev_t device_ = 0;  ///< with inode_ identifies the file: a program may close files that it did not open
  ino_t inode_ = 0;
  bool failed_ = false;
};

}  // namespace ozbound::drop_in
