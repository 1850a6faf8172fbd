// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/entry_selection.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/result_view.hpp"

namespace ozbound {

/// The accuracy of a computed C, without a claim to judge. Ratios are rounded upward; 0/0 = 0; Inf beyond the range. Underflow
/// gets no allowance. Entries that are NaN or infinite because of the inputs count only in `entries` and `special_mismatches`.
struct Measurement {
  Index entries = 0;
  Index special_mismatches = 0;     ///< a NaN or infinity of the inputs is missing, wrong or unexpected
  Index not_correctly_rounded = 0;  ///< the bits differ from c rounded once (mismatches and undecided entries are not counted)
  Index undecided = 0;              ///< the oracle's precision leaves the correct rounding open
  double componentwise_upper = 0;   ///< max |C^ - C| / M
  double dgemm_upper = 0;           ///< max |C^ - C| / (max(k, 1) u M)
  double dgemm_typical_upper = 0;   ///< max |C^ - C| / (sqrt(max(k, 1)) u M)
  double normwise_upper = 0;        ///< ||C^ - C||_F / ||M||_F over the measured entries
  double relative_upper = 0;        ///< max |C^ - C| / |C|
};

/// @throws std::invalid_argument if C is not as large as the oracle's product.
Measurement measure(const ResultView& c, const Oracle& oracle, const EntrySelection& selection = EntrySelection::all());

}  // namespace ozbound
