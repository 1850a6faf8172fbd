// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "facts.hpp"
#include "ozbound/core/slice_facts.hpp"
#include "ozbound/core/vector_norms.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

/// Copies facts to the host. Waits for the stream.
SliceFacts copy_facts_to_host(const DeviceFacts& facts, cudaStream_t stream);

/// The facts of vector i under `slices` slices, in a copy of a block that contains all facts.
VectorFacts facts_on_host(const FactsOfAllSlicings& facts, int slices, Index i, const HostBlock& copied);

/// vector_norms of the rows of `vectors` (count x inner). Waits for the stream.
std::vector<VectorNorms> vector_norms_of(const DeviceMatrix& vectors, Index count, Index inner, cudaStream_t stream);

}  // namespace ozbound::gpu
