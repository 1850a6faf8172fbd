// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "measurement.hpp"

namespace ozbound::bench {

/// Multiplications and additions of one product of matrices.
inline double operations(const Shape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

/// Collects subjects, and ratios between them.
class Builder {
 public:
  std::size_t add(std::string name, std::function<void()> call) {
    series_.subjects.push_back({std::move(name), std::move(call)});
    return series_.subjects.size() - 1;
  }

  /// The ratio of speeds of a subject and `base`, if one call of the subject does `work` times the work of one call of `base`.
  Figure& speed(std::string name, std::string baseline, std::size_t subject, std::size_t base, double work = 1) {
    return figure(std::move(name), std::move(baseline), Kind::speed, subject, base,
                  [=](std::span<const double> seconds) { return work * seconds[base] / seconds[subject]; });
  }

  Figure& share(std::string name, std::string baseline, std::size_t subject, std::size_t base) {
    return figure(std::move(name), std::move(baseline), Kind::share, subject, base,
                  [=](std::span<const double> seconds) { return seconds[subject] / seconds[base]; });
  }

  Figure& figure(std::string name, std::string baseline, Kind kind, std::size_t subject, std::size_t base,
                 std::function<double(std::span<const double>)> ratio) {
    return series_.figures.emplace_back(Figure{std::move(name), std::move(baseline), kind, subject, base, std::move(ratio)});
  }

  [[nodiscard]] Series take() { return std::move(series_); }

 private:
  Series series_;
};

}  // namespace ozbound::bench
