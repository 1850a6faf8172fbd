// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "../judge.hpp"
#include "expected.hpp"

namespace ozbound::checking {

/// What the entries that are looked at say together.
struct Gathered {
  Index entries = 0, finite = 0;
  Tally tally;
  std::string wrong_bits, wrong_bound, wrong_target;  ///< the first of each; empty where there is none
  judging::SquareSum errors, allowed;

  void merge(const Gathered& other);
};

/// Compares entries of C with what the method gives, and their exact errors with their bounds and the target.
Gathered look_at_entries(const Claims& claims, const Subject& subject, const Expected& expected,
                         const CertificateCheckOptions& options);

/// What a target allows besides tau for a result that may underflow: eta/2, and of DGEMM k times that.
Magnitude allowed_underflow(const Target& target, const Subject& subject);

/// The share of what a target allows that a claimed ratio leaves.
Magnitude of_ratio(double ratio, const Magnitude& allowed);

}  // namespace ozbound::checking
