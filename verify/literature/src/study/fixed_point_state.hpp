// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "study/random_circuit.hpp"

namespace ozbound::study {

/// A state in integers: all parts are multiples of 2^-100. A gate is applied exactly, then every part is rounded down once.
class FixedPointState {
 public:
  /// @pre parts are multiples of 2^-100, the norm is about 1.
  explicit FixedPointState(const State& state);

  /// @param defect of the gate, as in GateFacts. @pre the gate's qubits are the state's.
  void apply(const Gate& gate, double defect);

  /// An upper bound of ||x - this|| plus the error of this state itself: the distance of x from the exact product of the
  /// applied gates.
  [[nodiscard]] double distance_upper(const State& x) const;
  [[nodiscard]] double error_upper() const { return error_; }

  /// Every part rounded to a double, within 2^-52 of it.
  [[nodiscard]] State rounded() const;
  /// x - this, with every part within 2^-52 relative and 2^-100. Infinite if x has an invalid amplitude.
  [[nodiscard]] State subtracted_from(const State& x) const;

  /// A comparison of a part of an amplitude: |x - it| rounded up, and |it| rounded down.
  struct Comparison {
    double error_upper, value_lower;
  };
  [[nodiscard]] Comparison compare(std::size_t index, bool imaginary, double x) const;

 private:
  __extension__ using Integer = __int128;

  std::vector<Integer> real_, imaginary_;
  double error_ = 0;
};

}  // namespace ozbound::study
