// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/views.hpp"

namespace ozbound {

/// A sum of mixed elements and places, each element as the bits of a binary64 number; NaNs are equal. Any element changed alone
/// changes it; other changes, signs and permutations among them, are missed with a probability of 2^-64. A sum modulo 2^64: the
/// same for every number of threads and order in memory.
std::uint64_t fingerprint(const InputView& matrix, int threads = 1);

}  // namespace ozbound
