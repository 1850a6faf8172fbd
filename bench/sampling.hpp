// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ozbound::bench {

/// A repeatable call to time.
struct Subject {
  std::string name;
  std::function<void()> call;
};

/// The effort of measuring.
struct Effort {
  double sample_seconds = 2e-3;            ///< a timed sample repeats short calls until it takes this long,
  double longest_sample_seconds = 50e-3;   ///< or, at most this, for a quarter of the longest call: a peak beside a product
  double seconds = 1;                      ///< the time that all repetitions of a series should take together
  int least_repetitions = 5;               ///< made even if they take longer
  int most_repetitions = 31;               ///< not exceeded even if they are short
  double longest_repetition_seconds = 30;  ///< a series with longer ones is left out
};

/// The seconds of one call of each subject, repetition by repetition.
struct Samples {
  std::vector<std::vector<double>> repetitions;  ///< [repetition][subject]
  double expected_seconds = 0;                   ///< of one repetition, estimated by the warm-up
};

/// Times the subjects side by side. A warm-up first finds the number of calls in a sample.
///
/// A repetition goes through all subjects there and back: 1 2 3 3 2 1. The mean of a subject's two samples then stands for the
/// same moment as every other subject's, so that a steady drift of the machine's speed cancels in their ratio. If one
/// repetition would take longer than the effort allows, the result has only expected_seconds.
Samples sample(std::span<const Subject> subjects, const Effort& effort);

struct Quartiles {
  double lower = 0, median = 0, upper = 0;
};

/// Quartiles by linear interpolation between the sorted values: quartile q of n values is at position q (n - 1). @pre values is
/// not empty.
Quartiles quartiles(std::vector<double> values);

}  // namespace ozbound::bench
