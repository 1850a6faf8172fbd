// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ozbound/core/encoding.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound {

/// A published or released method for the product of FP64 matrices by slices: a rule that makes a plan.
struct Scheme {
  std::string name;       ///< `ozimmu-ef`
  std::string source;     ///< publication or program, with the algorithm's number
  std::string statement;  ///< encoding, product set and accumulation in one line

  /// Makes the plan for slice counts of A and B, 1 … max_slices, and an inner dimension k >= 0.
  /// @throws std::invalid_argument for other counts, k < 0, or s_A != s_B if the source defines only s_A = s_B.
  SplitPlan (*plan)(int slices_a, int slices_b, Index k);
};

/// All schemes.
std::span<const Scheme> all_schemes();

/// The names of all schemes, for messages: `ozimmu, ozimmu-paper, …`.
std::string scheme_names();

/// @throws std::invalid_argument for an unknown name.
const Scheme& find_scheme(std::string_view name);

/// Reads a plan's own spelling, or `SCHEME:SAxSB`: that scheme's plan for an inner dimension k >= 0.
/// @throws std::invalid_argument naming the part that is wrong.
Plan parse_plan(std::string_view text, Index k);

/// The largest beta <= 7 for which a dot product of length k of the digits of encoding(beta) fits INT32: k D^2 <= 2^31 - 1. If
/// there is no such beta, 1; sums of blocks are then 64-bit. The papers' floor((31 - log2 k) / 2) is the same or less
/// (docs/schemes.md).
int digit_bits(Encoding (*encoding)(int beta), Index k);

}  // namespace ozbound
