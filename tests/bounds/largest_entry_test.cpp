// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>

#include "ozbound/bounds/detail/wide_range_double.hpp"
#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/verify/problem.hpp"

// The search for the largest ratio and the largest bound skips most entries, yet finds the maxima over all of them.

namespace ozbound::largest_entry_test {
namespace {

/// More columns than share a bound, and not a multiple of that number.
constexpr Index m = 23, n = 150, k = 40;

struct Worst {
  double ratio = 0;
  Index i = 0, j = 0;
};

bool special_at(const Matrix<double>& a, const Matrix<double>& b, Index i, Index j) {
  bool special = false;
  for (Index l = 0; l < k; ++l)
    special = special || !is_finite(bits_of(a(i, l)), binary64) || !is_finite(bits_of(b(l, j)), binary64);
  return special;
}

/// docs/derivations/targets.md, (T1), evaluated entry by entry.
Worst worst_of_all(const Matrix<double>& a, const Matrix<double>& b, const ErrorBound& bound, double tau,
                   const Engine& engine) {
  constexpr double u = 0x1p-53;
  const double factor = divide_lower(subtract_lower(tau, u), add_upper(1, 2 * u));
  const auto enclosure = enclose_product(a, b, engine);
  Worst worst;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const auto row = static_cast<Index>(i), column = static_cast<Index>(j);
      const double error = bound.product.upper(row, column);
      if (error == 0 || enclosure.upper(row, column) == 0 || special_at(a, b, row, column)) continue;
      const auto shift = std::int64_t{bound.row_exponents[i]} + bound.column_exponents[j] - enclosure.row_exponents[i] -
                         enclosure.column_exponents[j];
      const double allowed = multiply_lower(factor, enclosure.lower(row, column));
      const double ratio =
          allowed == 0 ? std::numeric_limits<double>::infinity() : divide_upper(WideRangeDouble{error, shift}.upper(), allowed);
      if (ratio > worst.ratio) worst = {ratio, row, column};
    }
  worst.ratio = add_upper(divide_upper(u, tau), multiply_upper(worst.ratio, next_up(1 - divide_lower(u, tau))));  // (T8)
  return worst;
}

TEST(LargestEntryTest, IsThatOfAllEntries) {
  for (const auto family : all_families())
    for (const bool specials : {false, true}) {
      const CpuEngine engine{{.threads = family == Family::wide_exponents ? 3 : 1}};
      auto problem = generate({family, m, n, k, 2, 5});
      if (specials) {
        problem.a(7, 3) = std::numeric_limits<double>::infinity();
        problem.b(2, 64) = std::numeric_limits<double>::quiet_NaN();
      }
      const auto target = Target::componentwise(0x1p-40);
      Decision decision;
      decision.target = target, decision.plan = SplitPlan::balanced(7, 7, 8);
      decision.m = m, decision.n = n, decision.k = k;
      const auto [c, certificate] = multiply(problem.a, problem.b, decision, engine);
      const auto worst = worst_of_all(problem.a, problem.b, certificate.bound, target.tau, engine);
      EXPECT_EQ(certificate.ratio, worst.ratio) << name(family);
      EXPECT_EQ(certificate.worst_i, worst.i) << name(family);
      EXPECT_EQ(certificate.worst_j, worst.j) << name(family);
      double largest = 0;
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j)
          if (!special_at(problem.a, problem.b, i, j)) largest = std::max(largest, certificate.bound.upper(i, j, c(i, j)));
      EXPECT_EQ(certificate.largest_bound, largest) << name(family);
    }
}

}  // namespace
}  // namespace ozbound::largest_entry_test
