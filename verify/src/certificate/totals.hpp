// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "entries.hpp"

namespace ozbound::checking {

/// Checks a certificate's claims about all entries together: counts, ratio, worst entry, largest bound. Then checks the claims
/// that a wrong C breaks. With a sample, accepts everything that the sample leaves possible.
void check_totals(Findings& findings, const Claims& claims, const Subject& subject, const Expected& expected,
                  const Gathered& gathered, bool of_all);

}  // namespace ozbound::checking
