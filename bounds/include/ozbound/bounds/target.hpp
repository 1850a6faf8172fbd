// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

struct Format;

/// What the user asks of C = alpha A B + beta C0; docs/derivations/targets.md (T0). M = |alpha||A||B| + |beta||C0|; u is the
/// unit roundoff of C's format (2^-53 or 2^-24), eta its smallest subnormal number. Every target holds up to eta/2 of underflow
/// an entry (max(k, 1) eta/2 for `dgemm`).
///
/// Not normwise(tau) for ||C^ - C||_F <= tau ||C||_F: it is relative to ||M||_F, which may be far larger than ||C||_F.
/// relative(tau) is relative to C, entry by entry, and gives that bound too, underflow apart.
/// Not componentwise(1e-8) for products of floats, or any tau below u, which is 6e-8 there: no rounded C meets it, and `decide`
/// throws CannotCertify.
struct Target {
  enum class Kind {
    correctly_rounded,  ///< `cr`: every entry is the exact value rounded once, to nearest, ties to even
    dgemm,              ///< |C^ - C| <= target_tau M: what a conventional DGEMM guarantees (general_bound.md, G7)
    dgemm_typical,      ///< the same with the root of the number of roundings: what random signs leave (targets.md, T9)
    componentwise,      ///< |C^ - C| <= tau M
    rowcol,             ///< |C^ - C|_ij <= tau (|alpha| ||a_i||_2 ||b_j||_2 + |beta||C0|_ij)
    normwise,           ///< ||C^ - C||_F <= tau ||M||_F: relative to M, not to C
    relative,           ///< |C^ - C| <= tau |C|
  };

  Kind kind = Kind::dgemm;
  double tau = 0;  ///< > 0 and finite; 0 and unused where the kind has none

  static Target correctly_rounded() { return {Kind::correctly_rounded, 0}; }
  static Target dgemm() { return {Kind::dgemm, 0}; }
  static Target dgemm_typical() { return {Kind::dgemm_typical, 0}; }
  static Target componentwise(double tau);
  static Target rowcol(double tau);
  static Target normwise(double tau);
  static Target relative(double tau);

  /// Whether the kind is stated with a tau of the user's: all but `cr`, `dgemm` and `dgemm-typical`.
  [[nodiscard]] bool has_tau() const;

  bool operator==(const Target& other) const;
};

/// Whether C = alpha A B + beta C0 has more roundings in a conventional DGEMM than +-A B: alpha is not +-1, or beta not 0.
bool is_scaled(double alpha, double beta);

/// tau of a target for an inner dimension k and a format of C, rounded down. 0 for `cr`; of +-A B max(k, 1) u for `dgemm` and
/// sqrt(max(k, 1)) u for `dgemm-typical`; of a scaled product, n = k + 3, gamma_n = n u / (1 - n u) and sqrt(n) u. (2 n u where
/// that is less than gamma_n: n u > 1/2.)
double target_tau(const Target& target, Index k, const Format& format, bool scaled);

/// What a normwise result is relative to, for people, after "relative to".
inline constexpr std::string_view normwise_measure = "|| |alpha||A||B| + |beta||C0| ||_F, not to ||C||_F";

/// One of target_spellings(), such as `dgemm` or `componentwise:1e-14`; tau decimal or hexadecimal.
/// @throws std::invalid_argument for any other spelling, or a tau that is not positive and finite.
Target parse_target(std::string_view text);

/// The canonical spelling: parse_target(to_string(t)) == t, bit for bit.
std::string to_string(const Target& target);

/// How each kind of target is spelled, for people: `cr, dgemm, …, componentwise:TAU, … or relative:TAU`.
std::string target_spellings();

}  // namespace ozbound
