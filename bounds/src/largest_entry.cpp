// SPDX-License-Identifier: BSD-3-Clause
#include "largest_entry.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "ozbound/core/detail/multiversion.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {
namespace {

OZB_MULTIVERSION void take_products(double x, const double* y, Index count, double* out) {
  for (Index j = 0; j < count; ++j) out[j] = multiply_upper(x, y[j]);
}
OZB_MULTIVERSION void take_least_products(double x, const double* y, Index count, double* least) {
  for (Index j = 0; j < count; ++j) {
    const double value = multiply_upper(x, y[j]);
    least[j] = value < least[j] ? value : least[j];
  }
}
OZB_MULTIVERSION void add_products(double x, const double* y, Index count, double* total) {
  for (Index j = 0; j < count; ++j) total[j] = add_upper(total[j], multiply_upper(x, y[j]));
}
OZB_MULTIVERSION void add_each(const double* x, Index count, double* total) {
  for (Index j = 0; j < count; ++j) total[j] = add_upper(total[j], x[j]);
}
OZB_MULTIVERSION void cap_each(double most, Index count, double* x) {
  for (Index j = 0; j < count; ++j) x[j] = x[j] < most ? x[j] : most;
}

/// x 2^shift, shift <= 0, exact or rounded up.
double shrunk_upper(double x, std::int64_t shift) {
  if (x == 0 || shift == 0) return x;
  return std::max(std::ldexp(x, static_cast<int>(std::max<std::int64_t>(shift, -3000))), 0x1p-900);
}

}  // namespace

double near_power_of_two(std::int64_t shift) {
  return shift < -60 || shift > 60 ? std::numeric_limits<double>::infinity() : std::ldexp(1.0, static_cast<int>(shift));
}

ChunkedBound::ChunkedBound(const EntryBound& bound) : bound_(bound) {
  for (const auto& term : bound.terms) {
    auto& ranges = ranges_.emplace_back();
    for (const auto& outer : term.alternatives) {
      auto& range = ranges.emplace_back();
      for (auto first = outer.columns.begin(); first != outer.columns.end();) {
        const auto last = first + std::min<std::ptrdiff_t>(chunk_columns, outer.columns.end() - first);
        const auto [least, largest] = std::minmax_element(first, last);
        range.least.push_back(*least), range.largest.push_back(*largest);
        first = last;
      }
    }
  }
}

// Products rounded up are monotone. If the least product of one alternative is above the largest product of another, the former
// is never the minimum.
void ChunkedBound::upper_row(Index i, Index chunk, Index count, double* out) const {
  const auto row = static_cast<std::size_t>(i), part = static_cast<std::size_t>(chunk);
  const Index first = chunk * chunk_columns;
  std::fill_n(out, count, 0.0);
  for (std::size_t t = 0; t < ranges_.size(); ++t) {
    const auto& alternatives = bound_.terms[t].alternatives;
    double most = std::numeric_limits<double>::infinity();
    for (std::size_t h = 0; h < alternatives.size(); ++h)
      most = std::min(most, multiply_upper(alternatives[h].rows[row], ranges_[t][h].largest[part]));
    std::array<double, static_cast<std::size_t>(chunk_columns)> least;
    const OuterProduct* single = nullptr;
    bool several = false;
    for (std::size_t h = 0; h < alternatives.size(); ++h) {
      const auto& outer = alternatives[h];
      if (multiply_upper(outer.rows[row], ranges_[t][h].least[part]) > most) continue;
      if (single != nullptr && !several) take_products(single->rows[row], single->columns.data() + first, count, least.data());
      several = single != nullptr;
      single = &outer;
      if (several) take_least_products(outer.rows[row], outer.columns.data() + first, count, least.data());
    }
    if (several)
      add_each(least.data(), count, out);
    else
      add_products(single->rows[row], single->columns.data() + first, count, out);
  }
  cap_each(bound_.uniform, count, out);
}

ChunkBound chunk_bound(const EntryBound& bound, const std::vector<std::int64_t>& exponents) {
  const auto n = static_cast<Index>(exponents.size());
  const auto chunk = [](Index j) { return static_cast<std::size_t>(j / chunk_columns); };
  ChunkBound result{bound, std::vector<std::int64_t>(static_cast<std::size_t>(chunks_of(n)))};
  for (Index j = 0; j < n; ++j) {
    const auto exponent = exponents[static_cast<std::size_t>(j)];
    auto& top = result.exponents[chunk(j)];
    top = j % chunk_columns == 0 ? exponent : std::max(top, exponent);
  }
  for (auto& term : result.bound.terms)
    for (auto& outer : term.alternatives) {
      std::vector<double> tops(result.exponents.size());
      for (Index j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        tops[chunk(j)] = std::max(tops[chunk(j)], shrunk_upper(outer.columns[at], exponents[at] - result.exponents[chunk(j)]));
      }
      outer.columns = std::move(tops);
    }
  return result;
}

}  // namespace ozbound
