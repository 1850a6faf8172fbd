// SPDX-License-Identifier: BSD-3-Clause
#include "log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace ozbound::drop_in {

void Log::open() {
  auto name = name_;
  const auto process = std::to_string(getpid());
  for (auto at = name.find("%p"); at != std::string::npos; at = name.find("%p", at + process.size()))
    name.replace(at, 2, process);
  file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ == -1) complain();
}

void Log::write(const nlohmann::ordered_json& record) {
  if (!is_wanted()) return;
  if (file_ == -1) open();
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

void Log::complain() {
  failed_ = true;
  std::fprintf(stderr, "ozbound: %s cannot be written: %s\n", name_.c_str(), std::strerror(errno));
}

}  // namespace ozbound::drop_in
