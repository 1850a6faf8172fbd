#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>

namespace ozbound::models {

/// A whole number of any length. (With expression templates GCC warns of what is not uninitialised.)
using Whole = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

/// |x| 2^-shift as a whole number, to nearest, ties to even, or truncated. @pre x, shift >= 0.
inline Whole shifted_down(const Whole& x, int shift, bool truncated) {
  const auto by = static_cast<unsigned>(shift);
  Whole kept = x >> by;
  if (truncated || shift == 0) return kept;
  const Whole rest = x - (kept << by);
  const Whole half = Whole(1) << (by - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  return kept;
}

/// x 2^quantum in a format of `precision` <= 53 bits with normal exponents from `least` to `largest`, rounded once; a zero is
/// +0.
inline double rounded_once(const Whole& x, int quantum, int precision, int least, int largest, bool truncated = false) {
  const Whole magnitude = abs(x);
  if (magnitude == 0) return 0;
  const int leading = quantum + static_cast<int>(msb(magnitude));
  const int last = std::max(leading, least) - precision + 1;
  const int shift = last - quantum;
  const Whole whole = shift > 0 ? shifted_down(magnitude, shift, truncated) : Whole(magnitude << static_cast<unsigned>(-shift));
  double size = whole == 0 ? 0 : std::ldexp(static_cast<double>(whole), last);
  const double limit = std::ldexp(2 - std::ldexp(1.0, 1 - precision), largest);
  if (size > limit) size = truncated ? limit : std::numeric_limits<double>::infinity();
  return x < 0 && size != 0 ? -size : size;
}

}  // namespace ozbound::models
