// SPDX-License-Identifier: BSD-3-Clause
#include "log.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

namespace ozbound::drop_in {
namespace {

constexpr int signals[] = {SIGPIPE, SIGXFSZ};

}  // namespace

QuietSignals::QuietSignals() {
  sigset_t pending;
  sigpending(&pending);
  sigemptyset(&refused_);
  for (int s = 0; s < 2; ++s) {
    pending_[s] = sigismember(&pending, signals[s]) == 1;
    sigaddset(&refused_, signals[s]);
  }
  pthread_sigmask(SIG_BLOCK, &refused_, &before_);
}

QuietSignals::~QuietSignals() {
  const int error = errno;
  for (int s = 0; s < 2; ++s) {
    if (pending_[s]) continue;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signals[s]);
    const timespec now{};
    while (sigtimedwait(&one, nullptr, &now) == -1 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

void Log::open() {
  auto name = name_;
  const auto process = std::to_string(getpid());
  for (auto at = name.find("%p"); at != std::string::npos; at = name.find("%p", at + process.size()))
    name.replace(at, 2, process);
  file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct stat status;
  if (file_ == -1 || fstat(file_, &status) != 0) return complain();
  device_ = status.st_dev, inode_ = status.st_ino;
}

bool Log::is_ours() const {
  struct stat status;
  return fstat(file_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

void Log::write(const nlohmann::ordered_json& record) {
  if (!is_wanted()) return;
  if (file_ != -1 && !is_ours()) file_ = -1;  // the program closed it, and may have opened another file with this number
  if (file_ == -1) open();
  if (file_ == -1) return;
  const QuietSignals quiet;
  const auto line = record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  errno = ENOSPC;  // for a write that is cut short
  if (::write(file_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return;
  complain();
  close();
}

void Log::close() {
  if (file_ != -1 && is_ours()) ::close(file_);
  file_ = -1;
}

void Log::complain() {
  failed_ = true;
  std::fprintf(stderr, "ozbound: %s cannot be written: %s\n", name_.c_str(), std::strerror(errno));
}

}  // namespace ozbound::drop_in
