// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "../judge.hpp"
#include "expected.hpp"

namespace ozbound::checking {

/// Combined results for the examined entries.
struct Gathered {
  Index entries = 0, finite = 0;
  Tally tally;
  std::string wrong_bits, wrong_bound, wrong_target;  ///< the first of each kind; empty if there is none
  judging::SquareSum errors, beyond, allowed;         ///< for `normwise`; beyond: what errors exceed the underflow by

  void merge(const Gathered& other);
};

/// Compares entries of C with the method's result, and their exact errors with their bounds and the target.
Gathered look_at_entries(const Claims& claims, const Subject& subject, const Expected& expected,
                         const CertificateCheckOptions& options);

/// The number of eta/2 that a target allows each entry for underflow, in addition to tau: 1, and k for DGEMM.
std::uint64_t allowed_halves(const Target& target, const Subject& subject);

/// The share of a target's allowance that a claimed ratio leaves.
Magnitude of_ratio(double ratio, const Magnitude& allowed);

}  // namespace ozbound::checking
