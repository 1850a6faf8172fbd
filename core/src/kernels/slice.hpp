// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "functions.hpp"
#include "rows.hpp"

// split() of core/digits.hpp for many elements at a time. Digits are taken word by word, as many as fit 48 bits, from exact
// floating-point remainders. @pre FloatEnvironment; the compiler neither contracts nor reorders.

namespace ozbound {
namespace {

constexpr int words_of(int slices, int in_word) { return (slices + in_word - 1) / in_word; }
constexpr int most_words = 20;  // for max_slices nearest digits

/// Words of the elements l = 0 … 3 of some vectors, most significant first.
struct Words {
  std::int64_t word[most_words][4][slice_lanes];
};

/// The nearest integer to x, ties to even. @pre |x| < 2^51.
double nearest_integer(double x) { return x + 0x1.8p52 - 0x1.8p52; }
std::int64_t exact_integer(double x) {
  constexpr double above = 0x1.8p52;
  return __builtin_bit_cast(std::int64_t, x + above) - __builtin_bit_cast(std::int64_t, above);
}

/// Words of x in units of the last digit of the first word. Each is rounded to nearest, so that the last one completes RN(x /
/// weight).
void nearest_words(const double (*x)[slice_lanes], const double* scale, int count, double word_radix, Words& words) {
  for (int l = 0; l < 4; ++l) {
    double rest[slice_lanes];
    for (int v = 0; v < slice_lanes; ++v) rest[v] = x[l][v] * scale[v];
    for (int w = 0; w < count; ++w)
      for (int v = 0; v < slice_lanes; ++v) {
        const double integer = nearest_integer(rest[v]);
        words.word[w][l][v] = exact_integer(integer);
        rest[v] = (rest[v] - integer) * word_radix;
      }
  }
}

/// Words of |x|, each rounded down; rests is 1 if something remains.
void floor_words(const double (*x)[slice_lanes], const double* scale, int count, double word_radix, Words& words,
                 std::int64_t (*rests)[slice_lanes]) {
  for (int l = 0; l < 4; ++l) {
    double rest[slice_lanes];
    for (int v = 0; v < slice_lanes; ++v) rest[v] = __builtin_fabs(x[l][v]) * scale[v];
    for (int w = 0; w < count; ++w)
      for (int v = 0; v < slice_lanes; ++v) {
        const double nearest = nearest_integer(rest[v]);
        const double floor = nearest > rest[v] ? nearest - 1 : nearest;
        words.word[w][l][v] = exact_integer(floor);
        rest[v] = (rest[v] - floor) * word_radix;
      }
    for (int v = 0; v < slice_lanes; ++v)
      rests[l][v] = rest[v] != 0 || (x[l][v] != 0 && x[l][v] * scale[v] == 0) ? 1 : 0;  // an underflow remains too
  }
}

/// All bits set if x is negative.
std::int64_t sign_of(double x) { return __builtin_bit_cast(std::int64_t, x) >> 63; }

/// Turns words into balanced bytes plus 128. Digits count from -128, which makes a word non-negative; its excess is carried up.
void carry_balanced(int count, int in_word, Words& words) {
  const std::int64_t bias = 0x808080808080 >> (8 * (6 - in_word));
  for (int l = 0; l < 4; ++l) {
    std::int64_t carry[slice_lanes] = {};
    for (int w = count - 1; w >= 0; --w)
      for (int v = 0; v < slice_lanes; ++v) {
        const auto biased = words.word[w][l][v] + carry[v] + bias;
        words.word[w][l][v] = biased;
        carry[v] = biased >> (8 * in_word);
      }
  }
}

/// The two's complement of the number rounded down: ~M if bits of a negative number are cut off, otherwise -M = ~M + 1.
void complement(const double (*x)[slice_lanes], int count, int in_word, Words& words,
                const std::int64_t (*rests)[slice_lanes]) {
  const std::int64_t mask = (std::int64_t{1} << (8 * in_word)) - 1;
  for (int l = 0; l < 4; ++l) {
    std::int64_t carry[slice_lanes];
    for (int v = 0; v < slice_lanes; ++v) carry[v] = sign_of(x[l][v]) & (1 - rests[l][v]);
    for (int w = count - 1; w >= 0; --w)
      for (int v = 0; v < slice_lanes; ++v) {
        const auto word = ((words.word[w][l][v] ^ sign_of(x[l][v])) & mask) + carry[v];
        words.word[w][l][v] = word;
        carry[v] = word >> (8 * in_word);
      }
  }
}

/// The bytes of the digits at bit `shift` of a word, for four consecutive elements of a vector.
void digit_bytes(const std::int64_t (*word)[slice_lanes], int shift, std::uint32_t flip, std::uint32_t* bytes) {
  std::uint32_t four[slice_lanes] = {};
  for (int l = 0; l < 4; ++l)
    for (int v = 0; v < slice_lanes; ++v) four[v] |= (static_cast<std::uint32_t>(word[l][v] >> shift) & 0xff) << (8 * l);
  for (int v = 0; v < slice_lanes; ++v) bytes[v] = four[v] ^ flip;
}

/// The same for digits of beta bits of a magnitude with the sign of x.
void signed_bytes(const double (*x)[slice_lanes], const std::int64_t (*word)[slice_lanes], int shift, int beta,
                  std::uint32_t flip, std::uint32_t* bytes) {
  const std::uint32_t mask = (1u << beta) - 1;
  std::uint32_t four[slice_lanes] = {};
  for (int l = 0; l < 4; ++l)
    for (int v = 0; v < slice_lanes; ++v) {
      const auto sign = static_cast<std::uint32_t>(sign_of(x[l][v]));
      const auto digit = ((static_cast<std::uint32_t>(word[l][v] >> shift) & mask) ^ sign) - sign;
      four[v] |= (digit & 0xff) << (8 * l);
    }
  for (int v = 0; v < slice_lanes; ++v) bytes[v] = four[v] ^ flip;
}

void slice_step(const double (*x)[slice_lanes], const SliceShape& shape, const double* scale,
                std::uint32_t (*bytes)[slice_lanes]) {
  Words words;
  std::int64_t rests[4][slice_lanes];
  const int count = words_of(shape.slices, shape.in_word);
  const double radix = two_to(shape.beta * shape.in_word);
  if (shape.digits == SliceShape::Digits::nearest || shape.digits == SliceShape::Digits::balanced)
    nearest_words(x, scale, count, radix, words);
  else
    floor_words(x, scale, count, radix, words, rests);
  if (shape.digits == SliceShape::Digits::balanced) carry_balanced(count, shape.in_word, words);
  if (shape.digits == SliceShape::Digits::unsigned8) complement(x, count, shape.in_word, words, rests);
  for (int p = 0; p < shape.slices; ++p) {
    const int below = shape.slices - 1 - p;
    const auto* word = words.word[count - 1 - below / shape.in_word];
    const int shift = shape.beta * (below % shape.in_word);
    const auto flip = p == 0 ? shape.flip_first : shape.flip_others;
    if (shape.digits == SliceShape::Digits::truncated)
      signed_bytes(x, word, shift, shape.beta, flip, bytes[p]);
    else
      digit_bytes(word, shift, flip, bytes[p]);
  }
}

void slice_steps(const double (*x)[slice_lanes], std::int64_t fours, const SliceShape& shape, const double* scale,
                 std::int64_t lanes, std::int8_t* out) {
  std::uint32_t bytes[max_slice_count][slice_lanes];
  for (std::int64_t t = 0; t < fours; ++t, x += 4, out += shape.four_bytes) {
    slice_step(x, shape, scale, bytes);
    for (int p = 0; p < shape.slices; ++p) {
      auto* const digits = out + p * shape.slice_bytes;
      if (shape.vector_bytes != 4)
        for (std::int64_t v = 0; v < lanes; ++v) __builtin_memcpy(digits + v * shape.vector_bytes, &bytes[p][v], 4);
      else if (lanes == slice_lanes)
        __builtin_memcpy(digits, bytes[p], sizeof bytes[p]);
      else
        __builtin_memcpy(digits, bytes[p], static_cast<unsigned long>(lanes) * 4);
    }
  }
}

}  // namespace
}  // namespace ozbound
