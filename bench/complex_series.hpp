// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "measurement.hpp"

namespace ozbound::bench {

/// A complex product, with real and with complex scalars, over the real one of the same sizes, and its form with three real
/// products over that with four (docs/adr/0012).
Series complex_series(const SeriesEntry& entry);

}  // namespace ozbound::bench
