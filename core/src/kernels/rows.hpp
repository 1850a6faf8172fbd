// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "functions.hpp"

// Loops over rows of sums. The compiler vectorises them for each instruction set whose file includes this header.

namespace ozbound {
namespace {

/// The sum of the four bytes of a word as int8.
std::int32_t sum_of_bytes(std::uint32_t word) {
  const auto at = [word](int byte) { return static_cast<std::int32_t>(word << (24 - 8 * byte)) >> 24; };
  return at(0) + at(1) + at(2) + at(3);
}

void magnitudes(const double* x, std::int64_t count, std::uint64_t* least, std::uint64_t* top) {
  constexpr std::int64_t sign = INT64_MIN, none = INT64_MAX;
  std::int64_t smallest = none, largest = 0;  // smallest holds the magnitude less 1: a zero's then sorts last
  for (std::int64_t l = 0; l < count; ++l) {
    const auto magnitude = __builtin_bit_cast(std::int64_t, x[l]) & ~sign;
    const auto before = (magnitude - 1) & ~sign;
    smallest = before < smallest ? before : smallest;
    largest = magnitude > largest ? magnitude : largest;
  }
  *least = smallest == none ? UINT64_MAX : static_cast<std::uint64_t>(smallest) + 1;
  *top = static_cast<std::uint64_t>(largest);
}

void digit_sums(const std::int8_t* digits, std::uint8_t flip, std::int64_t vectors, std::int64_t step, std::int64_t count,
                std::uint32_t* sums) {
  const auto flip_word = flip * 0x01010101u;
  const auto offset = static_cast<std::uint32_t>(count) * flip;
  const auto four = [&digits, flip_word] {
    std::uint32_t word;
    __builtin_memcpy(&word, digits, sizeof word);
    digits += 4;
    return static_cast<std::uint32_t>(sum_of_bytes(word ^ flip_word));
  };
  for (std::int64_t i = 0; i < vectors; ++i) sums[i] = offset;
  for (std::int64_t t = 0; t < count; t += step)
    if (step == 4) {
      for (std::int64_t i = 0; i < vectors; ++i) sums[i] += four();
    } else {
      for (std::int64_t i = 0; i < vectors; ++i)
        for (std::int64_t word = 0; word < step; word += 4) sums[i] += four();
    }
}

void add(const std::int32_t* products, std::uint32_t correction, std::int64_t count, std::int64_t* sums) {
  for (std::int64_t j = 0; j < count; ++j)
    sums[j] += static_cast<std::int32_t>(static_cast<std::uint32_t>(products[j]) + correction);
}

void add_with_columns(const std::int32_t* products, std::uint32_t correction, const std::uint32_t* columns, std::int64_t count,
                      std::int64_t* sums) {
  for (std::int64_t j = 0; j < count; ++j)
    sums[j] += static_cast<std::int32_t>(static_cast<std::uint32_t>(products[j]) + correction + columns[j]);
}

constexpr int row_lanes = 16;  // entries rounded together

/// x as a double. @pre |x| < 2^51. Added to the bits of 1.5 * 2^52, x fills the last bits of the significand.
double exact_double(std::int64_t x) {
  constexpr double above = 0x1.8p52;
  return __builtin_bit_cast(double, __builtin_bit_cast(std::int64_t, above) + x) - above;
}

/// x + y = sum + error exactly (Knuth's TwoSum).
struct TwoSum {
  double sum, error;
};
TwoSum two_sum(double x, double y) {
  const double sum = x + y;
  const double part = sum - x;
  return {sum, (x - (sum - part)) + (y - part)};
}

/// x + y rounded to odd: if the sum is inexact, the neighbour whose last bit is set.
double add_to_odd(double x, double y) {
  const auto [sum, error] = two_sum(x, y);
  const auto bits = __builtin_bit_cast(std::int64_t, sum);
  const auto outward = 1 | ((__builtin_bit_cast(std::int64_t, error) ^ bits) >> 63);
  return __builtin_bit_cast(double, bits + (error != 0 && (bits & 1) == 0 ? outward : 0));
}

/// head + middle + low, sums of doubles, rounded once (Boldo, Melquiond, "Emulation of FMA and correctly rounded sums", section
/// 4: the errors are added to odd before the last addition). @pre no underflow or overflow.
template <bool ToOdd>
double add_three(double head, double middle, double low) {
  const auto [upper, lower] = two_sum(middle, low);
  const auto [sum, error] = two_sum(head, upper);
  const double rest = add_to_odd(error, lower);
  return ToOdd ? add_to_odd(sum, rest) : sum + rest;
}

constexpr double two_to(int exponent) { return __builtin_bit_cast(double, static_cast<std::uint64_t>(exponent + 1023) << 52); }

/// The sums of some entries as three doubles each: head + middle + low exactly.
struct ThreeParts {
  double head[row_lanes], middle[row_lanes], low[row_lanes];
};

/// The carry chain of chain_diagonals (core/detail/combine.hpp), with its finished bits in two parts that doubles hold.
void chain_lanes(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, ThreeParts& parts) {
  std::int64_t carry[row_lanes] = {}, part[2][row_lanes] = {};
  const auto mask = (std::int64_t{1} << radix_bits) - 1;
  const int in_part = chunk_bits / radix_bits;
  const int low_groups = groups - 1 < in_part ? groups - 1 : in_part;
  for (int finished = 0; finished < groups - 1; ++finished) {
    const auto* group = sums + (groups - 1 - finished) * stride;
    auto* bits = part[finished < in_part ? 0 : 1];
    const int shift = radix_bits * (finished < in_part ? finished : finished - in_part);
    for (int l = 0; l < row_lanes; ++l) {
      carry[l] += group[l];
      bits[l] |= (carry[l] & mask) << shift;
      carry[l] >>= radix_bits;
    }
  }
  const double middle_weight = two_to(radix_bits * low_groups), head_weight = two_to(radix_bits * (groups - 1));
  for (int l = 0; l < row_lanes; ++l) {
    parts.head[l] = exact_double(carry[l] + sums[l]) * head_weight;
    parts.middle[l] = exact_double(part[1][l]) * middle_weight;
    parts.low[l] = exact_double(part[0][l]);
  }
}

/// Calls round(parts, first, count) for every row_lanes entries of a row; the last call may have a smaller count.
template <class Round>
void for_lanes(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count, Round round) {
  ThreeParts parts;
  std::int64_t j = 0;
  for (; j + row_lanes <= count; j += row_lanes) {
    chain_lanes(sums + j, stride, groups, radix_bits, parts);
    round(parts, j, std::int64_t{row_lanes});
  }
  if (j == count) return;
  std::int64_t last[(2 * chunk_bits + 1) * row_lanes];
  int t = 0;
  do {  // groups >= 1, but GCC 13 and 14 cannot know: they warn that `last` may be read before it is written
    for (std::int64_t l = 0; l < row_lanes; ++l) last[t * row_lanes + l] = l < count - j ? sums[t * stride + j + l] : 0;
  } while (++t < groups);
  chain_lanes(last, row_lanes, groups, radix_bits, parts);
  round(parts, j, count - j);
}

template <bool ToOdd>
void round_row(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count, double* rounded) {
  for_lanes(sums, stride, groups, radix_bits, count, [rounded](const ThreeParts& parts, std::int64_t j, std::int64_t lanes) {
    double values[row_lanes];
    for (int l = 0; l < row_lanes; ++l) values[l] = add_three<ToOdd>(parts.head[l], parts.middle[l], parts.low[l]);
    for (std::int64_t l = 0; l < lanes; ++l) rounded[j + l] = values[l];
  });
}

void round_entries(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count, bool to_odd,
                   double* rounded) {
  (to_odd ? round_row<true> : round_row<false>)(sums, stride, groups, radix_bits, count, rounded);
}

/// Half the distance from x to its nearer neighbour, times 1 - 2^-40; negative for 0, so that 0 is never decided.
double safe_half_gap(double x) {
  constexpr std::int64_t significand = (std::int64_t{1} << 52) - 1;
  const auto bits = __builtin_bit_cast(std::int64_t, x) & ~(std::int64_t{1} << 63);
  const std::int64_t below = (bits & significand) == 0 ? 54 : 53;
  const auto half = __builtin_bit_cast(double, (bits & ~significand) - (below << 52));
  return bits == 0 ? -1.0 : half * (1 - 0x1p-40);
}

/// x rounded to nearest; decided if every number within `error` of x rounds to the same double. x - rounded is known to 2^-52
/// ulp(x), which the margin of safe_half_gap covers many times over.
struct Enclosed {
  double rounded;
  bool decided;
};
Enclosed round_three(double head, double middle, double low, double error) {
  const auto [upper, lower] = two_sum(middle, low);
  const auto [sum, sum_error] = two_sum(head, upper);
  const auto [rounded, rest] = two_sum(sum, add_to_odd(sum_error, lower));
  return {rounded, __builtin_fabs(rest) + error < safe_half_gap(rounded)};
}

void round_enclosed(const std::int64_t* sums, std::int64_t stride, int groups, int radix_bits, std::int64_t count,
                    const double* errors, double* rounded, std::uint8_t* decided) {
  for_lanes(sums, stride, groups, radix_bits, count, [=](const ThreeParts& parts, std::int64_t j, std::int64_t lanes) {
    double values[row_lanes], radius[row_lanes];
    std::int64_t sure[row_lanes];
    for (std::int64_t l = 0; l < row_lanes; ++l) radius[l] = l < lanes ? errors[j + l] : 0;
    for (int l = 0; l < row_lanes; ++l) {
      const auto entry = round_three(parts.head[l], parts.middle[l], parts.low[l], radius[l]);
      values[l] = entry.rounded;
      sure[l] = entry.decided ? 1 : 0;
    }
    for (std::int64_t l = 0; l < lanes; ++l) rounded[j + l] = values[l], decided[j + l] = static_cast<std::uint8_t>(sure[l]);
  });
}

}  // namespace
}  // namespace ozbound
