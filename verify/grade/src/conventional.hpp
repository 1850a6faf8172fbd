// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/verify/entry_selection.hpp"
#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/result_view.hpp"

namespace ozbound::grading {

/// Compares a computed C with the guarantee of every conventional dgemm, fused multiply-adds included: k u |A||B| + k eta/2 if
/// alpha = +-1 and beta = 0 (Jeannerod and Rump 2013), else gamma_{k+3} (|alpha||A||B| + |beta||C0|), for data whose
/// intermediate results neither overflow nor underflow (docs/grading.md).
///
/// An entry whose terms sum to 2^1023 or more may overflow on the way to a finite result. If it is then an infinity or a NaN,
/// it is counted in `overflowed` and not judged.
struct Conventional {
  Index entries = 0;
  Index failures = 0;    ///< entries with ratio > 1
  Index overflowed = 0;  ///< not judged

  /// An entry that is not judged.
  struct Overflowed {
    Index row = -1, col = -1;
    double computed = 0, exact = 0;
  };
  Overflowed first_overflowed;

  Index row = -1, col = -1;  ///< the entry with the largest ratio, the first among equals
  double computed = 0;       ///< of that entry
  double exact = 0;          ///< of that entry, rounded once
  Magnitude error, bound;    ///< of that entry
  double ratio = 0;          ///< error / bound, 0 / 0 = 0; Inf for a NaN or an infinity that is missing, wrong or unexpected

  [[nodiscard]] bool holds() const { return failures == 0; }
};

/// @throws std::invalid_argument if C is not as large as the oracle's product.
Conventional judge_conventional(const ResultView& c, const Oracle& oracle,
                                const EntrySelection& selection = EntrySelection::all());

/// `worst entry (3, 4): computed 0x1p+0, exact 0x1.8p+0, error 0x1p-1, bound 0x1p-50, ratio 5.6e+14; 3 of 20 entries fail`.
std::string explain(const Conventional& judged);

inline constexpr const char* jeannerod_rump =
    "C.-P. Jeannerod, S. M. Rump, Improved error bounds for inner products in floating-point arithmetic, SIAM J. Matrix "
    "Anal. Appl. 34 (2013)";
inline constexpr const char* higham =
    "N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, sections 3.1 and 3.5";
inline constexpr const char* demmel_grading =
    "J. Demmel, X. Li, J. Langou, W. Pereira, M. Gates, C. Rubio-Gonzalez, How to grade the accuracy of an implementation "
    "of the BLAS, BLIS Retreat 2024";
inline constexpr const char* ieee754 = "IEEE Std 754-2019";
inline constexpr const char* level3_blas =
    "J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, A set of level 3 basic linear algebra subprograms, ACM TOMS 16 (1990)";
inline constexpr const char* blas_exceptions =
    "J. Demmel et al., Proposed consistent exception handling for the BLAS and LAPACK, Correctness 2022, arXiv:2207.09281";

}  // namespace ozbound::grading
