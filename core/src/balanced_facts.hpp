// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/core/slice_facts.hpp"

namespace ozbound {

/// Largest number of elements, and of slices, that measure_balanced takes at once.
inline constexpr Index balanced_block = 512;
inline constexpr int balanced_block_slices = 16;

/// Adds a block of a vector's elements to its facts under the balanced encoding, many elements at a time. The facts equal those
/// of the definition, bit for bit (docs/derivations/slicing.md, S10).
/// @pre x[0 … length) are finite, length <= balanced_block; facts.scale is the vector's; facts.slices and facts.tails have one
/// element for each of at most balanced_block_slices slices.
void measure_balanced(const double* x, Index length, VectorFacts& facts);

}  // namespace ozbound
