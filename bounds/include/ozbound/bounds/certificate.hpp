// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/error_bound.hpp"
#include "ozbound/core/complex_views.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The schema of a certificate's JSON (docs/records.md).
inline constexpr const char* certificate_schema = "ozbound-certificate-5";
/// Also read: its tau of `dgemm` and `dgemm-typical` does not depend on alpha and beta.
inline constexpr const char* former_certificate_schema = "ozbound-certificate-4";

/// What a product was made of and what it is, so that a certificate of another is seen to be one. docs/records.md has the
/// definition.
struct Fingerprints {
  std::optional<std::uint64_t> a, b;  ///< of op(A), op(B); none where alpha = 0 or C is empty
  std::optional<std::uint64_t> c0;    ///< none where beta = 0
  std::uint64_t c = 0;
};

/// The imaginary parts of the scalars of a complex product.
struct ImaginaryParts {
  double alpha = 0;
  double beta = 0;
};

/// What is known of a C after it was computed: the bound, and whether the target holds. docs/records.md has the JSON schema.
///
/// Not a C that is used without a look at `holds`: under a decision made for other operands C is written all the same, and
/// `holds` is about the operands of this call.
/// Not `ratio` for an error of C: it is the bound over what the target allows. bound.upper(i, j, c(i, j)) is the error's bound;
/// of a complex C each part has its own, bound.upper(i, j, Part::imaginary, c(i, j).imag()).
struct Certificate {
  Target target;
  Method method = Method::one_plan;  ///< what ran
  std::vector<Plan> plans;           ///< what was multiplied, in order: more than one where entries asked for more slices
  Index m = 0;
  Index n = 0;
  Index k = 0;
  double alpha = 1;
  double beta = 0;
  bool complex = false;                     ///< the product is; then m, n and k are of complex matrices, counts of parts
  std::optional<ImaginaryParts> imaginary;  ///< where one is not zero
  bool narrow = false;                      ///< C has the format binary32
  Fingerprints fingerprints;
  bool holds = false;  ///< the target is proven for every entry that is not special
  double ratio = 0;    ///< largest error bound, rounding included, over what the target allows; at most 1 where it holds
  Index worst_i = 0;   ///< where
  Index worst_j = 0;
  Part worst_part = Part::real;   ///< of that entry of a complex C
  std::string assumed_in_search;  ///< what finding that entry took on trust; empty for nothing
  double largest_bound = 0;       ///< largest absolute bound of an entry
  Index undecided = 0;            ///< entries that slices left open (cr, relative); of complex scalars both parts where one is
  Index exact = 0;                ///< entries finished by the superaccumulator, likewise; also those that slices overflow at
  std::string native;             ///< the library that ran, for native
  ErrorBound bound;               ///< per entry

  /// That entry in words: `entry (2, 0)`, or `the imaginary part of entry (2, 0)`.
  [[nodiscard]] std::string worst_entry() const;

  /// All that is taken on trust, by the bound and in the search.
  [[nodiscard]] std::vector<std::string> assumptions() const;

  /// The proven bound over what a conventional DGEMM typically leaves, sqrt(max(k, 1)) u M (of normwise targets its Frobenius
  /// norm), rounded up; M = |alpha||A||B| + |beta||C0| (docs/derivations/targets.md, T10), 2k for the k of a complex product.
  /// Infinite where nothing is proven; none for `rowcol`, whose measure is not M.
  [[nodiscard]] std::optional<double> typical_factor_upper() const;
};

/// The record of a certificate. It has the norms that `bound` is made of, eight bytes each, 6 (m + n) of them a slice or so,
/// and a seal over all other members, by which an alteration shows. recorded_bound.hpp reads the bound back.
nlohmann::json to_json(const Certificate& certificate);

}  // namespace ozbound
