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
/// An older schema that is also read. Its tau of `dgemm` and `dgemm-typical` does not depend on alpha and beta.
inline constexpr const char* former_certificate_schema = "ozbound-certificate-4";

/// Fingerprints of a product's operands and result. They reveal a certificate of another product. docs/records.md has the
/// definition.
struct Fingerprints {
  std::optional<std::uint64_t> a, b;  ///< of op(A), op(B); empty if alpha = 0 or C is empty
  std::optional<std::uint64_t> c0;    ///< empty if beta = 0
  std::uint64_t c = 0;
};

/// The imaginary parts of the scalars of a complex product.
struct ImaginaryParts {
  double alpha = 0;
  double beta = 0;
};

/// The error bound of a computed C, and whether the target holds. docs/records.md has the JSON schema.
///
/// Do not use C without checking `holds`. Under a decision made for other operands C is still written, and `holds` is about the
/// operands of this call. Do not take `ratio` for an error of C: it is the bound over the error that the target allows.
/// bound.upper(i, j, c(i, j)) bounds the error. In a complex C each part has its own bound, bound.upper(i, j, Part::imaginary,
/// c(i, j).imag()).
struct Certificate {
  Target target;
  Method method = Method::one_plan;  ///< the method that ran
  std::vector<Plan> plans;           ///< the plans multiplied, in order: more than one if entries needed more slices
  Index m = 0;
  Index n = 0;
  Index k = 0;
  double alpha = 1;
  double beta = 0;
  bool complex = false;                     ///< a complex product: m, n and k are of complex matrices, counts of parts
  std::optional<ImaginaryParts> imaginary;  ///< set if one is not zero
  bool narrow = false;                      ///< C has the format binary32
  Fingerprints fingerprints;
  bool holds = false;  ///< the target is proven for every entry that is not special
  double ratio = 0;    ///< largest error bound, rounding included, over the allowed error; at most 1 if the target holds
  Index worst_i = 0;   ///< row and column of the largest ratio
  Index worst_j = 0;
  Part worst_part = Part::real;   ///< part of that entry in a complex C
  std::string assumed_in_search;  ///< unproven assumption of the search for that entry; empty if there is none
  double largest_bound = 0;       ///< largest absolute bound of an entry
  Index undecided = 0;            ///< entries left open by slices (cr, relative); complex scalars: both parts if one is open
  Index exact = 0;                ///< entries finished by the superaccumulator, counted likewise; includes overflows of slices
  std::string native;             ///< the library that ran, for method native
  ErrorBound bound;               ///< per entry

  /// The entry with the largest ratio, in words: `entry (2, 0)`, or `the imaginary part of entry (2, 0)`.
  [[nodiscard]] std::string worst_entry() const;

  /// All unproven assumptions of the bound and of the search.
  [[nodiscard]] std::vector<std::string> assumptions() const;

  /// The proven bound over the error that a conventional DGEMM typically leaves, sqrt(max(k, 1)) u M (for normwise targets its
  /// Frobenius norm), rounded up. M = |alpha||A||B| + |beta||C0| (docs/derivations/targets.md, T10); a complex product uses 2k
  /// for k. Infinite if nothing is proven; empty for `rowcol`, whose measure is not M.
  [[nodiscard]] std::optional<double> typical_factor_upper() const;
};

/// The record of a certificate. It contains the norms behind `bound`, about 6 (m + n) numbers of eight bytes per slice, and a
/// seal over all other members, which reveals an alteration. recorded_bound.hpp reads the bound back.
nlohmann::json to_json(const Certificate& certificate);

}  // namespace ozbound
