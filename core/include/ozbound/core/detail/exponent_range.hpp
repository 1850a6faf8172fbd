// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/matrices.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The exponent range of a matrix in host memory, found in one sweep at the memory's speed. Returns nothing if an element is
/// not finite, or if neither rows nor columns are contiguous. For a complex matrix, the range covers both parts.
std::optional<ExponentRange> range_if_finite(const InputView& matrix);
std::optional<ExponentRange> range_if_finite(const ComplexInputView& matrix);

}  // namespace ozbound
