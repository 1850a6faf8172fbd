#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "ozbound/gpu/cuda_engine.hpp"

// A runner for machines that have CUDA and nothing else.

namespace ozbound::mirror {

/// Counts the cases of a section and prints the first that fail.
class Section {
 public:
  explicit Section(std::string name) : name_(std::move(name)) {}

  /// `describe()` says what the case is; it ends with what reproduces it.
  void expect(bool holds, const std::function<std::string()>& describe) {
    ++cases_;
    if (holds) return;
    if (++failures_ <= 3) std::printf("  FAILED %s: %s\n", name_.c_str(), describe().c_str());
  }

  /// One line; true if every case held and there was any.
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

/// Whether `compare` says so; an exception is a failure.
template <class Compare>
bool holds(const Compare& compare) {
  try {
    return compare();
  } catch (const std::exception& error) {
    std::printf("  FAILED: %s\n", error.what());
    return false;
  }
}

/// What a program of comparisons returns: 0 if all of them hold, 1 if some do not, 77 without a device. `compare` says whether
/// they hold.
template <class Compare>
int compare_on_device(const Compare& compare) {
  if (gpu::device_count() == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  std::printf("%s\n", gpu::CudaEngine().device_name().c_str());
  const bool good = holds(compare);
  std::printf(good ? "all agree in every bit\n" : "they DIFFER\n");
  return good ? 0 : 1;
}

}  // namespace ozbound::mirror
