// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace ozbound::cli {

/// Measures wall-clock seconds, phase by phase.
class Stopwatch {
 public:
  /// Runs a phase and returns its result.
  template <class Phase>
  auto time(std::string name, Phase phase) {
    struct Lap {
      Stopwatch& watch;
      std::string name;
      ~Lap() { watch.stop(std::move(name)); }
    };
    start();
    const Lap lap{*this, std::move(name)};
    return phase();
  }

  /// Measures a phase that is not a function, from start() to stop().
  void start() { start_ = std::chrono::steady_clock::now(); }
  void stop(std::string name) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    phases_.emplace_back(std::move(name), elapsed.count());
  }

  [[nodiscard]] const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  std::chrono::steady_clock::time_point start_;
  std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace ozbound::cli
