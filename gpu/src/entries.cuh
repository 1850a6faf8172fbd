// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "entries.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound::gpu {

// Visits every entry of a matrix once. Neighbouring threads run along its shorter stride.

inline constexpr int entry_threads = 256;

/// @param by_row true if neighbouring threads take neighbouring rows.
inline dim3 entry_grid(Index rows, Index columns, bool by_row) {
  const Index along = by_row ? rows : columns, across = by_row ? columns : rows;
  constexpr Index enough_blocks = 4096;
  const Index x = std::min((along + entry_threads - 1) / entry_threads, enough_blocks);
  return {static_cast<unsigned>(x), static_cast<unsigned>(std::min(across, std::max<Index>(enough_blocks / x, 1)))};
}

/// Calls visit(i, j) for the entries of a thread. @pre a grid of entry_grid.
template <class Visit>
__device__ void for_each_entry(Index rows, Index columns, bool by_row, const Visit& visit) {
  const Index along = by_row ? rows : columns, across = by_row ? columns : rows;
  for (Index s = blockIdx.y; s < across; s += gridDim.y)
    for (Index t = Index{blockIdx.x} * entry_threads + threadIdx.x; t < along; t += Index{gridDim.x} * entry_threads)
      visit(by_row ? t : s, by_row ? s : t);
}

/// True if neighbouring rows lie closer than neighbouring columns.
__host__ __device__ inline bool by_row(const DeviceMatrix& c) { return c.row_stride < c.col_stride; }

__device__ inline unsigned long long* counter(std::uint64_t* x) { return reinterpret_cast<unsigned long long*>(x); }

/// Marks an entry, by its place i n + j.
__device__ inline void mark_entry(std::uint32_t* marks, unsigned long long* count, Index place) {
  const auto bit = static_cast<std::uint64_t>(place);
  atomicOr(marks + bit / 32, 1u << (bit % 32));
  atomicAdd(count, 1ull);
}

inline bool empty(Shape shape) { return shape.m == 0 || shape.n == 0; }

}  // namespace ozbound::gpu
