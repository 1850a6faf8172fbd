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

/// How digits lie in memory: what the kernel that multiplies them wants.
struct PanelLayout {
  Index vectors = 8;            ///< of a panel; the last one may have fewer
  Index block = 1024;           ///< digits of a slice that lie together, at most most_block, rounded up to `multiple`
  Index step = 4;               ///< digits of a vector that lie side by side: 4, or a multiple of 32
  Index multiple = 4;           ///< of step, to which the inner dimension is filled up with zero digits; at most most_block
  bool unsigned_bytes = false;  ///< digits are stored as uint8, not int8

  static constexpr Index most_block = Index{1} << 23;  ///< whose digits' sum INT32 holds

  /// What is made of it for an inner dimension: the block rounded up, and no longer than that is.
  [[nodiscard]] PanelLayout of(Index inner) const;

  /// Up to the next multiple of `multiple`.
  [[nodiscard]] Index filled_up(Index digits) const { return (digits + multiple - 1) / multiple * multiple; }

  bool operator==(const PanelLayout&) const = default;
};

/// A way to sum products of digits in INT32 on this processor. All give the same bits, for INT32 sums that do not overflow are
/// exact; they differ in speed alone.
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
  /// first a_vectors rows and b_vectors columns; what is stored elsewhere in rows() * columns() sums is undefined.
  ///
  /// Digit l of vector i lies at a[(l / step * a_vectors + i) * step + l % step] for the layout's step; b alike, in bytes that
  /// are int8 or uint8 as its layout says. Reads up to panel_slack bytes beyond either panel.
  /// @pre a KernelScope of this thread; digits is a multiple of the layout's.
  void multiply(const std::int8_t* a, Index a_vectors, const std::int8_t* b, Index b_vectors, Index digits,
                std::int32_t* products) const;

  static constexpr std::size_t panel_slack = 1024;
};

/// While it lives, its thread may multiply by the kernel: units that are configured before they are used are, and are given
/// back at its end. Within, nothing else uses such a unit.
class KernelScope {
 public:
  explicit KernelScope(const Kernel& kernel);
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;

 private:
  const KernelFunctions& functions_;
};

/// The kernels that this processor runs, the fastest first; the last is `portable`. The first call asks the system for what
/// they need: on Linux, for the tiles of AMX, which every thread of the process then may use, those from before it and children
/// of fork() too. Linux refuses where a thread's alternate signal stack does not hold a frame with tiles, some 11 KiB, and then
/// there is no `amx`; where it grants them, it refuses such stacks from then on. Nothing is asked for, and there is no `amx`,
/// where OZBOUND_KERNEL names another kernel.
std::span<const Kernel* const> kernels();

/// The kernel that the environment variable OZBOUND_KERNEL names, or the fastest one.
/// @throws std::invalid_argument naming the variable if there is no such kernel, or this processor does not run it.
const Kernel& default_kernel();

/// @throws std::invalid_argument naming those that there are.
const Kernel& find_kernel(std::string_view name);

}  // namespace ozbound
