// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "ozbound/core/matrices.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Exponents of a matrix of the host's, all of whose elements are finite doubles, found in one sweep at the memory's speed;
/// nothing where one is not, where they are floats, or where neither rows nor columns lie side by side.
std::optional<ExponentRange> range_if_finite(const InputView& matrix);

}  // namespace ozbound
