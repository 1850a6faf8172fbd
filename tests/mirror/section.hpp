// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <string>

namespace ozbound::mirror {

/// Counts the cases of a section and prints the first that fail.
class Section {
 public:
  explicit Section(std::string name) : name_(std::move(name)) {}

  /// `describe()` names the case and ends with the text that reproduces it.
  void expect(bool holds, const std::function<std::string()>& describe) {
    ++cases_;
    if (holds) return;
    if (++failures_ <= 3) std::printf("  FAILED %s: %s\n", name_.c_str(), describe().c_str());
  }

  /// Prints one line; true if there was a case and every case held.
  [[nodiscard]] bool report() const {
    std::printf("%-28s %9ld comparisons, %ld differ\n", name_.c_str(), cases_, failures_);
    std::fflush(stdout);
    return failures_ == 0 && cases_ > 0;
  }

 private:
  std::string name_;
  long cases_ = 0;
  long failures_ = 0;
};

/// True if `compare` returns true; an exception is a failure.
template <class Compare>
bool holds(const Compare& compare) {
  try {
    return compare();
  } catch (const std::exception& error) {
    std::printf("  FAILED: %s\n", error.what());
    return false;
  }
}

}  // namespace ozbound::mirror
