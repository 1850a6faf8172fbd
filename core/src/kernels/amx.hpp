// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "functions.hpp"
#include "residue.hpp"
#include "rows.hpp"
#include "slice.hpp"

// Products by AMX, with tiles of 16 x 64 bytes. A tile of A holds 64 digits of 16 vectors. A tile of B holds four digits of 16
// vectors in each of its 16 rows. A tile of sums, 16 x 16 INT32, takes 16^2 * 64 products in 16 cycles. Panels have 32 vectors:
// two tiles side by side. If a panel does not fill a tile, the tile reads beyond the panel; the resulting sums are not used.
//
// Tiles come from the second-level cache, which is too slow to feed four tiles of sums from four others. Four adjacent
// diagonals are therefore multiplied together, and a tile of A or B is loaded once for all of them.
//
// `Tiles` are the instructions, on tiles numbered 0 … 7:
//
//   configure(), release()           between them all tiles have 16 x 64 bytes
//   zero<t>(), load<t>(bytes, row_bytes), load_once<t>(…), store<t>(…)
//                                    load_once does not fill the first-level cache
//   add_products<sums, a, b>()       of int8 by int8, modulo 2^32

namespace ozbound {
namespace {

constexpr std::int64_t tile_side = 16, tile_digits = 64, panel_side = 2 * tile_side;

/// Data shared by several runs: positions of the panels and distances between their parts.
struct TilePanels {
  const std::int8_t *a, *b;
  std::int64_t a_step_bytes, b_step_bytes;  ///< size of 64 digits of all vectors
  std::int64_t b_row_bytes;                 ///< size of four digits of all vectors
  bool low_half, right_half;                ///< there are more than 16 vectors of A, of B

  explicit TilePanels(const KernelBlock& block)
      : a(block.a),
        b(block.b),
        a_step_bytes(tile_digits * block.a_vectors),
        b_step_bytes(tile_digits * block.b_vectors),
        b_row_bytes(4 * block.b_vectors),
        low_half(block.a_vectors > tile_side),
        right_half(block.b_vectors > tile_side) {}
};

constexpr std::int64_t products_row_bytes = panel_side * 4;

template <class Tiles, int sums>
[[gnu::always_inline]] inline void begin_sums(const std::int32_t* products, bool add) {
  if (add)
    Tiles::template load<sums>(products, products_row_bytes);
  else
    Tiles::template zero<sums>();
}

/// Multiplies one run. Tiles 0 … 3 are the quarters of the panels' products.
template <class Tiles, bool low_half, bool right_half>
void multiply_run(const TilePanels& panels, const KernelRun& run, bool add) {
  std::int32_t* const products = run.products;
  begin_sums<Tiles, 0>(products, add);
  if constexpr (right_half) begin_sums<Tiles, 1>(products + tile_side, add);
  if constexpr (low_half) begin_sums<Tiles, 2>(products + tile_side * panel_side, add);
  if constexpr (low_half && right_half) begin_sums<Tiles, 3>(products + tile_side * panel_side + tile_side, add);
  const auto* a = panels.a + run.a / tile_digits * panels.a_step_bytes;
  const auto* b = panels.b + run.b / tile_digits * panels.b_step_bytes;
  for (std::int64_t left = run.digits; left > 0; left -= tile_digits, a += panels.a_step_bytes, b += panels.b_step_bytes) {
    Tiles::template load<6>(b, panels.b_row_bytes);
    Tiles::template load_once<4>(a, tile_digits);
    Tiles::template add_products<0, 4, 6>();
    if constexpr (right_half) {
      Tiles::template load<7>(b + 4 * tile_side, panels.b_row_bytes);
      Tiles::template add_products<1, 4, 7>();
    }
    if constexpr (low_half) {
      Tiles::template load_once<5>(a + tile_side * tile_digits, tile_digits);
      Tiles::template add_products<2, 5, 6>();
    }
    if constexpr (low_half && right_half) Tiles::template add_products<3, 5, 7>();
  }
  Tiles::template store<0>(products, products_row_bytes);
  if constexpr (right_half) Tiles::template store<1>(products + tile_side, products_row_bytes);
  if constexpr (low_half) Tiles::template store<2>(products + tile_side * panel_side, products_row_bytes);
  if constexpr (low_half && right_half)
    Tiles::template store<3>(products + tile_side * panel_side + tile_side, products_row_bytes);
}

template <class Tiles>
void multiply_run(const TilePanels& panels, const KernelRun& run, bool add) {
  if (panels.low_half)
    (panels.right_half ? multiply_run<Tiles, true, true> : multiply_run<Tiles, true, false>)(panels, run, add);
  else
    (panels.right_half ? multiply_run<Tiles, false, true> : multiply_run<Tiles, false, false>)(panels, run, add);
}

/// Four runs of whole slices, in which slice y of B meets the slices y - shift, …, y - shift + 3 of A, in memory order.
class FourDiagonals {
 public:
  static constexpr int count = 4;

  /// True if the runs have this form.
  static bool are(const KernelRun* runs, std::int64_t slice_digits) {
    for (int r = 0; r < count; ++r) {
      if (runs[r].a % slice_digits != 0 || runs[r].b % slice_digits != 0 || runs[r].digits % slice_digits != 0) return false;
      if (runs[r].b - runs[r].a != runs[0].b - runs[0].a - r * slice_digits) return false;
    }
    return true;
  }

  /// @pre are(runs)
  FourDiagonals(const KernelRun* runs, std::int64_t slice_digits)
      : runs_(runs),
        slice_digits_(slice_digits),
        shift_((runs[0].b - runs[0].a) / slice_digits),
        first_a_(runs[0].a),
        first_b_(runs[0].b) {
    std::int64_t end_a = 0, end_b = 0;
    for (int r = 0; r < count; ++r) {
      first_a_ = least(first_a_, runs[r].a), first_b_ = least(first_b_, runs[r].b);
      end_a = -least(-end_a, -runs[r].a - runs[r].digits), end_b = -least(-end_b, -runs[r].b - runs[r].digits);
    }
    first_a_ /= slice_digits, first_b_ /= slice_digits;
    end_a_ = end_a / slice_digits, slices_b_ = static_cast<int>(end_b / slice_digits - first_b_);
    for (int y = 0; y < slices_b_; ++y) {
      const auto digit = (first_b_ + y) * slice_digits;
      for (int r = 0; r < count; ++r)
        if (digit >= runs[r].b && digit < runs[r].b + runs[r].digits) parts_[y] |= static_cast<std::uint8_t>(1 << r);
      if (has_a(y, 3)) parts_[y] |= new_a;
    }
  }

  template <class Tiles>
  void multiply(const TilePanels& panels, bool add) const {
    for (int low = 0; low <= (panels.low_half ? 1 : 0); ++low)
      for (int right = 0; right <= (panels.right_half ? 1 : 0); ++right) {
        const auto quarter = low * tile_side * panel_side + right * tile_side;
        begin_sums<Tiles, 0>(runs_[0].products + quarter, add);
        begin_sums<Tiles, 1>(runs_[1].products + quarter, add);
        begin_sums<Tiles, 2>(runs_[2].products + quarter, add);
        begin_sums<Tiles, 3>(runs_[3].products + quarter, add);
        const auto* a = panels.a + low * tile_side * tile_digits;
        const auto* b = panels.b + right * tile_side * 4;
        for (std::int64_t l = 0; l < slice_digits_; l += tile_digits, a += panels.a_step_bytes, b += panels.b_step_bytes)
          add_step<Tiles>(panels, a, b);
        Tiles::template store<0>(runs_[0].products + quarter, products_row_bytes);
        Tiles::template store<1>(runs_[1].products + quarter, products_row_bytes);
        Tiles::template store<2>(runs_[2].products + quarter, products_row_bytes);
        Tiles::template store<3>(runs_[3].products + quarter, products_row_bytes);
      }
  }

 private:
  static constexpr std::uint8_t new_a = 1 << count;  ///< a slice of A that no earlier slice of B met
  static std::int64_t least(std::int64_t x, std::int64_t y) { return x < y ? x : y; }

  /// Place of the slice of A that run r multiplies by slice y of B; has_a is true if it exists.
  [[nodiscard]] std::int64_t place_a(int y, int r) const { return first_b_ + y - shift_ + r; }
  [[nodiscard]] bool has_a(int y, int r) const { return place_a(y, r) >= first_a_ && place_a(y, r) < end_a_; }

  /// Multiplies 64 digits of every slice. Slices of A occupy tiles 4, 5 and 6 in turn: of the four that a slice of B meets, the
  /// newest replaces the oldest.
  template <class Tiles>
  [[gnu::always_inline]] void add_step(const TilePanels& panels, const std::int8_t* a, const std::int8_t* b) const {
    const auto a_slice = slice_digits_ / tile_digits * panels.a_step_bytes;
    const auto b_slice = slice_digits_ / tile_digits * panels.b_step_bytes;
    const auto* next_a = a + place_a(0, 0) * a_slice;
    b += first_b_ * b_slice;
    if (has_a(0, 0)) Tiles::template load_once<4>(next_a, tile_digits);
    if (has_a(0, 1)) Tiles::template load_once<5>(next_a + a_slice, tile_digits);
    if (has_a(0, 2)) Tiles::template load_once<6>(next_a + 2 * a_slice, tile_digits);
    next_a += 3 * a_slice;
    const auto* parts = parts_;
    for (const auto* const end = parts_ + slices_b_;;) {
      add_slice<Tiles, 4, 5, 6>(*parts, next_a, b, panels.b_row_bytes);
      if (++parts == end) return;
      next_a += a_slice, b += b_slice;
      add_slice<Tiles, 5, 6, 4>(*parts, next_a, b, panels.b_row_bytes);
      if (++parts == end) return;
      next_a += a_slice, b += b_slice;
      add_slice<Tiles, 6, 4, 5>(*parts, next_a, b, panels.b_row_bytes);
      if (++parts == end) return;
      next_a += a_slice, b += b_slice;
    }
  }

  template <class Tiles, int oldest, int second, int third>
  [[gnu::always_inline]] static void add_slice(unsigned parts, const std::int8_t* next_a, const std::int8_t* b,
                                               std::int64_t b_row_bytes) {
    Tiles::template load_once<7>(b, b_row_bytes);
    if ((parts & 1) != 0) Tiles::template add_products<0, oldest, 7>();
    if ((parts & new_a) != 0) Tiles::template load_once<oldest>(next_a, tile_digits);
    if ((parts & 2) != 0) Tiles::template add_products<1, second, 7>();
    if ((parts & 4) != 0) Tiles::template add_products<2, third, 7>();
    if ((parts & 8) != 0) Tiles::template add_products<3, oldest, 7>();
  }

  const KernelRun* runs_;
  std::int64_t slice_digits_;
  std::int64_t shift_;
  std::int64_t first_a_, end_a_, first_b_;
  int slices_b_ = 0;
  std::uint8_t parts_[max_slice_count] = {};  ///< for each slice of B: its runs, and new_a
};

/// Multiplies four runs at a time, starting with the last ones, which are the longest diagonals of a triangle. Other runs are
/// multiplied one by one.
template <class Tiles>
void multiply_tiles(const KernelBlock& block, const KernelRun* runs, std::int64_t count, bool add) {
  const TilePanels panels(block);
  while (count > 0) {
    const auto* const four = count < FourDiagonals::count ? nullptr : runs + count - FourDiagonals::count;
    if (four != nullptr && FourDiagonals::are(four, block.slice_digits)) {
      FourDiagonals(four, block.slice_digits).template multiply<Tiles>(panels, add);
      count -= FourDiagonals::count;
    } else {
      multiply_run<Tiles>(panels, runs[--count], add);
    }
  }
}

static_assert(panel_side <= most_rows && panel_side <= most_columns && (tile_side - 1) * tile_digits <= panel_slack_bytes);

template <class Tiles>
inline constexpr KernelFunctions amx_functions_of{.rows = panel_side,
                                                  .columns = panel_side,
                                                  .a_step = tile_digits,
                                                  .multiple = tile_digits,
                                                  .signed_b = true,
                                                  .tile_rows = 4 * panel_side,
                                                  .tile_columns = 4 * panel_side,
                                                  .tile_bytes = std::int64_t{1} << 19,
                                                  .start = Tiles::configure,
                                                  .stop = Tiles::release,
                                                  .multiply = multiply_tiles<Tiles>,
                                                  .multiply_panels = nullptr,
                                                  .slice = slice_steps,
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
