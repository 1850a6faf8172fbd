// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "residue.hpp"
#include "rows.hpp"
#include "slice.hpp"

// The tile that every instruction set multiplies: vectors of B in registers, one digit group of a vector of A broadcast, sums
// kept in registers over the whole inner dimension. A `Unit` says how:
//
//   ADigit              what the digits of A are stored as while they are multiplied: int8, or int16 where the unit has none
//   Digits, Sums        registers: digits of vectors of B or one of A, sums of products
//   signed_b            digits of B are int8, not uint8
//   rows, vectors       of the full tile: vectors of A, registers of B
//   columns             vectors of B that one register holds a step of
//   load(b), broadcast(a), add_products(sums, a, b), store(sums, int32*)

namespace ozbound {
namespace {

/// A column's two sums of a unit that multiplies digits in pairs, added.
[[maybe_unused]] void add_pairs(const std::uint32_t* sums, unsigned columns, std::int32_t* products) {
  for (unsigned j = 0; j < columns; ++j) products[j] = static_cast<std::int32_t>(sums[2 * j] + sums[2 * j + 1]);
}

template <class Unit, unsigned Rows, unsigned Vectors>
struct Tile {
  typename Unit::Sums sums[Rows][Vectors];

  void clear() {
#pragma GCC unroll 8
    for (unsigned r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (unsigned v = 0; v < Vectors; ++v) sums[r][v] = Unit::zero();
  }

  void add(const typename Unit::ADigit* a, std::int64_t a_stride, const std::uint8_t* b, std::int64_t b_stride,
           std::int64_t steps) {
    for (std::int64_t t = 0; t < steps; ++t, a += a_stride, b += b_stride) {
      typename Unit::Digits digits[Vectors];
#pragma GCC unroll 4
      for (unsigned v = 0; v < Vectors; ++v) digits[v] = Unit::load(b + v * Unit::columns * 4);
#pragma GCC unroll 8
      for (unsigned r = 0; r < Rows; ++r) {
        const auto broadcast = Unit::broadcast(a + 4 * r);
#pragma GCC unroll 4
        for (unsigned v = 0; v < Vectors; ++v) sums[r][v] = Unit::add_products(sums[r][v], broadcast, digits[v]);
      }
    }
  }

  void store(std::int32_t* products, bool add_to_them) const {
#pragma GCC unroll 8
    for (unsigned r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (unsigned v = 0; v < Vectors; ++v) {
        auto* const row = products + (r * Unit::vectors + v) * Unit::columns;
        std::uint32_t before[Unit::columns], now[Unit::columns];
        if (add_to_them) __builtin_memcpy(before, row, sizeof before);
        Unit::store(sums[r][v], row);
        if (!add_to_them) continue;
        __builtin_memcpy(now, row, sizeof now);
        for (unsigned j = 0; j < Unit::columns; ++j) now[j] += before[j];
        __builtin_memcpy(row, now, sizeof now);
      }
  }
};

/// One tile over all steps; digits of A are widened first where the unit needs it, so many steps at a time.
template <class Unit, unsigned Rows, unsigned Vectors>
void multiply_tile(const std::int8_t* a, std::int64_t a_vectors, const std::uint8_t* b, std::int64_t b_vectors,
                   std::int64_t steps, std::int32_t* products, bool add) {
  Tile<Unit, Rows, Vectors> tile;
  tile.clear();
  if constexpr (sizeof(typename Unit::ADigit) == 1) {
    tile.add(a, 4 * a_vectors, b, 4 * b_vectors, steps);
  } else {
    constexpr unsigned most = 64;
    std::int16_t widened[most * Rows * 4];
    for (std::int64_t start = 0; start < steps; start += most) {
      const auto count = steps - start < most ? steps - start : most;
      for (std::int64_t t = 0; t < count; ++t)
        for (unsigned d = 0; d < 4 * Rows; ++d) widened[t * Rows * 4 + d] = a[(start + t) * a_vectors * 4 + d];
      tile.add(widened, 4 * Rows, b + start * b_vectors * 4, 4 * b_vectors, count);
    }
  }
  tile.store(products, add);
}

using Multiply = void(const std::int8_t*, std::int64_t, const std::uint8_t*, std::int64_t, std::int64_t, std::int32_t*, bool);

template <class Unit, unsigned Vectors>
Multiply* tile_of_rows(std::int64_t rows) {
  if (rows == 1) return multiply_tile<Unit, 1, Vectors>;
  if (rows <= 2) return multiply_tile<Unit, 2, Vectors>;
  if (rows <= 4) return multiply_tile<Unit, 4, Vectors>;
  return multiply_tile<Unit, Unit::rows, Vectors>;
}

/// By the smallest tile that holds the panels.
template <class Unit>
void multiply(const KernelBlock& block, const KernelRun* runs, std::int64_t count, bool add) {
  const auto vectors = (block.b_vectors + Unit::columns - 1) / Unit::columns;
  auto* const tile = vectors == 1                         ? tile_of_rows<Unit, 1>(block.a_vectors)
                     : vectors == 2 || Unit::vectors == 2 ? tile_of_rows<Unit, 2>(block.a_vectors)
                                                          : tile_of_rows<Unit, Unit::vectors>(block.a_vectors);
  for (const auto* run = runs; run != runs + count; ++run)
    tile(block.a + run->a * block.a_vectors, block.a_vectors,
         reinterpret_cast<const std::uint8_t*>(block.b) + run->b * block.b_vectors, block.b_vectors, run->digits / 4,
         run->products, add);
}

/// A unit without a state that threads share.
void need_nothing() {}

template <class Unit>
inline constexpr bool fits = Unit::rows <= most_rows && Unit::vectors * Unit::columns <= most_columns &&
                             4 * (Unit::columns - 1) < panel_slack_bytes && 4 * (Unit::rows - 1) < panel_slack_bytes;

template <class Unit>
  requires fits<Unit>
inline constexpr KernelFunctions functions_of{.rows = Unit::rows,
                                              .columns = Unit::vectors * Unit::columns,
                                              .a_step = 4,
                                              .multiple = 4,
                                              .signed_b = Unit::signed_b,
                                              .tile_rows = 64,
                                              .tile_columns = 48,
                                              .tile_bytes = std::int64_t{1} << 18,
                                              .start = need_nothing,
                                              .stop = need_nothing,
                                              .multiply = multiply<Unit>,
                                              .slice = slice_steps,
                                              .residue_bits = 50,
                                              .residues = residue_steps,
                                              .recover = recover,
                                              .recover_products = nullptr,
                                              .magnitudes = magnitudes,
                                              .digit_sums = digit_sums,
                                              .add = add,
                                              .add_with_columns = add_with_columns,
                                              .round = round_entries,
                                              .round_enclosed = round_enclosed};

}  // namespace
}  // namespace ozbound
