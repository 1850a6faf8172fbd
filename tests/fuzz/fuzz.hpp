// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

/// Runs one input of a target and returns 0. A finding ends the process. See docs/fuzzing.md.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ozbound::fuzz {

/// Requires a condition that must hold for every input; if it fails, prints `otherwise` and ends the process.
inline void require(bool holds, std::string_view otherwise) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(otherwise.size()), otherwise.data());
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// The input as a source of choices; zeros once it is used up. (clang's FuzzedDataProvider does the same, but compilers that
/// replay the corpus may not have it.)
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }

  /// The next `count` bytes as one number, least significant byte first.
  std::uint64_t bits(int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) value |= std::uint64_t{byte()} << 8 * i;
    return value;
  }

  /// A number in low … high, both included. @pre at most 256 numbers.
  int between(int low, int high) { return low + byte() % (high - low + 1); }

  bool flag() { return (byte() & 1) != 0; }

  template <class T, std::size_t N>
  T pick(const std::array<T, N>& items) {
    return items[byte() % N];
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// The input as a regular file, in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::runtime_error("memfd_create");
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
    while (!bytes.empty()) {
      const auto written = write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0) throw std::runtime_error("write");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  int descriptor_;
  std::filesystem::path path_;
};

/// Requires that the refusal of a file is one line that begins with the file's name.
inline void require_refusal(std::string_view message, const std::filesystem::path& path) {
  require(message.starts_with(path.string() + ":"), "a refusal does not name the file");
  require(message.find_first_of("\r\n") == std::string_view::npos, "a refusal of several lines");
}

}  // namespace ozbound::fuzz
