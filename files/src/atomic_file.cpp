// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include "ozbound/files/standard_streams.hpp"

namespace ozbound::files {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

// The names that a signal handler removes. A handler can call nothing that allocates or locks.
std::array<std::atomic<const char*>, 16> temporaries;
static_assert(std::atomic<const char*>::is_always_lock_free);

void exchange_temporary(const char* from, const char* to) {
  for (auto& slot : temporaries)
    if (const char* expected = from; slot.compare_exchange_strong(expected, to)) return;
}

void remove_temporaries(int signal) {
  for (auto& slot : temporaries)
    if (const char* name = slot.exchange(nullptr)) unlink(name);
  raise(signal);  // SA_RESETHAND restored the default action, which now ends the process
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// The file to which links lead, existing or not. @throws std::invalid_argument for circular links
std::filesystem::path resolve_links(const std::filesystem::path& path) {
  constexpr int most_links = 40;  // as in Linux
  auto end = path;
  for (int links = 0; std::filesystem::is_symlink(end); ++links) {
    if (links == most_links) throw std::invalid_argument(path.string() + ": is a link that leads back to itself");
    end = directory_of(end) / std::filesystem::read_symlink(end);  // an absolute target replaces the directory
  }
  return end;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : path_(path), final_path_(is_stream(path) ? path : resolve_links(path)) {
  const auto status = std::filesystem::status(final_path_);
  if (std::filesystem::is_directory(status)) throw std::invalid_argument(path_.string() + ": is a directory");
  if (is_stream(path_)) {
    open_stream();
    return;
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw std::invalid_argument(path_.string() + ": is neither a regular file nor a pipe or a device such as /dev/null");
  if (std::filesystem::exists(status) && faccessat(AT_FDCWD, final_path_.c_str(), W_OK, AT_EACCESS) != 0)
    fail("cannot be written");
  buffer_.reserve(buffer_bytes);
  create();
}

void AtomicFile::open_stream() {
  if (is_standard_stream(path_)) {
    if (!claim_standard_output())
      throw std::invalid_argument("-: standard output can be written by one file or by --json, not by both");
    stream_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  } else {
    stream_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  }
  descriptor_ = memfd_create("ozbound", MFD_CLOEXEC);
  if (stream_ >= 0 && descriptor_ >= 0) return;
  const int error = errno;
  close_all();
  errno = error;
  fail("cannot be written");
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

void AtomicFile::close_all() {
  for (int* descriptor : {&descriptor_, &stream_}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
}

AtomicFile::~AtomicFile() {
  close_all();
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
  write_all(descriptor_, buffer_);
  buffer_.clear();
}

void AtomicFile::write_all(int descriptor, std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) fail("cannot be written");
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void AtomicFile::flush() {
  write_out();
  if (stream_ < 0 && fsync(descriptor_) != 0) fail("cannot be written");
}

void AtomicFile::keep_permissions() const {
  struct stat old{};
  if (stat(final_path_.c_str(), &old) == 0 && fchmod(descriptor_, old.st_mode & 07777) != 0)
    fail("cannot keep its permissions");
}

void AtomicFile::commit() {
  flush();
  if (stream_ >= 0)
    copy_to_stream();
  else
    replace();
}

void AtomicFile::copy_to_stream() {
  if (lseek(descriptor_, 0, SEEK_SET) != 0) fail("cannot be written");
  for (std::string part(buffer_bytes, '\0');;) {
    const auto count = read(descriptor_, part.data(), part.size());
    if (count < 0) fail("cannot be written");
    if (count == 0) return;
    write_all(stream_, std::string_view(part).substr(0, static_cast<std::size_t>(count)));
  }
}

void AtomicFile::replace() {
  keep_permissions();
  if (std::rename(temporary_.c_str(), final_path_.c_str()) != 0) fail("cannot be replaced");
  exchange_temporary(temporary_.c_str(), nullptr);
  temporary_.clear();
  // The file is complete even if the directory entry has not reached the disk, so a failure of this step is ignored.
  if (const int directory = open(directory_of(final_path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); directory >= 0) {
    fsync(directory);
    close(directory);
  }
}

void AtomicFile::fail(const char* failed) const {
  const int error = errno;
  throw std::system_error(error, std::generic_category(), path_.string() + ": " + failed);
}

bool is_stream(const std::filesystem::path& path) {
  std::error_code error;  // circular links are not a stream
  const auto status = std::filesystem::status(path, error);
  return is_standard_stream(path) || std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status);
}

bool same_file(const std::filesystem::path& x, const std::filesystem::path& y) {
  if (x.empty() || y.empty()) return false;
  if (is_stream(x) || is_stream(y)) return is_standard_stream(x) && is_standard_stream(y);
  const auto resolved = [](const auto& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(resolve_links(path)));
  };
  return resolved(x) == resolved(y);
}

void remove_temporaries_on_signals() {
  struct sigaction action{};
  action.sa_handler = remove_temporaries;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction old{};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // keeps signals that nohup ignores
  }
}

}  // namespace ozbound::files
