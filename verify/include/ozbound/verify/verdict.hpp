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

/// Whether a computed C is as accurate as claimed, and its worst entry. Of a complex C (Operands) the real and the imaginary
/// parts are judged, and counted, each by itself, and the worst is a part of entry (row, col). No rounding hides a failure:
/// errors are rounded upward, bounds downward, ratios upward. So a claim met with equality may read as a ratio a few 2^-52
/// above 1; a correctly rounded entry never does.
struct Verdict {
  std::string claim;                              ///< what was judged: a target's spelling, or "bound"
  ResultFormat format = ResultFormat::of_double;  ///< of C
  Index entries = 0;                              ///< judged
  Index failures = 0;                             ///< entries with ratio > 1; for `normwise`, 1 where the whole fails
  Index special_mismatches = 0;  ///< entries where a NaN or an infinity of the inputs is missing, wrong or uncalled for
  Index undecided = 0;           ///< entries of `cr` whose rounding the oracle's precision leaves open; they count as failures

  Index row = -1, col = -1;  ///< the worst entry: largest ratio, then largest error, then first; -1 where none was judged
  double computed = 0;       ///< there
  double exact = 0;          ///< there, rounded once to the format (an approximation where `undecided`)
  bool complex = false;      ///< C is, and `part` says which part of that entry
  Part part = Part::real;
  Magnitude error;        ///< there, |computed - c|; for `cr` |computed - exact|; for `normwise` ||C^ - C||_F
  Magnitude bound;        ///< there, what the claim allows, 0 for `cr`; for `normwise` that of the whole
  bool of_norms = false;  ///< `error` and `bound` are Frobenius norms over all entries: of `normwise`
  double ratio = 0;       ///< error / bound, 0 / 0 = 0, Inf beyond the range; Inf for a mismatch or an undecided entry, and for
                          ///< `cr` wherever the bits differ (-0 for +0 included)

  std::string reproduction;  ///< the caller's command line

  /// Exactly when ratio <= 1.
  [[nodiscard]] bool holds() const { return ratio <= 1; }
};

/// Which entries are judged, and what reproduces the verdict.
struct JudgeOptions {
  EntrySelection selection = EntrySelection::all();
  std::string reproduction = {};
};

/// Judges C against an absolute bound for each entry (>= 0, +Inf allowed), which is called from several threads at once.
/// @throws std::invalid_argument if C is not as large as the oracle's product, or a bound is negative or NaN.
Verdict verify(const ResultView& c, const Oracle& oracle, const std::function<double(Index, Index)>& bound,
               const JudgeOptions& options = {});

/// Judges C, of whatever origin, against a target as target.hpp states it, with u and eta of C's own format.
///
/// Underflow: eta/2 more an entry (max(k, 1) eta/2 for `dgemm`, sqrt(mn) eta/2 in the Frobenius norm, none for `cr`). Entries
/// that are NaN or infinite by the inputs are judged by class and stay out of norms.
/// @throws std::invalid_argument if C is not as large as the oracle's product, or a sample is to be judged `normwise`.
Verdict verify(const ResultView& c, const Oracle& oracle, const Target& target, const JudgeOptions& options = {});

/// The verdict in words, several lines: the worst (i, j), both values in hex, error over bound, reproduction line.
std::string explain(const Verdict& verdict);

/// One object; values, error and bound as hexadecimal strings, an infinite ratio as "inf"; `part` of a complex C.
nlohmann::json to_json(const Verdict& verdict);

}  // namespace ozbound
