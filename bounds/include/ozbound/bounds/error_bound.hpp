#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// Bounds |C^ - C| for every entry of C = alpha A B + beta C0:
///
///   |alpha| * product(i, j) * 2^(row_exponents[i] + column_exponents[j])  +  rounding of C^,
///
/// where the rounding is max(result_factor |C^|, underflow) for one rounding, and their sum for a chain of them.
struct ErrorBound {
  std::string source;                    ///< the equation it comes from
  std::vector<std::string> assumptions;  ///< what it takes on trust; empty for bounds that rest on integers alone
  EntryBound product;                    ///< named terms, relative to the scales
  std::vector<std::int32_t> row_exponents;
  std::vector<std::int32_t> column_exponents;
  double alpha = 1;
  double result_factor = 0x1p-53;  ///< u of C's format where C^ is rounded once
  double underflow = 0x1p-1074;    ///< eta/2 of C's format, rounded up to a double
  bool rounded_once = true;

  /// The bound of entry (i, j) whose computed value has magnitude |c_hat|, rounded up; +Inf where it is beyond a double.
  [[nodiscard]] double upper(Index i, Index j, double c_hat) const;

  /// The same of an entry whose product(i, j) is `product_upper`, relative to 2^scale.
  /// @pre the FP environment rounds to nearest and keeps subnormals (FloatEnvironment).
  [[nodiscard]] double at(double product_upper, std::int64_t scale, double c_hat) const;

  /// upper(i, j, c(i, j)) for a computed C, as a function of the entry. `c` must outlive it.
  [[nodiscard]] std::function<double(Index, Index)> over(InputView c) const;
};

}  // namespace ozbound
