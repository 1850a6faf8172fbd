#pragma once

#include <cstdint>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

inline constexpr int kernel_rows = 2;
inline constexpr int kernel_columns = 4;

/// out[4 r + c] = sum_l a[r * ld + l] * b[c * ld + l], l < length, for 2 rows of a and 4 of b.
/// @pre no partial sum can leave INT32. Sums of integers: every order, so every vector length, gives the same bits.
void dot_kernel(const std::int16_t* a, const std::int16_t* b, Index ld, Index length, std::int32_t* out);

}  // namespace ozbound
