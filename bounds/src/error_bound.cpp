#include "ozbound/bounds/error_bound.hpp"

#include "ozbound/bounds/rounded_error.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {

double ErrorBound::upper(Index i, Index j, double c_hat) const {
  const FloatEnvironment environment;
  const auto scale = std::int64_t{row_exponents[static_cast<std::size_t>(i)]} + column_exponents[static_cast<std::size_t>(j)];
  return rounded_error_upper(*this, product.upper(i, j), scale, c_hat);
}

std::function<double(Index, Index)> ErrorBound::over(InputView c) const {
  return [this, c](Index i, Index j) { return upper(i, j, double_from_bits(c.bits(i, j))); };
}

}  // namespace ozbound
