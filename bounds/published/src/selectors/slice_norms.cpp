// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdlib>

#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/scheme.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

/// |B| e, where e is the vector of ones.
std::vector<double> row_sums(InputView b) {
  std::vector<double> sums(static_cast<std::size_t>(b.rows()));
  for (Index l = 0; l < b.rows(); ++l)
    for (Index j = 0; j < b.cols(); ++j) sums[static_cast<std::size_t>(l)] += double_from_bits(b.bits(l, j) & ~binary64.sign);
  return sums;
}

// |A| v and |A_d| v in plain doubles, as in the paper, without a proven bound.

std::vector<double> magnitude_times(InputView a, const std::vector<double>& v) {
  std::vector<double> sums(static_cast<std::size_t>(a.rows()));
  for (Index i = 0; i < a.rows(); ++i)
    for (Index l = 0; l < a.cols(); ++l)
      sums[static_cast<std::size_t>(i)] += double_from_bits(a.bits(i, l) & ~binary64.sign) * v[static_cast<std::size_t>(l)];
  return sums;
}

double slice_times(const SlicedMatrix& a, Index i, int d, const std::vector<double>& v) {
  double sum = 0;
  for (Index l = 0; l < a.inner_dimension(); ++l) sum += std::abs(a.digit(i, d, l)) * v[static_cast<std::size_t>(l)];
  return std::ldexp(sum, a.exponent(i) + a.weight_exponent(i, d));
}

/// Number of slices after which no vector has a remainder; at most max_slices.
int slices_until_zero(const SlicedMatrix& operand) {
  for (int p = max_slices; p > 1; --p)
    for (Index i = 0; i < operand.count(); ++i)
      for (Index l = 0; l < operand.inner_dimension(); ++l)
        if (operand.digit(i, p, l) != 0) return p;
  return 1;
}

}  // namespace

// The slices of an adaptive encoding do not depend on their number, so they are made once. If Algorithm 3 finds no d before A
// has no remainder, the paper multiplies every pair of all slices.
Selection select_by_slice_norms(InputView a, InputView b, const Target& target, const Engine& engine) {
  const FloatEnvironment environment;
  const auto scheme = find_scheme("ozimmu-rn");
  const auto most = scheme.plan(max_slices, max_slices, a.cols());
  const auto sliced = engine.slice(a, Side::rows_of_a, most.a);
  const int all_of_a = slices_until_zero(sliced);
  const double typical = std::sqrt(static_cast<double>(a.cols())) * 0x1p-53;
  const double tau = target.kind == Target::Kind::dgemm ? 2 * typical : selector_tau(target, a.cols());
  const auto v = row_sums(b), m = magnitude_times(a, v);
  for (int d = 2; d <= all_of_a; ++d) {
    bool enough = true;
    for (Index i = 0; i < a.rows() && enough; ++i) {
      const double allowed = tau * m[static_cast<std::size_t>(i)], left = (d + 1) * slice_times(sliced, i, d, v);
      enough = allowed > left || (allowed == 0 && left == 0);
    }
    if (enough) return {scheme.plan(d, d, a.cols()), false};
  }
  const int all_of_b = slices_until_zero(engine.slice(b, Side::columns_of_b, most.b));
  if (all_of_a == max_slices || all_of_b == max_slices) return {};
  auto plan = most;
  plan.a.slices = all_of_a, plan.b.slices = all_of_b, plan.cut = all_of_a + all_of_b;
  return {plan, false};
}

}  // namespace ozbound
