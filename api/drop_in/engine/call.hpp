// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "drop_in.h"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound::drop_in {

/// A call's arguments, independent of its calling convention.
struct Call {
  const ozd_call& as_made;
  char layout;      ///< 'R' or 'C'; '?' if invalid
  char op_a, op_b;  ///< 'N', 'T' or 'C'; '?' if invalid
  Index m, n, k, lda, ldb, ldc;
  double alpha, beta;  ///< floats are converted exactly

  explicit Call(const ozd_call& made);

  [[nodiscard]] bool single() const { return as_made.site->name->single != 0; }
  [[nodiscard]] std::string routine() const { return as_made.site->name->name; }
  [[nodiscard]] std::string object() const { return as_made.site->object; }
  [[nodiscard]] std::string ops() const { return {op_a, op_b}; }

  /// True if nobody can tell how wide the library's integers are. The sizes above are then not known.
  [[nodiscard]] bool width_is_unknown() const { return as_made.site->bits == -1; }

  /// True if the program's BLAS accepts the arguments. For others, the library itself reports the error.
  [[nodiscard]] bool is_valid() const;

  /// True if nothing is multiplied.
  [[nodiscard]] bool is_empty() const { return m == 0 || n == 0 || k == 0 || alpha == 0; }

  [[nodiscard]] double work() const { return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }

  /// True if m n k is below `least_work`. Uses no operation that raises a floating-point exception. @pre is_valid()
  [[nodiscard]] bool is_below(std::uint64_t least_work) const;

  /// @pre is_valid()
  [[nodiscard]] RealProduct product() const;

  /// Runs the program's own routine exactly as the program called it.
  void run_natively() const { as_made.native(&as_made); }
};

}  // namespace ozbound::drop_in
