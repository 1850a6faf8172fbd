// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "drop_in.h"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound::drop_in {

/// A call's arguments, whatever the convention that it was made by.
struct Call {
  const ozd_call& as_made;
  char layout;      ///< 'R' or 'C', or '?'
  char op_a, op_b;  ///< 'N', 'T' or 'C', or '?'
  Index m, n, k, lda, ldb, ldc;
  double alpha, beta;  ///< of floats the same values

  explicit Call(const ozd_call& made);

  [[nodiscard]] bool single() const { return as_made.site->name->single != 0; }
  [[nodiscard]] std::string routine() const { return as_made.site->name->name; }
  [[nodiscard]] std::string object() const { return as_made.site->object; }
  [[nodiscard]] std::string ops() const { return {op_a, op_b}; }

  /// Whether the reference BLAS takes the arguments. What it does not take is the library's to complain of.
  [[nodiscard]] bool is_valid() const;

  /// Whether nothing is multiplied.
  [[nodiscard]] bool is_empty() const { return m == 0 || n == 0 || k == 0 || alpha == 0; }

  [[nodiscard]] double work() const { return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }

  /// Whether m n k is below that, without an operation that raises a floating-point exception. @pre is_valid()
  [[nodiscard]] bool is_below(std::uint64_t least_work) const;

  /// @pre is_valid()
  [[nodiscard]] RealProduct product() const;

  /// Runs the program's own routine as the program called it.
  void run_natively() const { as_made.native(&as_made); }
};

}  // namespace ozbound::drop_in
