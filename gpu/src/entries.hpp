// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device_epilogue.hpp"
#include "ozbound/core/entry.hpp"

namespace ozbound::gpu {

// Passes over the entries of an m x n product in device memory. Results are maxima and sums of integers, and thus independent
// of the order.

struct Shape {
  Index m, n;
};

/// SpecialEntryWriter in device memory.
struct DeviceSpecials {
  const std::uint8_t* rows = nullptr;     ///< [m]; null: there are none, nor special columns
  const std::uint8_t* columns = nullptr;  ///< [n]; null likewise
  bool everywhere = false;
  bool reads_c0 = false;
  DeviceMatrix c0 = {};

  [[nodiscard]] OZB_HD bool at(Index i, Index j) const {
    return everywhere || (rows != nullptr && (rows[i] != 0 || columns[j] != 0)) ||
           (reads_c0 && !is_finite(c0.bits(i, j), binary64));
  }
};

/// Adds the number of special entries to *count.
void launch_counting(const DeviceSpecials& specials, Shape shape, std::uint64_t* count, cudaStream_t stream);

/// Sets bit i n + j of `infinite` if an entry of C is infinite and not special, and counts these entries.
void launch_finding_infinite(const DeviceMatrix& c, const DeviceSpecials& specials, Shape shape, std::uint32_t* infinite,
                             unsigned long long* count, cudaStream_t stream);

/// The range of exponents of the non-zero magnitudes of the rows without specials, or of all finite elements. Lowers range[0]
/// to the smallest and raises range[1] to the largest.
void launch_exponent_range(const DeviceMatrix& vectors, Index count, Index inner, bool by_vector, std::int32_t* range,
                           cudaStream_t stream);

/// A call whose entries the exact superaccumulator rounds correctly.
struct ExactProduct {
  DeviceMatrix a, b, c0, c;
  double alpha, beta;
  Shape shape;
  Index k;
};

/// Computes `count` entries exactly. If `entries` is null, computes all entries that are not special.
void launch_exact(const ExactProduct& product, const Entry* entries, Index count, const DeviceSpecials& specials,
                  cudaStream_t stream);

}  // namespace ozbound::gpu
