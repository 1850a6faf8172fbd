// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

namespace ozbound::cli {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

// The names a signal handler would remove; it can call nothing that allocates or locks.
std::array<std::atomic<const char*>, 16> temporaries;
static_assert(std::atomic<const char*>::is_always_lock_free);

void exchange_temporary(const char* from, const char* to) {
  for (auto& slot : temporaries)
    if (const char* expected = from; slot.compare_exchange_strong(expected, to)) return;
}

void remove_temporaries(int signal) {
  for (auto& slot : temporaries)
    if (const char* name = slot.exchange(nullptr)) unlink(name);
  raise(signal);  // SA_RESETHAND: now it ends the process, as it would have
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::filesystem::path resolve_links(const std::filesystem::path& path) {
  return std::filesystem::is_symlink(path) ? std::filesystem::weakly_canonical(path) : path;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path), final_path_(resolve_links(path)) {
  const auto status = std::filesystem::status(final_path_);
  if (std::filesystem::is_directory(status)) throw std::invalid_argument(path_.string() + ": is a directory");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw std::invalid_argument(path_.string() + ": is not a regular file");
  if (std::filesystem::exists(status) && faccessat(AT_FDCWD, final_path_.c_str(), W_OK, AT_EACCESS) != 0)
    fail("cannot be written");
  buffer_.reserve(buffer_bytes);
  create();
}

void AtomicFile::create() {
  static std::atomic<unsigned> serial = 0;
  do {
    temporary_ = (directory_of(final_path_) / fmt::format(".ozbound.{}.{}.tmp", getpid(), serial++)).string();
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail("cannot be created");
  exchange_temporary(nullptr, temporary_.c_str());
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  exchange_temporary(temporary_.c_str(), nullptr);
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, buffer_bytes - buffer_.size());
    buffer_ += part;
    bytes.remove_prefix(part.size());
    if (buffer_.size() == buffer_bytes) write_out();
  }
}

void AtomicFile::write_out() {
  for (std::string_view rest = buffer_; !rest.empty();) {
    const auto count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno != EINTR) fail("cannot be written");
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  }
  buffer_.clear();
}

void AtomicFile::flush() {
  write_out();
  if (fsync(descriptor_) != 0) fail("cannot be written");
}

void AtomicFile::keep_permissions() const {
  struct stat old {};
  if (stat(final_path_.c_str(), &old) == 0 && fchmod(descriptor_, old.st_mode & 07777) != 0)
    fail("cannot keep its permissions");
}

void AtomicFile::commit() {
  flush();
  keep_permissions();
  if (std::rename(temporary_.c_str(), final_path_.c_str()) != 0) fail("cannot be replaced");
  exchange_temporary(temporary_.c_str(), nullptr);
  temporary_.clear();
  // The file is whole whether or not the directory's entry has reached the disk, so failure here is none.
  if (const int directory = open(directory_of(final_path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); directory >= 0) {
    fsync(directory);
    close(directory);
  }
}

void AtomicFile::fail(const char* failed) const {
  const int error = errno;
  throw std::system_error(error, std::generic_category(), path_.string() + ": " + failed);
}

bool same_file(const std::filesystem::path& x, const std::filesystem::path& y) {
  if (x.empty() || y.empty()) return false;
  const auto resolved = [](const auto& path) { return std::filesystem::weakly_canonical(std::filesystem::absolute(path)); };
  return !x.empty() && !y.empty() && resolved(x) == resolved(y);
}

void remove_temporaries_on_signals() {
  struct sigaction action {};
  action.sa_handler = remove_temporaries;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays nohup
  }
}

}  // namespace ozbound::cli
