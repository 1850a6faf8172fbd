// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/matrix.hpp"

namespace ozbound::gpu {

constexpr Index round_up(Index x, Index multiple) { return (x + multiple - 1) / multiple * multiple; }

}  // namespace ozbound::gpu
