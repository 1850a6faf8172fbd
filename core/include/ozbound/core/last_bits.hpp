// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The last bit of a vector of zeros: above that of every other.
inline constexpr std::int32_t no_last_bit = 1 << 20;

/// Of each row of A, or column of B, the weight, as a power of two, of the last bit that is set in any of its finite elements:
/// every element is a multiple of 2^last_bits()[i]. no_last_bit for a vector without elements that are finite and not 0. Exact.
std::vector<std::int32_t> last_bits(InputView operand, Side side, int threads);

}  // namespace ozbound
