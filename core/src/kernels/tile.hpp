// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "residue.hpp"
#include "rows.hpp"
#include "slice.hpp"

// The tile that every instruction set multiplies. Vectors of B are in registers, one digit group of a vector of A is broadcast,
// and sums stay in registers over the whole inner dimension. A `Unit` provides:
//
//   ADigit              type of the digits of A during multiplication: int8, or int16 if the unit has no int8
//   Digits, Sums        registers: digits of vectors of B or one of A, sums of products
//   signed_b            true if digits of B are int8, not uint8
//   rows, vectors       of the full tile: vectors of A, registers of B
//   columns             number of vectors of B in one register, one step of each
//   load(b), broadcast(a), add_products(sums, a, b), store(sums, int32*)

namespace ozbound {
namespace {

/// Adds the two sums of each column, for a unit that multiplies digits in pairs.
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

/// Multiplies one tile over all steps.
template <class Unit, unsigned Rows, unsigned Vectors>
void multiply_tile(const typename Unit::ADigit* a, std::int64_t a_stride, const std::uint8_t* b, std::int64_t b_vectors,
                   std::int64_t steps, std::int32_t* products, bool add) {
  Tile<Unit, Rows, Vectors> tile;
  tile.clear();
  tile.add(a, a_stride, b, 4 * b_vectors, steps);
  tile.store(products, add);
}

template <class Unit>
using Multiply = void(const typename Unit::ADigit*, std::int64_t, const std::uint8_t*, std::int64_t, std::int64_t,
                      std::int32_t*, bool);

/// Number of rows of the smallest tile that holds a panel of A.
template <class Unit>
std::int64_t rows_of_tile(std::int64_t vectors) {
  return vectors == 1 ? 1 : vectors <= 2 ? 2 : vectors <= 4 ? 4 : std::int64_t{Unit::rows};
}

template <class Unit, unsigned Vectors>
Multiply<Unit>* tile_of_rows(std::int64_t rows) {
  if (rows == 1) return multiply_tile<Unit, 1, Vectors>;
  if (rows <= 2) return multiply_tile<Unit, 2, Vectors>;
  if (rows <= 4) return multiply_tile<Unit, 4, Vectors>;
  return multiply_tile<Unit, Unit::rows, Vectors>;
}

/// The smallest tile that holds the panels.
template <class Unit>
Multiply<Unit>* tile_of(const KernelBlock& block) {
  const auto vectors = (block.b_vectors + Unit::columns - 1) / Unit::columns;
  return vectors == 1                         ? tile_of_rows<Unit, 1>(block.a_vectors)
         : vectors == 2 || Unit::vectors == 2 ? tile_of_rows<Unit, 2>(block.a_vectors)
                                              : tile_of_rows<Unit, Unit::vectors>(block.a_vectors);
}

inline const std::uint8_t* digits_of_b(const KernelBlock& block, std::int64_t digit) {
  return reinterpret_cast<const std::uint8_t*>(block.b) + digit * block.b_vectors;
}

/// Multiplies one run for a panel of A, whose digits are widened once, and each of some panels of B.
template <class Unit>
void multiply_widened(const KernelBlock* blocks, std::int64_t panels, const KernelRun& run, std::int64_t apart, bool add) {
  constexpr std::int64_t most = 256;  // steps widened at a time
  std::int16_t widened[most * Unit::rows * 4];
  const auto vectors = blocks->a_vectors, rows = rows_of_tile<Unit>(vectors), steps = run.digits / 4;
  for (std::int64_t start = 0; start < steps; start += most) {
    const auto count = steps - start < most ? steps - start : most;
    const auto* const a = blocks->a + (run.a + 4 * start) * vectors;
    if (rows == vectors)
      for (std::int64_t d = 0; d < 4 * rows * count; ++d) widened[d] = a[d];
    else
      for (std::int64_t t = 0; t < count; ++t)
        for (std::int64_t d = 0; d < 4 * rows; ++d) widened[t * rows * 4 + d] = a[t * vectors * 4 + d];
    for (std::int64_t y = 0; y < panels; ++y)
      tile_of<Unit>(blocks[y])(widened, 4 * rows, digits_of_b(blocks[y], run.b + 4 * start), blocks[y].b_vectors, count,
                               run.products + y * apart, add || start > 0);
  }
}

template <class Unit>
void multiply(const KernelBlock& block, const KernelRun* runs, std::int64_t count, bool add) {
  for (const auto* run = runs; run != runs + count; ++run)
    if constexpr (sizeof(typename Unit::ADigit) == 1)
      tile_of<Unit>(block)(block.a + run->a * block.a_vectors, 4 * block.a_vectors, digits_of_b(block, run->b), block.b_vectors,
                           run->digits / 4, run->products, add);
    else
      multiply_widened<Unit>(&block, 1, *run, 0, add);
}

template <class Unit>
void multiply_panels(const KernelBlock* blocks, std::int64_t panels, const KernelRun& run, std::int64_t apart) {
  multiply_widened<Unit>(blocks, panels, run, apart, true);
}

using MultiplyPanels = void(const KernelBlock*, std::int64_t, const KernelRun&, std::int64_t);

template <class Unit>
constexpr MultiplyPanels* panels_of() {
  if constexpr (sizeof(typename Unit::ADigit) == 1)
    return nullptr;
  else
    return multiply_panels<Unit>;
}

/// Start and stop functions of a unit without a state to configure.
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
                                              .multiply_panels = panels_of<Unit>(),
                                              .slice = slice_steps,
                                              .residues = residue_steps,
                                              .recover = recover,
                                              .recover_products = recover_int32,
                                              .magnitudes = magnitudes,
                                              .digit_sums = digit_sums,
                                              .add = add,
                                              .add_with_columns = add_with_columns,
                                              .round = round_entries,
                                              .round_enclosed = round_enclosed};

}  // namespace
}  // namespace ozbound
