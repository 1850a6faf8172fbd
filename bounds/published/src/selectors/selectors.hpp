// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ozbound/bounds/published/selector.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

// One function per source; `selector.cpp` lists them.
Selection select_ozbound(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_ozbound_residues(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_by_kappa(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_by_uchino(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_by_exponent_span(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_by_coarse_exponent_span(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_without_mantissa_loss(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_by_one_bit_of_loss(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_by_slice_norms(InputView a, InputView b, const Target& target, const Engine& engine);
Selection select_exact_representation(InputView a, InputView b, const Target& target, const Engine& engine);

/// tau of the target for C in binary64.
double selector_tau(const Target& target, Index k);

/// The part of tau left for the error before C's one rounding: (tau - u) / (1 + 2u), rounded down; docs/derivations/targets.md
/// (T1).
double tau_before_rounding(const Target& target, Index k);

/// Bits that a target requires of each of k products: ceil(log2(k / tau)), 53 for `dgemm`.
int target_bits(const Target& target, Index k);

/// Calls visit(element, exponent of the largest magnitude of its vector) for every non-zero element of all vectors.
template <class Visit>
void for_each_element(InputView operand, Side side, const Visit& visit) {
  const auto vectors = vectors_of(operand, side);
  for (Index i = 0; i < vectors.rows(); ++i) {
    Dyadic top;
    for (Index l = 0; l < vectors.cols(); ++l) {
      const auto x = vectors.element(i, l);
      if (x.magnitude != 0 && (top.magnitude == 0 || x.top_exponent() > top.top_exponent())) top = x;
    }
    for (Index l = 0; l < vectors.cols(); ++l)
      if (const auto x = vectors.element(i, l); x.magnitude != 0) visit(x, top.top_exponent());
  }
}

}  // namespace ozbound
