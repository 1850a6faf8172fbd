// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/matrices.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Exponents of a matrix of the host's, all of whose elements are finite, found in one sweep at the memory's speed; nothing
/// where one is not, or where neither rows nor columns lie side by side. Of a complex matrix those of both parts.
std::optional<ExponentRange> range_if_finite(const InputView& matrix);
std::optional<ExponentRange> range_if_finite(const ComplexInputView& matrix);

}  // namespace ozbound
