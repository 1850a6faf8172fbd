// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "expected.hpp"

namespace ozbound::checking {

/// `bound`: what is expected of it; with `takes_norms` the bounds get the norms of the record in place of those that were
/// computed.
void check_bound(Findings& findings, const Claims& claims, Expected& expected, bool takes_norms);

}  // namespace ozbound::checking
