// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "ozbound/core/matrix.hpp"

namespace ozbound::grading {

/// `3 of 20 entries differ, first (0, 1): 0x1p+0, but 0x1.0000000000001p+0`, with x's value first. Empty if all bits agree.
/// @pre the same sizes.
std::optional<std::string> first_difference(const Matrix<double>& expected, const Matrix<double>& x);

}  // namespace ozbound::grading
