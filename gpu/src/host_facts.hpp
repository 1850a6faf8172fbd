// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "facts.hpp"
#include "ozbound/core/slice_facts.hpp"

namespace ozbound::gpu {

/// Waits for the stream.
SliceFacts copy_facts_to_host(const DeviceFacts& facts, cudaStream_t stream);

/// The facts of every slice count, at [slices - 1].
std::vector<SliceFacts> copy_facts_to_host(const FactsOfAllSlicings& facts, cudaStream_t stream);

}  // namespace ozbound::gpu
