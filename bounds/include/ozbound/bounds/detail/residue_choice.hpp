// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/residue_plan.hpp"

// The choice of a plan by residues, for targets that one plan certifies for every entry (docs/adr/0018). The host and devices
// choose by the same operations, and so the same plan. @pre of all functions: a FloatEnvironment.

namespace ozbound {

/// Bits of the integers of A and B; exact_a and exact_b are true if the integers equal A or B exactly.
struct ResidueBits {
  int a = 0, b = 0;
  bool exact_a = false, exact_b = false;

  [[nodiscard]] OZB_HD constexpr int sum() const { return a + b; }
};

/// The numbers that choose a plan.
struct ResidueNeeds {
  double of_a = 0, of_b = 0;  ///< largest ||b_j||_1, and ||a_i||_1, over the error that an entry allows; or their norms
  std::int32_t exact_bits_a = 0, exact_bits_b = 0;  ///< bits that hold A, and B, exactly
  std::uint64_t largest_units = 0;                  ///< FirstDigitSums::largest_units
  Index k = 0;

  static constexpr int least_bits = 7;        ///< of rounded operands: first digits cover no fewer (residues.md, R9)
  static constexpr int most_spent_bits = 53;  ///< per side, when spare bits are spent: the same on every kernel and device

  // The bits whose error all entries allow: 2^-p_A x (1 + k 2^-p_B) + 2^-p_B y <= 2 if both operands are rounded. There is one
  // choice for every p_B, and three with exact operands.
  static constexpr int roundings = most_residue_bits - least_bits + 1, choices = roundings + 3;

  /// Choice number `which` as a number that orders choices: fewer bits first, then fewer roundings, then a smaller difference
  /// between the two numbers of bits, then the number of the choice. no_choice if there is none.
  static constexpr std::uint32_t no_choice = ~std::uint32_t{0};
  [[nodiscard]] OZB_HD constexpr std::uint32_t rank(int which) const {
    const auto bits = choice(which);
    if (bits.a > most_residue_bits || bits.b > most_residue_bits) return no_choice;
    const int rounded = (bits.exact_a ? 0 : 1) + (bits.exact_b ? 0 : 1);
    const int apart = bits.a > bits.b ? bits.a - bits.b : bits.b - bits.a;
    return static_cast<std::uint32_t>(((bits.sum() * 3 + rounded) * 128 + apart) * 128 + which);
  }
  /// The choice with this rank. @pre rank is not no_choice.
  [[nodiscard]] OZB_HD constexpr ResidueBits ranked(std::uint32_t rank) const { return choice(static_cast<int>(rank % 128)); }

  /// The largest error of a rounding to these bits over the error that its entry allows, rounded up. The choice requires at
  /// most 1.
  [[nodiscard]] OZB_HD constexpr double error_ratio(const ResidueBits& bits) const {
    const double a = bits.exact_a ? 0 : multiply_upper(of_a, power_of_two(-bits.a - 1));
    if (bits.exact_b) return a;
    const double b = multiply_upper(of_b, power_of_two(-bits.b - 1));
    return add_upper(multiply_upper(a, add_upper(1, multiply_upper(terms(), power_of_two(-bits.b)))), b);
  }

  /// first_digits_held for this many moduli. @param times factor by which the sums of similar operands may be larger
  [[nodiscard]] OZB_HD constexpr bool holds(const ResidueHalves& halves, int moduli, const ResidueBits& bits,
                                            std::uint64_t times = 1) const {
    return times * largest_units <= first_digits_limit(halves.of[moduli], bits.sum());
  }

  /// The fewest moduli that hold these bits; 0 if none do.
  [[nodiscard]] OZB_HD constexpr int fewest_moduli(const ResidueHalves& halves, const ResidueBits& bits) const {
    for (int moduli = 2; moduli <= max_moduli; ++moduli)
      if (holds(halves, moduli, bits)) return moduli;
    return 0;
  }

  /// Adds the spare bits of the moduli except one, each to the operand with the larger rounding error. The plan then also
  /// certifies and holds similar operands.
  [[nodiscard]] OZB_HD constexpr ResidueBits spend(const ResidueHalves& halves, ResidueBits bits, int moduli) const {
    for (;;) {
      auto more = bits;
      const bool raises_a = !bits.exact_a && bits.a < most_spent_bits, raises_b = !bits.exact_b && bits.b < most_spent_bits;
      if (!raises_a && !raises_b) return bits;
      ((raises_a && (larger_error_of_a(bits) || !raises_b)) ? more.a : more.b) += 1;
      if (!holds(halves, moduli, more, 2)) return bits;
      bits = more;
    }
  }

  /// True if rounding A to these bits may lead to the larger error, rather than rounding B.
  [[nodiscard]] OZB_HD constexpr bool larger_error_of_a(const ResidueBits& bits) const {
    return of_a * power_of_two(-bits.a) >= of_b * power_of_two(-bits.b);
  }

 private:
  [[nodiscard]] OZB_HD constexpr double terms() const { return to_double_upper(static_cast<std::uint64_t>(k)); }

  /// The smallest p >= least_bits with 2^p >= x; more than most_residue_bits if there is no such p.
  [[nodiscard]] OZB_HD static constexpr int bits_above(double x) {
    if (!(x > power_of_two(least_bits))) return x == x ? least_bits : most_residue_bits + 1;
    if (!(x <= power_of_two(most_residue_bits))) return most_residue_bits + 1;
    const int floor = static_cast<int>(bits_of(x) >> 52) - 1023;
    return power_of_two(floor) == x ? floor : floor + 1;
  }

  /// Any number of bits above most_residue_bits means that there is no such choice.
  [[nodiscard]] OZB_HD constexpr ResidueBits choice(int which) const {
    const int exact_a = exact_bits_a > 1 ? exact_bits_a : 1, exact_b = exact_bits_b > 1 ? exact_bits_b : 1;
    switch (which - roundings) {
      case 0: return {exact_a, bits_above(of_b / 2), true, false};
      case 1: return {bits_above(of_a / 2), exact_b, false, true};
      case 2: return {exact_a, exact_b, true, true};
      default: break;
    }
    const int b = least_bits + which;
    const double left = subtract_lower(2, multiply_upper(of_b, power_of_two(-b)));
    if (!(left > 0)) return {most_residue_bits + 1, b};
    const double more = add_upper(1, multiply_upper(terms(), power_of_two(-b)));
    return {bits_above(divide_upper(multiply_upper(of_a, more), left)), b};
  }
};

}  // namespace ozbound
