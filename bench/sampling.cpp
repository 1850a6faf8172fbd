// SPDX-License-Identifier: BSD-3-Clause
#include "sampling.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace ozbound::bench {
namespace {

/// The total seconds of `calls` calls.
double time(const Subject& subject, long calls) {
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < calls; ++i) {
    subject.call();
    benchmark::ClobberMemory();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct WarmUp {
  long calls = 1;      ///< calls in a sample
  double seconds = 0;  ///< their total time
};

/// Finds the number of calls that makes a sample long enough. The first call, with cold caches and pages, counts only if it is
/// long.
WarmUp warm_up(const Subject& subject, double first_call, double sample_seconds) {
  WarmUp result{1, first_call};
  while (result.seconds < sample_seconds) {
    const double factor = std::ceil(1.1 * sample_seconds / std::max(result.seconds, 1e-9));
    result.calls *= static_cast<long>(std::clamp(factor, 2.0, 100.0));
    result.seconds = time(subject, result.calls);
  }
  return result;
}

/// Warms up all subjects. Samples of subjects with very different times must still see the same disturbances.
std::vector<WarmUp> warm_up(std::span<const Subject> subjects, const Effort& effort) {
  std::vector<double> first_calls;
  for (const auto& subject : subjects) first_calls.push_back(time(subject, 1));
  const double longest = *std::ranges::max_element(first_calls);
  const double sample_seconds = std::clamp(longest / 4, effort.sample_seconds, effort.longest_sample_seconds);
  std::vector<WarmUp> warm;
  for (std::size_t s = 0; s < subjects.size(); ++s) warm.push_back(warm_up(subjects[s], first_calls[s], sample_seconds));
  return warm;
}

std::vector<double> there_and_back(std::span<const Subject> subjects, const std::vector<WarmUp>& warm) {
  std::vector<double> seconds(subjects.size());
  const auto add = [&](std::size_t s) {
    seconds[s] += time(subjects[s], warm[s].calls) / (2 * static_cast<double>(warm[s].calls));
  };
  for (std::size_t s = 0; s < subjects.size(); ++s) add(s);
  for (std::size_t s = subjects.size(); s-- > 0;) add(s);
  return seconds;
}

}  // namespace

Samples sample(std::span<const Subject> subjects, const Effort& effort) {
  const auto warm = warm_up(subjects, effort);
  Samples samples;
  for (const auto& subject : warm) samples.expected_seconds += 2 * subject.seconds;
  if (samples.expected_seconds > effort.longest_repetition_seconds) return samples;
  const double affordable = std::min(effort.seconds / samples.expected_seconds, 1e6);
  const int count = std::clamp(static_cast<int>(affordable), effort.least_repetitions, effort.most_repetitions);
  for (int r = 0; r < count; ++r) samples.repetitions.push_back(there_and_back(subjects, warm));
  return samples;
}

Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double quartile) {
    const double place = quartile * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

}  // namespace ozbound::bench
