// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "expected.hpp"

namespace ozbound::checking {

/// Checks the claims in `bound`. With `takes_norms`, the bounds then use the norms of the record in place of the computed ones.
void check_bound(Findings& findings, const Claims& claims, Expected& expected, bool takes_norms);

}  // namespace ozbound::checking
