// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "ozbound/core/integer_norms.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Norms of |x| for each of the m rows of A, or n columns of B, in units of 2^-16 of its scale, rounded up: 2^16 of these are
/// twice the unit in the first place of the vector's largest magnitude. What VectorFacts::vector has under residue_measure, and
/// nothing else of it. A vector with a NaN or an infinity counts as one of zeros. Exact.
std::vector<IntegerNorms> vector_norms(InputView operand, Side side, int threads);

}  // namespace ozbound
