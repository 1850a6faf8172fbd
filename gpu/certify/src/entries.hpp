#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device_epilogue.hpp"
#include "ozbound/bounds/rounding_error.hpp"
#include "ozbound/core/entry.hpp"

namespace ozbound::gpu {

// What a certificate says of all entries of an m x n product in device memory. Results are maxima and sums of integers: the
// same whatever the order.

struct Shape {
  Index m, n;
};

/// SpecialEntries in device memory.
struct DeviceSpecials {
  const std::uint8_t* rows = nullptr;     ///< [m]
  const std::uint8_t* columns = nullptr;  ///< [n]
  bool everywhere = false;
  bool reads_c0 = false;
  DeviceMatrix c0 = {};

  [[nodiscard]] OZB_HD bool at(Index i, Index j) const {
    return everywhere || rows[i] != 0 || columns[j] != 0 || (reads_c0 && !is_finite(c0.bits(i, j), binary64));
  }
};

/// ErrorBound in device memory, its product a DeviceBound.
struct DeviceErrorBound {
  const DeviceBound* product = nullptr;
  const std::int32_t* row_exponents = nullptr;
  const std::int32_t* column_exponents = nullptr;
  RoundingError rounding = {};
};

/// Raises *after to one more than the place i n + j of the last entry, not special, whose bound is not zero.
void launch_last_inexact(const DeviceBound* bound, const DeviceSpecials& specials, Shape shape, std::uint64_t* after,
                         cudaStream_t stream);

/// Adds the number of special entries to *count.
void launch_counting(const DeviceSpecials& specials, Shape shape, std::uint64_t* count, cudaStream_t stream);

/// What judge_relative accepts is written to `c`, the largest share raised in *worst (its bits); bit i n + j of `open` is set
/// where it does not, and where the entry is not special.
struct RelativeProduct {
  DeviceMatrix product, c;
  double factor;
  std::uint32_t* open;
  unsigned long long* open_count;
  std::uint64_t* worst;
};
void launch_accepting(const RelativeProduct& relative, const DeviceErrorBound& bound, const DeviceSpecials& specials,
                      Shape shape, cudaStream_t stream);

/// Sets bit i n + j of `open` where an entry of C is infinite and not special, and counts them.
void launch_finding_infinite(const DeviceMatrix& c, const DeviceSpecials& specials, Shape shape, std::uint32_t* open,
                             unsigned long long* count, cudaStream_t stream);

/// Exponents of the non-zero magnitudes of the rows without specials, or of all finite elements: lowers range[0] to the least
/// and raises range[1] to the largest.
void launch_exponent_range(const DeviceMatrix& vectors, Index count, Index inner, bool by_vector, std::int32_t* range,
                           cudaStream_t stream);

/// A call whose entries are correctly rounded by the exact superaccumulator.
struct ExactCall {
  DeviceMatrix a, b, c0, c;
  double alpha, beta;
  Shape shape;
  Index k;
};

/// Computes `count` entries exactly; where `entries` is null, all that are not special.
void launch_exact(const ExactCall& call, const Entry* entries, Index count, const DeviceSpecials& specials,
                  cudaStream_t stream);

}  // namespace ozbound::gpu
