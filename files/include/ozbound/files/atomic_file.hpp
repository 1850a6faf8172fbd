// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ozbound::cli {

/// A file that appears whole, at commit(), or not at all: until then it is a temporary file in the same directory.
///
/// An existing file of that name stays as it is until commit() replaces it; its permissions are kept, and a symbolic
/// link stays a link. Open one before a long computation, to learn early that the result could not be written.
///
/// A pipe or a device, such as /dev/null, cannot be replaced: commit() writes to it all of what is kept in memory until then.
/// So it is with `-`, standard output, where nothing else is then printed.
class AtomicFile {
 public:
  /// @throws std::invalid_argument where `path` is a directory or a block device, or is `-` and standard output has another
  /// use, std::system_error if the file cannot be created or opened.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();  ///< removes the temporary file unless committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Appends. @throws std::system_error naming the file, as flush() and commit() do.
  void write(std::string_view bytes);

  /// Has all of it on the disk. After flush(), only renaming can fail: flush every output before committing the first.
  void flush();

  /// Flushes, and gives the file its name.
  void commit();

 private:
  void create();
  void open_stream();
  void copy_to_stream();
  void replace();
  void write_out();
  void write_all(int descriptor, std::string_view bytes) const;
  void close_all();
  void keep_permissions() const;
  [[noreturn]] void fail(const char* failed) const;

  std::filesystem::path path_;        // as the caller says it
  std::filesystem::path final_path_;  // links resolved
  std::string temporary_;             // empty: none, or it has its name
  std::string buffer_;
  int descriptor_ = -1;  // of the temporary file, or of memory
  int stream_ = -1;      // what memory is copied to; -1: a file is replaced
};

/// Whether outputs to two paths would be written over each other: `C.npy` and `./C.npy`, be the file there or not, `-` and `-`;
/// not where both are /dev/null or another device or pipe. An empty path names none.
bool same_file(const std::filesystem::path& x, const std::filesystem::path& y);

/// Whether an output of this path is no file to be replaced: `-`, a pipe or a device.
bool is_stream(const std::filesystem::path& path);

/// Has SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the temporary files of this process before they end it.
void remove_temporaries_on_signals();

}  // namespace ozbound::cli
