// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/host_device.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/special.hpp"

namespace ozbound::gpu {

/// A matrix of double or of float in device memory. Element (i, j) is data[i * row_stride + j * col_stride].
struct DeviceMatrix {
  void* data = nullptr;
  Index row_stride = 0;
  Index col_stride = 1;
  bool is_double = true;

  [[nodiscard]] OZB_HD constexpr Index at(Index i, Index j) const { return i * row_stride + j * col_stride; }
  [[nodiscard]] OZB_HD constexpr Format format() const { return is_double ? Format(binary64) : Format(binary32); }

  /// Element (i, j) as the bits of a binary64 number of the same value.
  [[nodiscard]] OZB_HD std::uint64_t bits(Index i, Index j) const {
    return is_double ? static_cast<const std::uint64_t*>(data)[at(i, j)]
                     : widen_bits(float_from_bits(static_cast<const std::uint32_t*>(data)[at(i, j)]));
  }

  /// Writes the number of format() with these bits.
  OZB_HD void set_bits(Index i, Index j, std::uint64_t bits) const {
    if (is_double)
      static_cast<std::uint64_t*>(data)[at(i, j)] = bits;
    else
      static_cast<std::uint32_t*>(data)[at(i, j)] = static_cast<std::uint32_t>(bits);
  }
};

inline DeviceMatrix transposed(DeviceMatrix x) { return {x.data, x.col_stride, x.row_stride, x.is_double}; }

/// An EntryBound in device memory. All outer products lie one after the other.
struct DeviceBound {
  const double* rows = nullptr;     ///< [outer * m + i]
  const double* columns = nullptr;  ///< [outer * n + j]
  const int* ends = nullptr;        ///< [terms]: outer products ends[t - 1] … ends[t] - 1 are the alternatives of term t
  int terms = 0;
  Index m = 0, n = 0;
  double uniform = 0;

  /// EntryBound::upper, bit for bit.
  [[nodiscard]] OZB_HD double upper(Index i, Index j) const {
    double total = 0;
    for (int t = 0, outer = 0; t < terms; ++t) {
      double least = double_from_bits(binary64.inf);
      for (; outer < ends[t]; ++outer) {
        const double value = multiply_upper(rows[outer * m + i], columns[outer * n + j]);
        least = value < least ? value : least;
      }
      total = add_upper(total, least);
    }
    return total < uniform ? total : uniform;
  }
};

/// The steps from the integer sums of an m x n product to C on the device: C = alpha S + beta C0, rounded once.
///
/// Entries of a special row or column, of a C0 that is not finite, or under a scalar that is not finite, depend on the inputs
/// directly (SpecialEntryWriter).
struct DeviceEpilogue {
  double alpha = 1;
  double beta = 0;                     ///< c0 is not read if this is 0
  const double* alpha_at = nullptr;    ///< in device memory; if not null, replaces alpha
  const double* beta_at = nullptr;     ///< in device memory; if not null, replaces beta
  DeviceMatrix c0 = {};                ///< m x n; may be c itself
  DeviceMatrix c = {};                 ///< m x n
  const DeviceBound* bound = nullptr;  ///< in device memory; null: every entry is written
  std::uint32_t* open = nullptr;       ///< with a bound: bit i * n + j, zero at first, is set if Ziv's test leaves (i, j) open
  unsigned long long* open_count = nullptr;  ///< with a bound: the number of open entries, zero at first

  [[nodiscard]] OZB_HD double alpha_value() const { return alpha_at == nullptr ? alpha : *alpha_at; }
  [[nodiscard]] OZB_HD double beta_value() const { return beta_at == nullptr ? beta : *beta_at; }

  /// True if both scalars are finite. Otherwise every entry is special, and the product writes none.
  [[nodiscard]] OZB_HD bool finite_scalars() const {
    return is_finite(bits_of(alpha_value()), binary64) && is_finite(bits_of(beta_value()), binary64);
  }

  /// The bits of C0's element, or of +0 if beta is 0.
  [[nodiscard]] OZB_HD std::uint64_t c0_bits(Index i, Index j) const {
    return is_zero(beta_value()) ? bits_of(0.0) : c0.bits(i, j);
  }
  [[nodiscard]] OZB_HD Scalars scalars() const { return {to_dyadic(alpha_value()), to_dyadic(beta_value()), c.format()}; }
  [[nodiscard]] OZB_HD double error(Index i, Index j) const { return bound == nullptr ? 0 : bound->upper(i, j); }

#ifdef __CUDACC__
  /// Writes an entry, or marks it open.
  __device__ void finish(Index i, Index j, Index n, Rounded entry) const {
    if (entry.decided) return c.set_bits(i, j, entry.bits);
    const auto bit = static_cast<unsigned long long>(i * n + j);
    atomicOr(open + bit / 32, 1u << (bit % 32));
    atomicAdd(open_count, 1ull);
  }
#endif
};

}  // namespace ozbound::gpu
