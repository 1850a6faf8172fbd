// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "call.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/target.hpp"

namespace ozbound::drop_in {

/// Entries of a call that are sampled: fewer where the inner dimension is long.
Index samples_for(Index k);

/// An examined call: what it could be at the target, and how far native's sampled entries are off.
class Examination {
 public:
  /// Decides, and keeps what some entries of C0 are. Before the program's own call.
  /// @param number of the call, by which entries are drawn @param threads of the engine; 0: as many as OpenMP would use
  Examination(const Call& call, const RealProduct& product, const Target& target, long number, int threads);

  /// Sums the sampled entries exactly and compares. After the program's own call.
  void compare();

  /// The word for people, and of the log: `native`, `slices`, `residues`, `exact`; `special` where an operand holds a NaN or an
  /// infinity; `cannot` where nothing certifies the target.
  [[nodiscard]] const std::string& way() const { return way_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const std::optional<Decision>& decision() const { return decision_; }

  /// Whether the program's library certifies the target; false also for one that is not known to be conventional.
  [[nodiscard]] bool native_certifies() const;

  /// Predicted for the way that was chosen; nothing where nobody knows seconds.
  [[nodiscard]] std::optional<double> predicted_seconds() const;

  /// The largest error of a sampled entry of native's over what the target allows, from above; nothing for targets that do not
  /// bound entries one by one, and where nothing was sampled.
  [[nodiscard]] std::optional<double> worst() const { return worst_; }

 private:
  struct Sample {
    Index i, j;
    double c0;
  };
  [[nodiscard]] std::optional<double> ratio_of(const Sample& sample) const;

  RealProduct product_;
  Target target_;
  std::string way_, reason_;
  std::optional<Decision> decision_;
  std::vector<Sample> samples_;
  std::optional<double> worst_;
};

}  // namespace ozbound::drop_in
