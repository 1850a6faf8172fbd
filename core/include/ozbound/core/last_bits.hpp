// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/sliced_matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The last bit of a vector of zeros: above that of every other.
inline constexpr std::int32_t no_last_bit = 1 << 20;

/// For each of the m rows of A, or n columns of B, the exponent of the last bit that is set in any of its finite elements:
/// every one of them is a multiple of 2^last_bits()[i]. It is no_last_bit for a vector whose finite elements are all 0. Exact.
std::vector<std::int32_t> last_bits(InputView operand, Side side, int threads);

}  // namespace ozbound
