// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ozbound::files {

/// A file that appears completely at commit(), or not at all. Until then it is a temporary file in the same directory.
///
/// An existing file of that name is unchanged until commit() replaces it. Its permissions are kept, and a symbolic link stays a
/// link. Open the file before a long computation, to learn early if the result cannot be written.
///
/// A pipe or a device, such as /dev/null, cannot be replaced. Its bytes are kept in memory until commit() writes them. The same
/// holds for `-`, standard output; nothing else is then printed there.
class AtomicFile {
 public:
  /// @throws std::invalid_argument if `path` is a directory or a block device, or if it is `-` and standard output has another
  /// use; std::system_error if the file cannot be created or opened.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();  ///< removes the temporary file unless committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Appends bytes. @throws std::system_error naming the file, as flush() and commit() do.
  void write(std::string_view bytes);

  /// Writes everything to the disk. After flush(), only renaming can fail: flush every output before committing the first.
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

  std::filesystem::path path_;        // as the caller gave it
  std::filesystem::path final_path_;  // links resolved
  std::string temporary_;             // empty: no temporary file, or already renamed
  std::string buffer_;
  int descriptor_ = -1;  // of the temporary file, or of the memory buffer
  int stream_ = -1;      // destination of the memory buffer; -1: a file is replaced
};

/// True if outputs to two paths would overwrite each other, such as `C.npy` and `./C.npy`, existing or not, or `-` and `-`.
/// False if both are /dev/null or another device or pipe. An empty path names no file.
bool same_file(const std::filesystem::path& x, const std::filesystem::path& y);

/// True if an output path is not a file to be replaced: `-`, a pipe or a device.
bool is_stream(const std::filesystem::path& path);

/// Installs handlers so that SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the temporary files of this process before they end it.
void remove_temporaries_on_signals();

}  // namespace ozbound::files
