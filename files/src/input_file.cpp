// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <vector>

#include "ozbound/files/standard_streams.hpp"
#include "ozbound/files/text.hpp"

namespace ozbound::files {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

/// Opens `path`. @throws InputError if it is not an input.
int open_input(const std::filesystem::path& path, const std::string& name) {
  if (!is_standard_stream(path)) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw InputError(name, "cannot be opened: " + reason(errno));
    return descriptor;
  }
  if (!claim_standard_input()) throw InputError(name, "can be read for one file only");
  return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
}

enum class Kind { file, pipe };

Kind kind_of(int descriptor, const std::string& name, std::uint64_t& size) {
  struct stat facts{};
  if (fstat(descriptor, &facts) != 0) throw InputError(name, "cannot be read: " + reason(errno));
  size = static_cast<std::uint64_t>(facts.st_size);
  if (S_ISREG(facts.st_mode)) return Kind::file;
  if (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode)) return Kind::pipe;
  if (S_ISDIR(facts.st_mode)) throw InputError(name, "is a directory");
  throw InputError(name, isatty(descriptor) != 0 ? "is a terminal" : "is neither a regular file nor a pipe");
}

}  // namespace

InputError::InputError(std::string_view file, std::string_view wrong)
    : std::runtime_error(fmt::format("{}: {}", file, wrong)) {}

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

InputFile::InputFile(const std::filesystem::path& path) : name_(is_standard_stream(path) ? "standard input" : path.string()) {
  descriptor_ = open_input(path, name_);
  try {
    if (kind_of(descriptor_, name_, size_) == Kind::file) return;
    pipe_ = descriptor_, size_ = 0;
    descriptor_ = memfd_create("ozbound", MFD_CLOEXEC);
    if (descriptor_ < 0) throw InputError(name_, "cannot be read: " + reason(errno));
  } catch (...) {
    close_all();
    throw;
  }
}

InputFile::~InputFile() { close_all(); }

void InputFile::close_all() const {
  for (const int descriptor : {descriptor_, pipe_})
    if (descriptor >= 0) close(descriptor);
}

std::uint64_t InputFile::size() const {
  copy_pipe(std::numeric_limits<std::uint64_t>::max());
  return size_;
}

/// Copies a pipe until `until` bytes have arrived, or the pipe ends.
void InputFile::copy_pipe(std::uint64_t until) const {
  std::vector<std::byte> part(pipe_ < 0 || size_ >= until ? 0 : std::size_t{1} << 16);
  while (pipe_ >= 0 && size_ < until) {
    const auto count = ::read(pipe_, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(name_, "cannot be read: " + reason(errno));
    if (count == 0) {
      close(pipe_);
      pipe_ = -1;
    }
    if (size_ + static_cast<std::uint64_t>(count) > physical_memory() / 2)
      throw InputError(name_, "the pipe brings more than half the memory of " + format_bytes(physical_memory()));
    for (std::span rest(part.data(), static_cast<std::size_t>(count)); !rest.empty();) {
      const auto written = pwrite(descriptor_, rest.data(), rest.size(), static_cast<off_t>(size_));
      if (written < 0 && errno != EINTR) throw InputError(name_, "cannot be kept in memory: " + reason(errno));
      if (written < 0) continue;
      size_ += static_cast<std::uint64_t>(written);
      rest = rest.subspan(static_cast<std::size_t>(written));
    }
  }
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  copy_pipe(offset + bytes.size());
  while (!bytes.empty()) {
    const auto count = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(name_, "cannot be read: " + reason(errno));
    if (count == 0) throw InputError(name_, fmt::format("byte {}: the file ends here while it is being read", offset));
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::string InputFile::head(std::size_t count) const {
  copy_pipe(count);
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(count, size_)), '\0');
  read(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

bool LineReader::next() {
  for (;;) {
    const void* newline = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (newline != nullptr)
      return take(static_cast<std::size_t>(static_cast<const char*>(newline) - (buffer_.data() + begin_)), 1);
    if (offset_ == file_.size()) return begin_ < end_ && take(end_ - begin_, 0);
    refill();
  }
}

bool LineReader::take(std::size_t length, std::size_t terminator) {
  line_ = std::string_view(buffer_).substr(begin_, length);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  begin_ += length + terminator;
  ++number_;
  return true;
}

void LineReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    ++number_;
    fail(fmt::format("the line is longer than {} bytes", longest_line));
  }
  const auto count = std::min<std::uint64_t>(buffer_.size() - end_, file_.size() - offset_);
  file_.read(offset_, std::as_writable_bytes(std::span(buffer_)).subspan(end_, static_cast<std::size_t>(count)));
  offset_ += count;
  end_ += static_cast<std::size_t>(count);
}

void LineReader::fail(std::string_view wrong) const { fail_at(std::max<std::uint64_t>(number_, 1), wrong); }

void LineReader::fail_at(std::uint64_t line, std::string_view wrong) const {
  throw InputError(fmt::format("{}:{}", file_.name(), line), wrong);
}

}  // namespace ozbound::files
