// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/word_format.hpp"

#include <cmath>
#include <stdexcept>

#include "models/rounded.hpp"
#include "ozbound/core/dyadic.hpp"

namespace ozbound::models {

double WordFormat::unit_roundoff() const { return std::ldexp(1.0, -precision); }

double WordFormat::half_subnormal() const { return std::ldexp(1.0, least_exponent - 1); }

float round_to(const WordFormat& format, double x, Rounding rounding) {
  if (std::isnan(x)) throw std::invalid_argument("a NaN has no " + std::string(format.name) + " word");
  if (std::isinf(x)) return static_cast<float>(x);
  const auto number = to_dyadic(x);
  return static_cast<float>(rounded<VerifyUint128>(number.magnitude, number.exponent, number.negative, format, rounding));
}

}  // namespace ozbound::models
