// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ozbound::files {

/// A file that cannot be used. what() is one line: `FILE:LINE: what is wrong` for text, otherwise `FILE: what is wrong`.
class InputError : public std::runtime_error {
 public:
  InputError(std::string_view file, std::string_view wrong);
};

/// The memory of this machine in bytes.
std::uint64_t physical_memory();

/// A regular file, read at any offset, or a pipe, which is copied to memory as far as it is read.
class InputFile {
 public:
  /// @param path `-` is standard input, once per process. For a named pipe, this waits for a writer.
  /// @throws InputError if `path` is missing, unreadable, or neither a regular file nor a pipe.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Size in bytes when the file was opened; for a pipe, of everything up to its end. @throws InputError if a pipe brings more
  /// than half the memory.
  [[nodiscard]] std::uint64_t size() const;

  /// Fills `bytes` from byte `offset` of the file.
  /// @throws InputError if the file is too short, or cannot be read.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

  /// The first `count` bytes, or the whole file if it is shorter.
  [[nodiscard]] std::string head(std::size_t count) const;

 private:
  void copy_pipe(std::uint64_t until) const;
  void close_all() const;

  std::string name_;
  int descriptor_ = -1;             // of the file, or of the memory copy of a pipe
  mutable int pipe_ = -1;           // -1: not a pipe, or completely copied
  mutable std::uint64_t size_ = 0;  // for a pipe, bytes so far
};

/// The lines of a text file, one at a time, in bounded memory.
class LineReader {
 public:
  static constexpr std::size_t longest_line = 65536;  ///< bytes; longer ones are refused

  explicit LineReader(const InputFile& file) : file_(file), buffer_(longest_line + 2, '\0') {}

  /// Moves to the next line; false at the end of the file. Lines end with \n or \r\n; the last line needs neither.
  /// @throws InputError for a line longer than `longest_line`.
  bool next();

  [[nodiscard]] std::string_view line() const { return line_; }   ///< without its end; valid until next()
  [[nodiscard]] std::uint64_t number() const { return number_; }  ///< number of line(), from 1
  [[nodiscard]] std::uint64_t bytes_left() const { return file_.size() - offset_ + (end_ - begin_); }

  /// @throws InputError `FILE:LINE: wrong` for the current line, or for the given one.
  [[noreturn]] void fail(std::string_view wrong) const;
  [[noreturn]] void fail_at(std::uint64_t line, std::string_view wrong) const;

 private:
  void refill();
  bool take(std::size_t length, std::size_t terminator);

  const InputFile& file_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread part of the buffer
  std::uint64_t offset_ = 0;         // position in the file where the buffer ends
  std::string_view line_;
  std::uint64_t number_ = 0;
};

}  // namespace ozbound::files
