// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/published/selector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "allowance.hpp"
#include "ozbound/core/detail/call_checks.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/sliced_matrix.hpp"
#include "selectors/selectors.hpp"

namespace ozbound {
namespace {

bool all_finite(InputView operand, Side side, int threads) {
  const auto scales = vector_scales(operand, side, Encoding::balanced(), threads);
  return std::none_of(scales.begin(), scales.end(), [](const VectorScale& scale) { return scale.special; });
}

constexpr std::array entrywise{Target::Kind::componentwise, Target::Kind::dgemm, Target::Kind::dgemm_typical};

void check(InputView a, InputView b, const Target& target, int threads) {
  if (!selectors_take(target))
    throw std::invalid_argument("target of a selector must be componentwise, dgemm or dgemm-typical: " + to_string(target));
  check_factors(a, b);
  if (!all_finite(a, Side::rows_of_a, threads)) throw std::invalid_argument("a must be finite");
  if (!all_finite(b, Side::columns_of_b, threads)) throw std::invalid_argument("b must be finite");
}

using Select = Selection (*)(InputView a, InputView b, const Target& target, const Engine& engine);

template <Select Rule>
Selection checked(InputView a, InputView b, const Target& target, const Engine& engine) {
  const FloatEnvironment environment;
  check(a, b, target, engine.threads());
  return Rule(a, b, target, engine);
}

}  // namespace

bool selectors_take(const Target& target) { return std::ranges::find(entrywise, target.kind) != entrywise.end(); }

double selector_tau(const Target& target, Index k) { return target_tau(target, k, binary64, false); }

double tau_before_rounding(const Target& target, Index k) {
  constexpr double u = 0x1p-53;
  return divide_lower(subtract_lower(selector_tau(target, k), u), add_upper(1, 2 * u));
}

int target_bits(const Target& target, Index k) {
  const FloatEnvironment environment;
  const double share = selector_tau(target, k) / static_cast<double>(std::max<Index>(k, 1));
  return std::max(-std::ilogb(share), 1);  // ceil(-log2 share), since ilogb is floor(log2 share)
}

std::span<const Selector> all_selectors() {
  static const std::array<Selector, 10> all{{
      {"ozbound", "docs/derivations/general_bound.md (G3), enclosure.md, targets.md (T1)",
       "the fewest products, any s_A, s_B <= 20 and cut, whose bound is at most (tau - u) / (1 + 2u) L in every entry, L <= "
       "|A||B|",
       true,
       "A bound by norms cannot see that errors of either sign cancel: about sqrt(k) is lost, and with it up to a diagonal of "
       "products. Nothing cheaper than another product sees it. What slices leave is measured to 16 bits of a slice, so that a "
       "residual far below that counts for too much: powers of two and their neighbours. A target at u (dgemm and "
       "dgemm-typical with k = 1) "
       "leaves no "
       "room beside the rounding.",
       checked<select_ozbound>},
      {"ozbound-residues", "docs/derivations/residues.md (R9, R10), targets.md (T1)",
       "the fewest moduli N that hold, by first digits, the fewest bits p_A + p_B with 2^-p_A x (1 + k 2^-p_B) + 2^-p_B y <= "
       "2, x and y the largest ||b_j||_1 and ||a_i||_1 over (tau - u) / (1 + 2u) L",
       true,
       "As ozbound, norms cannot see that errors cancel. First digits are rounded up: beside one large element many small ones "
       "count for more than they are, which may cost a modulus. A target at u is met where both operands are exact.",
       checked<select_ozbound_residues>, true},
      {"kappa", "Abdelfattah, Dongarra, Fasi, Mikaitis, Tisseur, their bound by kappa (docs/errata.md)",
       "the fewest s_A s_B with kappa_A u_A + kappa_B u_B + kappa_A kappa_B u_A u_B and the rounding of the sum at most tau",
       true,
       "kappa is the range of a whole matrix: one tiny element raises the slices of all rows, and every pair of slices is "
       "multiplied. "
       "Its rounding error grows with the number of pairs, so that dgemm is out of reach for a short inner dimension.",
       checked<select_by_kappa>},
      {"uchino", "Uchino, Ozaki, Imamura, sections 5.1 and 5.2, with our L",
       "the least s with 4 (s + 1) k 2^(-beta s) g f^T + (w - 1) u |A||B| <= tau |A||B|, L in place of |A||B|", true,
       "The bound knows the scales of rows and columns alone, and as many slices of A as of B. It needs a lower bound of "
       "|A||B|, which the paper does not give.",
       checked<select_by_uchino>},
      {"esc", "Schwarz, Anders, Brower et al.: Guaranteed DGEMM Accuracy (ADP), exponent span capacity",
       "the least s with W <= 8 s - 2, W = p + ESC + 1, p = ceil(log2(k / tau)), which is 53 for dgemm", false,
       "The count makes room for every entry where all pairs of slices are multiplied; the triangle p + q <= s + 1 leaves up "
       "to s times as "
       "much, and rows of maximal digits miss the target. Exponents are those of subnormal numbers too, and a zero has none: "
       "with either rule broken it is off by any factor (docs/errata.md).",
       checked<select_by_exponent_span>},
      {"esc-coarse", "Schwarz, Anders, Brower et al.: Guaranteed DGEMM Accuracy (ADP), its coarse form",
       "the same, ESC from the largest and smallest exponents of blocks of 64 of the inner dimension", false,
       "As esc, and a block with a zero or with unlike elements counts for its worst pair.",
       checked<select_by_coarse_exponent_span>},
      {"mantissa-loss-0", "Ootomo, Ozaki, Yokota, INT8-AUTO with T = 0",
       "the least s, 3 … 18, so that slices lose no bit of a 53-bit significand", false,
       "The target is not asked. No bit is lost in slicing, yet the omitted products are: T = 0 is not error-free "
       "(docs/errata.md).",
       checked<select_without_mantissa_loss>},
      {"mantissa-loss-1", "Ootomo, Ozaki, Yokota, INT8-AUTO with T = 1",
       "the least s, 3 … 18, so that slices lose at most one bit of a significand, on average over A and B", false,
       "The target is not asked, and an average says nothing of the worst element: one row may lose all of its bits.",
       checked<select_by_one_bit_of_loss>},
      {"mukunoki", "Mukunoki, Ozaki, Ogita, Imamura, Algorithm 3, on INT8 slices with a scale each",
       "the least d >= 2 with (d + 1) |A_d||B|e < tau |A||B|e, tau = 2 sqrt(k) u for dgemm; every pair of all slices where A "
       "has no more "
       "than d",
       false, "B is not looked at but for its row sums: what its slices leave is no part of the estimate (docs/errata.md).",
       checked<select_by_slice_norms>},
      {"gemmi", "bits for an exact representation, with the slices and the reduced set of gemmi (north-numerical-computing)",
       "s_A = ceil(max (e_max - e + bits) / beta) over the elements of A, s_B of B", false,
       "The target is not asked. Slices hold every element exactly, yet the reduced set omits products.",
       checked<select_exact_representation>},
  }};
  return all;
}

const Selector& find_selector(std::string_view name) {
  std::string names;
  for (const auto& selector : all_selectors()) {
    if (selector.name == name) return selector;
    names += (names.empty() ? "" : ", ") + selector.name;
  }
  throw std::invalid_argument("selector '" + std::string(name) + "' is none of " + names);
}

}  // namespace ozbound
