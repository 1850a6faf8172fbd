// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "entries.hpp"

namespace ozbound::checking {

/// What a certificate says of all entries together: counts, ratio, worst entry, largest bound; then the claims that a wrong C
/// breaks. Of a sample, what it leaves possible.
void check_totals(Findings& findings, const Claims& claims, const Subject& subject, const Expected& expected,
                  const Gathered& gathered, bool of_all);

}  // namespace ozbound::checking
