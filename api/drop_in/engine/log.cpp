// SPDX-License-Identifier: BSD-3-Clause
#include "log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace ozbound::drop_in {

Log::Log(std::string name) : name_(std::move(name)) {
  for (auto at = name_.find("%p"); at != std::string::npos; at = name_.find("%p", at)) {
    const auto process = std::to_string(getpid());
    name_.replace(at, 2, process);
    at += process.size();
  }
  file_ = open(name_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ == -1) complain();
}

Log::Log(Log&& other) noexcept : name_(std::move(other.name_)), file_(std::exchange(other.file_, -1)) {}

Log& Log::operator=(Log&& other) noexcept {
  close();
  name_ = std::move(other.name_);
  file_ = std::exchange(other.file_, -1);
  return *this;
}

void Log::write(const nlohmann::ordered_json& record) {
  if (file_ == -1) return;
  const auto line = record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  errno = ENOSPC;  // of a write that is cut short
  if (::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  complain();
  close();
}

void Log::close() {
  if (file_ != -1) ::close(file_);
  file_ = -1;
}

void Log::complain() { std::fprintf(stderr, "ozbound: %s cannot be written: %s\n", name_.c_str(), std::strerror(errno)); }

}  // namespace ozbound::drop_in
