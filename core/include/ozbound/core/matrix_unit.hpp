// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ozbound/core/matrix.hpp"

namespace ozbound {

/// A unit that multiplies matrices of short numbers and sums the products in wider ones, and its parameters for the Ozaki
/// scheme: Ootomo, Ozaki, Yokota, "DGEMM on Integer Matrix Multiplication Unit", Table 2 and section 3.2. Slices are as in that
/// paper, sign and beta bits of the magnitude, so that |digit| <= 2^beta - 1.
///
/// The bits of a slice follow from the integers that the accumulator holds. The printed (4), floor((l_acc - log2 k) / 2), is
/// not used: it gives a bit away between 2^j and the true limit (7 bits: up to k = 133144, not 131072). The paper's text, "7
/// bits for k < 2^18", overflows.
struct MatrixUnit {
  std::string_view name;  ///< `INT8-INT32`: input and accumulator
  int input_bits;         ///< l_in: bits of an input's magnitude
  int accumulator_bits;   ///< l_acc: bits of the accumulator's magnitude or significand
  bool floating;          ///< the accumulator is a floating-point number
  int input_nibbles;      ///< size of an input in memory, in units of 4 bits

  /// The accumulator holds every integer up to this one: 2^l_acc - 1, or 2^l_acc in floating point.
  [[nodiscard]] constexpr Index largest_sum() const { return (Index{1} << accumulator_bits) - (floating ? 0 : 1); }

  /// Number of products of digits |a| <= digit_a, |b| <= digit_b that it sums without error, for any digits. @pre both >= 1.
  [[nodiscard]] constexpr Index exact_terms(Index digit_a, Index digit_b) const { return largest_sum() / (digit_a * digit_b); }

  /// BPS, (5): the largest beta <= l_in with k (2^beta - 1)^2 <= largest_sum(); 0 if there is none.
  /// @throws std::invalid_argument if k < 1.
  [[nodiscard]] constexpr int bits_per_slice(Index k) const {
    if (k < 1) throw std::invalid_argument("the inner dimension must be positive: " + std::to_string(k));
    int bits = 0;
    while (bits < input_bits && k <= exact_terms((Index{2} << bits) - 1, (Index{2} << bits) - 1)) ++bits;
    return bits;
  }

  /// The fewest slices whose bits make up the mantissa space, 3.2.2.
  /// @throws std::invalid_argument if mantissa_space < 1, or k is too long for slices of any length.
  [[nodiscard]] constexpr int slices(int mantissa_space, Index k) const {
    if (mantissa_space < 1)
      throw std::invalid_argument("the mantissa space must be positive: " + std::to_string(mantissa_space));
    const int bits = bits_per_slice(k);
    if (bits == 0)
      throw std::invalid_argument(std::string(name) + " cannot sum " + std::to_string(k) + " products without error");
    return (mantissa_space + bits - 1) / bits;
  }

  /// Bytes that the slices of one element take, 3.2.3.
  [[nodiscard]] constexpr double bytes_per_element(int slice_count) const { return 0.5 * input_nibbles * slice_count; }
};

/// s (s + 1) / 2: the products of slices p of A and q of B with p + q <= s + 1, 3.2.4.
constexpr int triangle_products(int slices) { return slices * (slices + 1) / 2; }

/// The unit of this project's engines. Every slice product is one product of this unit, and costs are counted in such products.
inline constexpr MatrixUnit int8_int32{"INT8-INT32", 7, 31, false, 2};

/// The units of Table 2.
inline constexpr std::array<MatrixUnit, 4> matrix_units{
    {{"FP16-FP32", 11, 24, true, 4}, {"INT4-INT32", 3, 31, false, 1}, int8_int32, {"INT12-INT32", 11, 31, false, 3}}};

}  // namespace ozbound
