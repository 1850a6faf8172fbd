// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ozbound/bounds/rounding_error.hpp"
#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Bounds |C^ - C| for every entry of C = alpha A B + beta C0:
///
///   |alpha| * product(i, j) * 2^(row_exponents[i] + column_exponents[j])  +  rounding of C^,
///
/// where the rounding is max(result_factor |C^|, underflow) for one rounding, and their sum for a chain of roundings.
///
/// For a complex C the members describe its stacked parts (core/real_representation.hpp). Functions that take a Part, or a
/// complex C, find an entry's place in them.
struct ErrorBound : RoundingError {
  std::string source;                    ///< the equation behind the bound
  std::vector<std::string> assumptions;  ///< unproven assumptions; empty for bounds from integers only
  EntryBound product;                    ///< named terms, relative to the scales
  std::vector<std::int32_t> row_exponents;
  std::vector<std::int32_t> column_exponents;

  /// The bound of entry (i, j) whose computed value has magnitude |c_hat|, rounded up; +Inf if it exceeds a double.
  [[nodiscard]] double upper(Index i, Index j, double c_hat) const;

  /// The bound of one part of entry (i, j) of a complex C; `c_hat` is the computed part.
  [[nodiscard]] double upper(Index i, Index j, Part part, double c_hat) const {
    return upper(2 * i + (part == Part::real ? 0 : 1), j, c_hat);
  }

  /// upper(i, j, c(i, j)) for every entry of a computed C, m x n; NaN if C is a NaN, which has no error.
  /// @throws std::invalid_argument if C is not m x n.
  [[nodiscard]] Matrix<double> of_entries(InputView c) const;

  /// Bounds for a complex C: the real part of each result bounds the real part's error, the imaginary part the imaginary
  /// part's.
  [[nodiscard]] Matrix<std::complex<double>> of_entries(const ComplexInputView& c) const;

  /// A function of (i, j) that returns upper(i, j, c(i, j)) for a computed C. `c` must outlive it.
  [[nodiscard]] std::function<double(Index, Index)> over(InputView c) const;
};

}  // namespace ozbound
