// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "claims.hpp"

namespace ozbound::checking {

/// Operations that a product and the check of its certificate take, weighted so that a unit is about a nanosecond of a core: a
/// function of what the certificate says of sizes, method, target and plans, and of nothing that is measured.
struct Work {
  double product = 0;  ///< of Ozbound, on a CPU whose INT8 products are fast (AVX-512 VNNI)
  double bounds = 0;   ///< of the check, whatever the entries that are looked at
  double entry = 0;    ///< of the check, for each of these
};

Work work_of(const Claims& claims);

/// How many entries a check looks at: none said, all of them, where that takes 2^31 units or ten products at most; else what is
/// left of the larger of both, but not less than 1000 and not more than 2^20.
std::optional<Index> affordable_entries(const Claims& claims);

}  // namespace ozbound::checking
