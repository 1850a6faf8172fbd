// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ozbound::drop_in {

/// The version of what a log holds (docs/records.md).
inline constexpr const char* log_schema = "ozbound-drop-in-1";

/// A file of JSON lines, each written at once and at the end of the file, so that a process that is killed leaves whole ones
/// but perhaps the last.
class Log {
 public:
  Log() = default;
  /// Opens the file, `%p` in whose name stands for the process. That it cannot be written is said once, on stderr, and then it
  /// is closed.
  explicit Log(std::string name);
  ~Log() { close(); }
  Log(Log&& other) noexcept;
  Log& operator=(Log&& other) noexcept;

  [[nodiscard]] bool is_open() const { return file_ != -1; }
  void write(const nlohmann::ordered_json& record);

 private:
  void close();
  void complain();

  std::string name_;
  int file_ = -1;
};

}  // namespace ozbound::drop_in
