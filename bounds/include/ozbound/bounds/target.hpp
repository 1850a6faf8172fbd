// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

struct Format;

/// The accuracy that the user requires of C = alpha A B + beta C0; docs/derivations/targets.md (T0). M = |alpha||A||B| +
/// |beta||C0|; u is the unit roundoff of C's format (2^-53 or 2^-24), eta its smallest subnormal number. Every target holds up
/// to eta/2 of underflow per entry (max(k, 1) eta/2 for `dgemm`).
///
/// Do not use normwise(tau) for ||C^ - C||_F <= tau ||C||_F: it is relative to ||M||_F, which may be far larger than ||C||_F.
/// relative(tau) is relative to C, entry by entry, and implies that bound too, apart from underflow.
/// Do not use componentwise(1e-8) for products of floats, or any tau below u, here 6e-8: no rounded C meets it, and `decide`
/// throws CannotCertify.
struct Target {
  enum class Kind {
    correctly_rounded,  ///< `cr`: every entry is the exact value rounded once, to nearest, ties to even
    dgemm,              ///< |C^ - C| <= target_tau M: the guarantee of a conventional DGEMM (general_bound.md, G7)
    dgemm_typical,      ///< dgemm with the root of the number of roundings: typical for random signs (targets.md, T9)
    componentwise,      ///< |C^ - C| <= tau M
    rowcol,             ///< |C^ - C|_ij <= tau (|alpha| ||a_i||_2 ||b_j||_2 + |beta||C0|_ij)
    normwise,           ///< ||C^ - C||_F <= tau ||M||_F: relative to M, not to C
    relative,           ///< |C^ - C| <= tau |C|
  };

  Kind kind = Kind::dgemm;
  double tau = 0;  ///< > 0 and finite; 0 and unused if the kind has no tau

  static Target correctly_rounded() { return {Kind::correctly_rounded, 0}; }
  static Target dgemm() { return {Kind::dgemm, 0}; }
  static Target dgemm_typical() { return {Kind::dgemm_typical, 0}; }
  static Target componentwise(double tau);
  static Target rowcol(double tau);
  static Target normwise(double tau);
  static Target relative(double tau);

  /// True if the user states a tau with the kind: all kinds except `cr`, `dgemm` and `dgemm-typical`.
  [[nodiscard]] bool has_tau() const;

  bool operator==(const Target& other) const;
};

/// True if C = alpha A B + beta C0 has more roundings in a conventional DGEMM than +-A B: alpha is not +-1, or beta is not 0.
bool has_scalars(double alpha, double beta);

/// tau of a target for an inner dimension k and a format of C, rounded down. It is 0 for `cr`. For +-A B it is max(k, 1) u for
/// `dgemm` and sqrt(max(k, 1)) u for `dgemm-typical`. For a product with scalars, with n = k + 3, it is gamma_n = n u /
/// (1 - n u) and sqrt(n) u. (If n u > 1/2, 2 n u replaces gamma_n, which is then larger.)
double target_tau(const Target& target, Index k, const Format& format, bool with_scalars);

/// The reference of a normwise result, for people, after the words "relative to".
inline constexpr std::string_view normwise_measure = "|| |alpha||A||B| + |beta||C0| ||_F, not to ||C||_F";

/// Parses one of target_spellings(), such as `dgemm` or `componentwise:1e-14`; tau is decimal or hexadecimal.
/// @throws std::invalid_argument for any other spelling, or a tau that is not positive and finite.
Target parse_target(std::string_view text);

/// The canonical spelling: parse_target(to_string(t)) == t, bit for bit.
std::string to_string(const Target& target);

/// The spellings of all kinds of target, for people: `cr, dgemm, …, componentwise:TAU, … or relative:TAU`.
std::string target_spellings();

}  // namespace ozbound
