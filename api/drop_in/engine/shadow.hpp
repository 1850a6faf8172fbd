// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "call.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/target.hpp"

namespace ozbound::drop_in {

/// Number of sampled entries of a call; fewer for a long inner dimension.
Index samples_for(Index k);

/// An examined call: the way that `decide` would choose for the target, and the errors of native's sampled entries.
class Examination {
 public:
  /// Decides, and copies some entries of C0. Call it before the program's own call.
  /// @param number number of the call, which seeds the choice of entries @param threads threads of the engine; 0: OpenMP's
  /// number @param mode_is_usual false if the caller rounds in another way than to nearest, or flushes subnormal numbers:
  /// native, which does so too, proves nothing then
  Examination(const Call& call, const RealProduct& product, const Target& target, long number, int threads,
              bool mode_is_usual = true);

  /// Sums the sampled entries exactly and compares. Call it after the program's own call.
  void compare();

  /// The way in one word, for people and for the log: `native`, `slices`, `residues`, `exact`; `special` if an operand holds a
  /// NaN or an infinity; `cannot` if nothing certifies the target.
  [[nodiscard]] const std::string& way() const { return way_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const std::optional<Decision>& decision() const { return decision_; }

  [[nodiscard]] bool mode_is_usual() const { return mode_is_usual_; }

  /// True if the program's library certifies the target; also false if it is not known to be conventional.
  [[nodiscard]] bool native_certifies() const;

  /// Predicted seconds of the chosen way; nothing if no prediction is known.
  [[nodiscard]] std::optional<double> predicted_seconds() const;

  /// The largest error of native's sampled entries over the error that the target allows, rounded up. Nothing for targets that
  /// do not bound single entries, and if no entry was sampled.
  [[nodiscard]] std::optional<double> worst() const { return worst_; }

 private:
  struct Sample {
    Index i, j;
    double c0;
  };
  [[nodiscard]] std::optional<double> ratio_of(const Sample& sample) const;

  RealProduct product_;
  Target target_;
  bool mode_is_usual_;
  std::string way_, reason_;
  std::optional<Decision> decision_;
  std::vector<Sample> samples_;
  std::optional<double> worst_;
};

}  // namespace ozbound::drop_in
