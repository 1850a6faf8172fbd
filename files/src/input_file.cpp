// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace ozbound::cli {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::uint64_t regular_file_size(int descriptor, const std::string& name) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) throw InputError(name, "cannot be read: " + reason(errno));
  if (S_ISDIR(facts.st_mode)) throw InputError(name, "is a directory");
  if (!S_ISREG(facts.st_mode)) throw InputError(name, "is not a regular file");
  return static_cast<std::uint64_t>(facts.st_size);
}

}  // namespace

InputError::InputError(std::string_view file, std::string_view wrong)
    : std::runtime_error(fmt::format("{}: {}", file, wrong)) {}

InputFile::InputFile(const std::filesystem::path& path) : name_(path.string()) {
  // Without O_NONBLOCK, opening a named pipe waits for its writer.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw InputError(name_, "cannot be opened: " + reason(errno));
  try {
    size_ = regular_file_size(descriptor_, name_);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
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

void LineReader::fail(std::string_view wrong) const {
  throw InputError(fmt::format("{}:{}", file_.name(), std::max<std::uint64_t>(number_, 1)), wrong);
}

}  // namespace ozbound::cli
