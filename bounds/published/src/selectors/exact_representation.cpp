// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "ozbound/core/scheme.hpp"
#include "selectors.hpp"

namespace ozbound {
namespace {

/// The smallest number of slices of `bits` bits that hold every element of every vector exactly.
int slices_needed(InputView operand, Side side, int bits) {
  int most = 1;
  for_each_element(operand, side, [&](Dyadic x, int top) {
    const int last = x.exponent + __builtin_ctzll(x.magnitude);
    most = std::max(most, (top + 1 - last + bits - 1) / bits);
  });
  return most;
}

}  // namespace

Selection select_exact_representation(InputView a, InputView b, const Target&, const Engine&) {
  const auto& scheme = find_scheme("gemmi");
  const int bits = scheme.plan(1, 1, a.cols()).a.encoding.beta;
  const int slices_a = slices_needed(a, Side::rows_of_a, bits), slices_b = slices_needed(b, Side::columns_of_b, bits);
  if (std::max(slices_a, slices_b) > max_slices) return {};
  return {scheme.plan(slices_a, slices_b, a.cols()), false};
}

}  // namespace ozbound
