// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "measurement.hpp"

namespace ozbound::bench {

/// Times a complex product, with real and with complex scalars, against the real product of the same sizes, and the form with
/// three real products against the form with four (docs/adr/0012).
Series complex_series(const SeriesEntry& entry);

}  // namespace ozbound::bench
