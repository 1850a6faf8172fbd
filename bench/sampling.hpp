// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ozbound::bench {

/// What is timed: one call of it, repeatable.
struct Subject {
  std::string name;
  std::function<void()> call;
};

/// How long to measure.
struct Effort {
  double sample_seconds = 2e-3;            ///< a timed sample repeats short calls until it takes this long,
  double longest_sample_seconds = 50e-3;   ///< or, up to this, a quarter of the longest call: a peak beside a product
  double seconds = 1;                      ///< what all repetitions of a series should take together
  int least_repetitions = 5;               ///< whatever they take
  int most_repetitions = 31;               ///< however short they are
  double longest_repetition_seconds = 30;  ///< a series with longer ones is left out
};

/// The seconds that one call of each subject took, repetition after repetition.
struct Samples {
  std::vector<std::vector<double>> repetitions;  ///< [repetition][subject]
  double expected_seconds = 0;                   ///< of one repetition, as the warm-up found them
};

/// Times the subjects side by side, after a warm-up that also finds how many calls make a sample.
///
/// A repetition goes through all subjects there and back: 1 2 3 3 2 1. The mean of a subject's two samples then stands for the
/// same moment as every other's, so that a steady drift of the machine's speed cancels in their ratio. No repetitions, and only
/// expected_seconds, where one would take longer than the effort allows.
Samples sample(std::span<const Subject> subjects, const Effort& effort);

struct Quartiles {
  double lower = 0, median = 0, upper = 0;
};

/// By linear interpolation between the sorted values: of n, quartile q stands at place q (n - 1). @pre values is not empty.
Quartiles quartiles(std::vector<double> values);

}  // namespace ozbound::bench
