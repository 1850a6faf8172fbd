// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/sliced_matrix.hpp"

namespace ozbound {

struct KernelFunctions;

/// The layout of digits in memory that a kernel needs.
struct PanelLayout {
  Index vectors = 8;            ///< vectors of a panel; the last panel may have fewer
  Index block = 1024;           ///< adjacent digits of a slice, at most most_block, rounded up to `multiple`
  Index step = 4;               ///< adjacent digits of a vector: 4, or a multiple of 32
  Index multiple = 4;           ///< multiple of step; zero digits fill the inner dimension up to it; at most most_block
  bool unsigned_bytes = false;  ///< digits are stored as uint8, not int8

  static constexpr Index most_block = Index{1} << 23;  ///< sums of this many digits fit INT32

  /// The layout for an inner dimension: `block` rounded up, and no longer than the inner dimension.
  [[nodiscard]] PanelLayout of(Index inner) const;

  /// `digits` rounded up to the next multiple of `multiple`.
  [[nodiscard]] Index filled_up(Index digits) const { return (digits + multiple - 1) / multiple * multiple; }

  bool operator==(const PanelLayout&) const = default;
};

/// A way to sum products of digits in INT32 on this processor. INT32 sums that do not overflow are exact, so all kernels give
/// the same bits; they differ only in speed.
///
/// Operands are panels of a PanelSlices of the kernel's layout: up to rows() vectors of A, up to columns() of B.
struct Kernel {
  /// `amx`, `avx512vnni`, `avxvnni`, `avx512bw`, `avx2`, `sse2`, `neon_dotprod`, `portable`.
  std::string_view name;
  const KernelFunctions* functions;

  [[nodiscard]] Index rows() const;
  [[nodiscard]] Index columns() const;
  [[nodiscard]] PanelLayout layout(Side side, Index block = PanelLayout{}.block) const;

  /// The sums over `digits` digits of a(i, l) * b(j, l), modulo 2^32 in two's complement: products[i * columns() + j] for the
  /// first a_vectors rows and b_vectors columns. The rest of the rows() * columns() sums is undefined.
  ///
  /// Digit l of vector i lies at a[(l / step * a_vectors + i) * step + l % step] for the layout's step, and likewise in b.
  /// Bytes are int8 or uint8 as the layout says. Reads up to panel_slack bytes beyond either panel.
  /// @pre a KernelScope of this thread lives; digits is a multiple of the layout's `multiple`.
  void multiply(const std::int8_t* a, Index a_vectors, const std::int8_t* b, Index b_vectors, Index digits,
                std::int32_t* products) const;

  static constexpr std::size_t panel_slack = 1024;
};

/// While it lives, its thread may multiply with the kernel. Configures units that need it, and releases them at its end. No
/// other code may use such a unit within the scope.
class KernelScope {
 public:
  explicit KernelScope(const Kernel& kernel);
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  const KernelFunctions& functions_;
};

/// The kernels that this processor runs, the fastest first; the last is `portable`. The first call asks the system for
/// permissions: on Linux, for the AMX tiles. A grant holds for every thread of the process, including older ones and children
/// of fork(). Linux refuses if a thread's alternate signal stack does not hold a frame with tiles, about 11 KiB; then there is
/// no `amx`. After a grant, Linux refuses such small stacks. If OZBOUND_KERNEL names another kernel, the call asks for nothing,
/// and there is no `amx`.
std::span<const Kernel* const> kernels();

/// The kernel named by the environment variable OZBOUND_KERNEL, or the fastest one.
/// @throws std::invalid_argument naming the variable if there is no such kernel, or this processor does not run it.
const Kernel& default_kernel();

/// @throws std::invalid_argument naming the available kernels.
const Kernel& find_kernel(std::string_view name);

}  // namespace ozbound
