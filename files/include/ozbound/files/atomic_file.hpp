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
class AtomicFile {
 public:
  /// @throws std::invalid_argument where `path` exists and is no regular file, std::system_error if none can be created.
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
  void write_out();
  void keep_permissions() const;
  [[noreturn]] void fail(const char* failed) const;

  std::filesystem::path path_;        // as the caller says it
  std::filesystem::path final_path_;  // links resolved
  std::string temporary_;
  std::string buffer_;
  int descriptor_ = -1;
};

/// Whether two paths name one file, be it there or not: `C.npy` and `./C.npy`. An empty path names none.
bool same_file(const std::filesystem::path& x, const std::filesystem::path& y);

/// Has SIGINT, SIGTERM, SIGHUP and SIGPIPE remove the temporary files of this process before they end it.
void remove_temporaries_on_signals();

}  // namespace ozbound::cli
