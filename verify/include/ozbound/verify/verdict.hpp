// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/entry_selection.hpp"
#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/result_view.hpp"

namespace ozbound {

/// The verdict on the accuracy that is claimed for a computed C, with the worst entry. For a complex C (Operands) real and
/// imaginary parts are judged and counted separately, and the worst is one part of entry (row, col). No rounding hides a
/// failure: errors are rounded upward, bounds downward, ratios upward. A claim met with equality may therefore show a ratio a
/// few 2^-52 above 1; a correctly rounded entry never does.
struct Verdict {
  std::string claim;                              ///< the claim: a target's spelling, or "bound"
  ResultFormat format = ResultFormat::of_double;  ///< of C
  Index entries = 0;                              ///< number of judged entries
  Index failures = 0;                             ///< entries with ratio > 1; for `normwise`, 1 if the whole C fails
  Index special_mismatches = 0;  ///< entries where a NaN or an infinity of the inputs is missing, wrong or unexpected
  Index undecided = 0;           ///< entries of `cr` whose rounding the oracle's precision leaves open; they count as failures

  Index row = -1, col = -1;  ///< the worst entry: largest ratio, then largest error, then first; -1 if none was judged
  double computed = 0;       ///< the worst entry's value
  double exact = 0;          ///< the worst entry's exact value, rounded once to the format (an approximation if `undecided`)
  bool complex = false;      ///< C is complex, and `part` names the part of that entry
  Part part = Part::real;
  Magnitude error;        ///< the worst entry's |computed - c|; for `cr` |computed - exact|; for `normwise` ||C^ - C||_F
  Magnitude bound;        ///< the error that the claim allows there, 0 for `cr`; for `normwise` that of the whole C
  bool of_norms = false;  ///< `error` and `bound` are Frobenius norms over all entries, as for `normwise`
  double ratio = 0;       ///< error / bound, 0 / 0 = 0, Inf beyond the range; Inf for a mismatch or an undecided entry, and for
                          ///< `cr` wherever the bits differ (-0 for +0 included)

  std::string reproduction;  ///< the caller's command line

  /// True if ratio <= 1.
  [[nodiscard]] bool holds() const { return ratio <= 1; }
};

/// The entries to judge, and the command that reproduces the verdict.
struct JudgeOptions {
  EntrySelection selection = EntrySelection::all();
  std::string reproduction = {};
};

/// Judges C against an absolute bound for each entry (>= 0, +Inf allowed). Calls `bound` from several threads at once.
/// @throws std::invalid_argument if C is not as large as the oracle's product, or a bound is negative or NaN.
Verdict verify(const ResultView& c, const Oracle& oracle, const std::function<double(Index, Index)>& bound,
               const JudgeOptions& options = {});

/// Judges C, however it was computed, against a target as target.hpp states it, with u and eta of C's own format.
///
/// Allows for underflow eta/2 more per entry (max(k, 1) eta/2 for `dgemm`, sqrt(mn) eta/2 in the Frobenius norm, nothing for
/// `cr`). Entries that are NaN or infinite because of the inputs are judged by class and do not enter norms.
/// @throws std::invalid_argument if C is not as large as the oracle's product, or a sample is to be judged `normwise`.
Verdict verify(const ResultView& c, const Oracle& oracle, const Target& target, const JudgeOptions& options = {});

/// The verdict in words, several lines: the worst (i, j), both values in hex, error over bound, reproduction line.
std::string explain(const Verdict& verdict);

/// One object. Values, error and bound are hexadecimal strings, an infinite ratio is "inf"; a complex C has `part`.
nlohmann::json to_json(const Verdict& verdict);

}  // namespace ozbound
