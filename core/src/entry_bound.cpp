// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/entry_bound.hpp"

#include <algorithm>
#include <array>

#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

constexpr Index row_block = 256;

OZB_MULTIVERSION void take_least(double x, const double* y, Index count, double* least) {
  for (Index j = 0; j < count; ++j) {
    const double value = multiply_upper(x, y[j]);
    least[j] = value < least[j] ? value : least[j];
  }
}

OZB_MULTIVERSION void cap(double most, Index count, double* x) {
  for (Index j = 0; j < count; ++j) x[j] = x[j] < most ? x[j] : most;
}

OZB_MULTIVERSION void add_to(const double* x, Index count, double* total) {
  for (Index j = 0; j < count; ++j) total[j] = add_upper(total[j], x[j]);
}

}  // namespace

double EntryBound::upper(Index i, Index j) const {
  const FloatEnvironment environment;
  double total = 0;
  for (const auto& term : terms) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& outer : term.alternatives) {
      const double value = multiply_upper(outer.rows[static_cast<std::size_t>(i)], outer.columns[static_cast<std::size_t>(j)]);
      least = value < least ? value : least;
    }
    total = add_upper(total, least);
  }
  return total < uniform ? total : uniform;
}

void EntryBound::upper_row(Index i, Index first, Index count, double* out) const {
  const FloatEnvironment environment;
  std::array<double, static_cast<std::size_t>(row_block)> least;
  for (Index start = 0; start < count; start += row_block) {
    const Index length = std::min(row_block, count - start);
    std::fill_n(out + start, length, 0.0);
    for (const auto& term : terms) {
      std::fill_n(least.data(), length, std::numeric_limits<double>::infinity());
      for (const auto& outer : term.alternatives)
        take_least(outer.rows[static_cast<std::size_t>(i)], outer.columns.data() + first + start, length, least.data());
      add_to(least.data(), length, out + start);
    }
    cap(uniform, length, out + start);
  }
}

}  // namespace ozbound
