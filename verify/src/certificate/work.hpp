// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "claims.hpp"

namespace ozbound::checking {

/// Operations of a product and of the check of its certificate, weighted such that a unit is about a nanosecond of a core. They
/// depend only on the certificate's sizes, method, target and plans, not on measurements.
struct Work {
  double product = 0;  ///< of Ozbound, on a CPU with fast INT8 products (AVX-512 VNNI)
  double bounds = 0;   ///< of the check, independent of the examined entries
  double entry = 0;    ///< of the check, for each examined entry
};

Work work_of(const Claims& claims);

/// The number of entries to examine. Empty, which means all entries, if that takes at most 2^31 units or ten products.
/// Otherwise the number that the larger of both limits leaves, but at least 1000 and at most 2^20.
std::optional<Index> affordable_entries(const Claims& claims);

}  // namespace ozbound::checking
