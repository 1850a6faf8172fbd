#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace ozbound::cli {

/// Seconds of wall-clock time, phase by phase.
class Stopwatch {
 public:
  /// Runs a phase and returns what it returns.
  template <class Phase>
  auto time(std::string name, Phase phase) {
    struct Lap {
      Stopwatch& watch;
      std::string name;
      std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
      ~Lap() {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        watch.phases_.emplace_back(std::move(name), elapsed.count());
      }
    };
    const Lap lap{*this, std::move(name)};
    return phase();
  }

  [[nodiscard]] const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace ozbound::cli
