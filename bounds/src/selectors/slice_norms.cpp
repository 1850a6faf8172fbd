#include <cmath>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/scheme.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

/// |B| e.
std::vector<double> row_sums(InputView b) {
  std::vector<double> sums(static_cast<std::size_t>(b.rows()));
  for (Index l = 0; l < b.rows(); ++l)
    for (Index j = 0; j < b.cols(); ++j) sums[static_cast<std::size_t>(l)] += double_from_bits(b.bits(l, j) & ~binary64.sign);
  return sums;
}

/// |A| v or |A_d| v of row i, as the paper evaluates them: plain doubles, without a claim.
double estimate_row(InputView a, Index i, const std::vector<double>& v) {
  double sum = 0;
  for (Index l = 0; l < a.cols(); ++l) sum += double_from_bits(a.bits(i, l) & ~binary64.sign) * v[static_cast<std::size_t>(l)];
  return sum;
}

double estimate_slice_row(const SlicedMatrix& a, Index i, int d, const std::vector<double>& v) {
  double sum = 0;
  const auto* digits = a.slice(i, d);
  for (Index l = 0; l < a.inner_dimension(); ++l)
    sum += std::abs(static_cast<double>(digits[l])) * v[static_cast<std::size_t>(l)];
  return std::ldexp(sum, a.exponent(i) + a.slicing().encoding.weight_exponent(d));
}

}  // namespace

Selection select_by_slice_norms(InputView a, InputView b, const Target& target, const Engine& engine) {
  const FloatEnvironment environment;
  const double tau = target.kind == Target::Kind::dgemm ? 2 * std::sqrt(static_cast<double>(a.cols())) * 0x1p-53 : target.tau;
  const auto v = row_sums(b);
  for (int d = 2; d <= max_slices; ++d) {
    const auto plan = find_scheme("ozimmu-h").plan(d, d, a.cols());
    const auto sliced = engine.slice(a, Side::rows_of_a, plan.a);
    bool enough = true;
    for (Index i = 0; i < a.rows() && enough; ++i) {
      const double allowed = tau * estimate_row(a, i, v), left = (d + 1) * estimate_slice_row(sliced, i, d, v);
      enough = allowed > left || (allowed == 0 && left == 0);
    }
    if (enough) return {plan, false};
  }
  return {};
}

}  // namespace ozbound
