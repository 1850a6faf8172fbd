// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/views.hpp"

namespace ozbound {

/// A sum modulo 2^64 of mixed elements and positions. Each element counts as the bits of a binary64 number; all NaNs are equal.
/// A change of one element always changes the sum. Other changes, including signs and permutations, are missed with a
/// probability of 2^-64. The sum is the same for every number of threads and order in memory.
std::uint64_t fingerprint(const InputView& matrix, int threads = 1);

}  // namespace ozbound
