// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include "ozbound/core/scheme.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

// The range of slice counts in ozIMMU.
constexpr int least_slices = 3, most_slices = 18;

/// For every non-zero element of A and B: the bits that hold its 53-bit significand, counted from the top of its row or column.
/// Trailing zeros count as bits, as in ozIMMU.
std::vector<std::int64_t> bits_needed(InputView a, InputView b) {
  std::vector<std::int64_t> bits;
  const auto add = [&](Dyadic x, int top) { bits.push_back(top - x.top_exponent() + binary64.precision); };
  for_each_element(a, Side::rows_of_a, add);
  for_each_element(b, Side::columns_of_b, add);
  return bits;
}

/// The plan with the fewest slices for which the average number of lost bits is at most `threshold`, over all elements of A and
/// B, zeros included.
Selection select(InputView a, InputView b, std::int64_t threshold) {
  const auto needed = bits_needed(a, b);
  const std::int64_t allowed = threshold * (a.rows() * a.cols() + b.rows() * b.cols());
  for (int s = least_slices; s <= most_slices; ++s) {
    const auto plan = find_scheme("ozimmu").plan(s, s, a.cols());
    const int held = -plan.a.encoding.weight_exponent(s);  // bits below rho = 2 ufp(top): the first slice has one bit less
    std::int64_t lost = 0;
    for (const auto bits : needed) lost += std::max<std::int64_t>(bits - held, 0);
    if (lost <= allowed) return {plan, false};
  }
  return {};
}

}  // namespace

Selection select_without_mantissa_loss(InputView a, InputView b, const Target&, const Engine&) { return select(a, b, 0); }

Selection select_by_one_bit_of_loss(InputView a, InputView b, const Target&, const Engine&) { return select(a, b, 1); }

}  // namespace ozbound
