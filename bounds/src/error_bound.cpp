#include "ozbound/bounds/error_bound.hpp"

#include "ozbound/bounds/scaled.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/outward.hpp"

namespace ozbound {

double ErrorBound::upper(Index i, Index j, double c_hat) const {
  const FloatEnvironment environment;
  const auto scale = std::int64_t{row_exponents[static_cast<std::size_t>(i)]} + column_exponents[static_cast<std::size_t>(j)];
  return at(product.upper(i, j), scale, c_hat);
}

double ErrorBound::at(double product_upper, std::int64_t scale, double c_hat) const {
  if (!is_finite(bits_of(product_upper), binary64)) return product_upper;
  const double error =
      Scaled::product_upper(Scaled::magnitude(alpha), Scaled::magnitude(product_upper)).times_power_of_two(scale).upper();
  // An overflow is not a rounding: the verdict measures it from the overflow threshold (theory.md, section 2).
  const double magnitude = double_from_bits(bits_of(c_hat) & ~binary64.sign);
  const double rounding = is_finite(bits_of(c_hat), binary64) ? multiply_upper(result_factor, magnitude) : 0;
  if (rounded_once) return add_upper(error, rounding > underflow ? rounding : underflow);
  return add_upper(error, add_upper(rounding, underflow));
}

std::function<double(Index, Index)> ErrorBound::over(InputView c) const {
  return [this, c](Index i, Index j) { return upper(i, j, double_from_bits(c.bits(i, j))); };
}

}  // namespace ozbound
