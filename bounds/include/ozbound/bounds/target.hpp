#pragma once

#include <string>
#include <string_view>

namespace ozbound {

/// What the user asks of C = alpha A B + beta C0; docs/derivations/targets.md (T0). M = |alpha||A||B| + |beta||C0|; u is the
/// unit roundoff of C's format (2^-53 or 2^-24), eta its smallest subnormal number. Every target holds up to eta/2 of underflow
/// an entry (k eta/2 for `dgemm`).
struct Target {
  enum class Kind {
    correctly_rounded,  ///< `cr`: every entry is the exact value rounded once, to nearest, ties to even
    dgemm,              ///< |C^ - C| <= max(k, 1) u M: what Jeannerod and Rump guarantee of a conventional DGEMM
    componentwise,      ///< |C^ - C| <= tau M
    rowcol,             ///< |C^ - C|_ij <= tau (|alpha| ||a_i||_2 ||b_j||_2 + |beta||C0|_ij)
    normwise,           ///< ||C^ - C||_F <= tau ||M||_F
    relative,           ///< |C^ - C| <= tau |C|
  };

  Kind kind = Kind::dgemm;
  double tau = 0;  ///< > 0 and finite; 0 and unused for `cr` and `dgemm`

  static Target correctly_rounded() { return {Kind::correctly_rounded, 0}; }
  static Target dgemm() { return {Kind::dgemm, 0}; }
  static Target componentwise(double tau);
  static Target rowcol(double tau);
  static Target normwise(double tau);
  static Target relative(double tau);

  bool operator==(const Target& other) const;
};

/// `cr`, `dgemm`, `componentwise:1e-14`, `rowcol:…`, `normwise:…`, `relative:…`; tau decimal or hexadecimal.
/// @throws std::invalid_argument for any other spelling, or a tau that is not positive and finite.
Target parse_target(std::string_view text);

/// The canonical spelling: parse_target(to_string(t)) == t, bit for bit.
std::string to_string(const Target& target);

}  // namespace ozbound
