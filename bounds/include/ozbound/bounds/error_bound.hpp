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
/// where the rounding is max(result_factor |C^|, underflow) for one rounding, and their sum for a chain of them.
///
/// Of a complex C the members are of its stacked parts (core/real_representation.hpp); functions that take a Part, or a complex
/// C, know where in them an entry lies.
struct ErrorBound : RoundingError {
  std::string source;                    ///< the equation it comes from
  std::vector<std::string> assumptions;  ///< what it takes on trust; empty for bounds that rest on integers alone
  EntryBound product;                    ///< named terms, relative to the scales
  std::vector<std::int32_t> row_exponents;
  std::vector<std::int32_t> column_exponents;

  /// The bound of entry (i, j) whose computed value has magnitude |c_hat|, rounded up; +Inf where it is beyond a double.
  [[nodiscard]] double upper(Index i, Index j, double c_hat) const;

  /// The bound of one part of entry (i, j) of a complex C, `c_hat` being that part as it was computed.
  [[nodiscard]] double upper(Index i, Index j, Part part, double c_hat) const {
    return upper(2 * i + (part == Part::real ? 0 : 1), j, c_hat);
  }

  /// upper(i, j, c(i, j)) for every entry of a computed C, m x n; NaN where C is a NaN, which has no error.
  /// @throws std::invalid_argument if C is not m x n.
  [[nodiscard]] Matrix<double> of_entries(InputView c) const;

  /// The same of a complex C: in each real part the bound of the real part's error, and so for imaginary parts.
  [[nodiscard]] Matrix<std::complex<double>> of_entries(const ComplexInputView& c) const;

  /// upper(i, j, c(i, j)) for a computed C, as a function of the entry. `c` must outlive it.
  [[nodiscard]] std::function<double(Index, Index)> over(InputView c) const;
};

}  // namespace ozbound
