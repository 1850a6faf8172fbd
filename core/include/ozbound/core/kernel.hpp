// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

struct KernelFunctions;

/// A way to sum products of digits in INT32 on this processor. All give the same bits, for INT32 sums that do not overflow are
/// exact; they differ in speed alone.
///
/// Operands are panels of a PanelSlices: up to rows() vectors of A, up to columns() of B.
struct Kernel {
  std::string_view name;  ///< `avx512vnni`, `avxvnni`, `avx512bw`, `avx2`, `sse2`, `neon_dotprod`, `portable`
  const KernelFunctions* functions;

  [[nodiscard]] Index rows() const;
  [[nodiscard]] Index columns() const;

  /// Digits of one vector that lie side by side in a panel, and are multiplied together.
  static constexpr Index step_digits = 4;

  /// The sums over `steps` * step_digits digits of a(i, l) * b(j, l), modulo 2^32 in two's complement: products[i * columns() +
  /// j] for the first a_vectors rows and b_vectors columns; what is stored elsewhere in rows() * columns() sums is undefined.
  ///
  /// Digit l = step_digits * t + d of vector i lies at a[(t * a_vectors + i) * step_digits + d], as int8; b alike, as uint8.
  /// Reads up to panel_slack bytes beyond either panel.
  void multiply(const std::int8_t* a, Index a_vectors, const std::uint8_t* b, Index b_vectors, Index steps,
                std::int32_t* products) const;

  static constexpr std::size_t panel_slack = 256;
};

/// The kernels that this processor runs, the fastest first; the last is `portable`.
std::span<const Kernel* const> kernels();

/// The kernel that the environment variable OZBOUND_KERNEL names, or the fastest one.
/// @throws std::invalid_argument naming the variable if there is no such kernel, or this processor does not run it.
const Kernel& default_kernel();

/// @throws std::invalid_argument naming those that there are.
const Kernel& find_kernel(std::string_view name);

}  // namespace ozbound
