// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace ozbound {

/// The x >= 0 for which sum_i |sum_j rows[i][j] x_j / values[i] - 1| is about minimal. Repeats least squares with weights that
/// are the inverse errors of the round before, so that a few disturbed measurements have little influence. If some x fits all
/// values, the result is that x up to rounding. Linearly dependent columns get 0.
/// @pre values > 0; every row has the same number of columns, at most 12.
std::vector<double> nonnegative_fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& values);

}  // namespace ozbound
