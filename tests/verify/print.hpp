// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>

#include "ozbound/verify/magnitude.hpp"

namespace ozbound {

/// Prints a magnitude in GoogleTest messages.
inline void PrintTo(const Magnitude& x, std::ostream* out) { *out << to_string(x); }

}  // namespace ozbound
