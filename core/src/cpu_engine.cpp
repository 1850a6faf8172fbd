#include "ozbound/core/cpu_engine.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "dot_kernel.hpp"
#include "ozbound/core/combine.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

constexpr Index cache_block = 2048;  // digits of a row kept as INT16 while a tile uses them

/// Digits of the longest block that is summed in INT32: what was asked for, what cannot overflow, what there is.
Index longest_block(const CpuEngine::Options& options, const SplitPlan& plan, Index k) {
  const Index pairs = std::min(plan.a.slices, plan.b.slices);
  const Index most = std::min(options.inner_block, plan.int32_terms());
  return k > most / pairs ? most : std::max<Index>(pairs * k, 1);
}

Index round_up(Index x, Index multiple) { return (x + multiple - 1) / multiple * multiple; }

void check_operands(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan) {
  plan.validate();
  if (a.side() != Side::rows_of_a) throw std::invalid_argument("a must be sliced by rows");
  if (b.side() != Side::columns_of_b) throw std::invalid_argument("b must be sliced by columns");
  if (a.slicing() != plan.a) throw std::invalid_argument("a is not sliced as the plan says");
  if (b.slicing() != plan.b) throw std::invalid_argument("b is not sliced as the plan says");
  if (a.inner_dimension() != b.inner_dimension())
    throw std::invalid_argument("a and b have different inner dimensions: " + std::to_string(a.inner_dimension()) + ", " +
                                std::to_string(b.inner_dimension()));
  Index pairs = 1;
  for (const auto& group : plan.groups(a.inner_dimension())) pairs = std::max<Index>(pairs, group.pairs());
  const Index largest = pairs * plan.a.encoding.digit_magnitude() * plan.b.encoding.digit_magnitude();
  if (a.inner_dimension() > max_group_sum(plan.accumulation) / largest)
    throw std::invalid_argument("the inner dimension is too long for the integer sums: " + std::to_string(a.inner_dimension()));
}

/// A block of C, the groups' integer sums over it, and the panels of digits that it is computed from.
class Tile {
 public:
  Tile(Index rows, Index columns, Index inner_block, std::size_t groups)
      : inner_block_(inner_block),
        capacity_(rows * columns),
        sums_(groups * static_cast<std::size_t>(capacity_)),
        a_panel_(static_cast<std::size_t>(round_up(rows, kernel_rows) * inner_block)),
        b_panel_(static_cast<std::size_t>(round_up(columns, kernel_columns) * inner_block)) {}

  void start(Index row, Index column, Index rows, Index columns) {
    row_ = row, column_ = column, rows_ = rows, columns_ = columns;
    std::fill(sums_.begin(), sums_.end(), 0);
  }

  /// Adds the products of one group, block by block of the inner dimension, each block's sum exact in INT32.
  void add_group(const SlicedMatrix& a, const SlicedMatrix& b, const ProductGroup& group, std::size_t index) {
    const Index length = group.pairs() * a.inner_dimension();
    for (Index start = 0; start < length; start += inner_block_) {
      const Index block = std::min(inner_block_, length - start);
      for (Index i = 0; i < rows_; ++i) widen(a, row_ + i, group.first_a, start, block, &a_panel_[at(i * inner_block_)]);
      for (Index j = 0; j < columns_; ++j)
        widen(b, column_ + j, group.diagonal - group.first_a, start, block, &b_panel_[at(j * inner_block_)]);
      add_panels(block, &sums_[index * at(capacity_)]);
    }
  }

  /// The sums of entry (i, j) of the tile, a stride of capacity() apart.
  [[nodiscard]] const std::int64_t* sums(Index i, Index j) const { return &sums_[at(i * columns_ + j)]; }
  [[nodiscard]] Index capacity() const { return capacity_; }
  [[nodiscard]] Index row() const { return row_; }
  [[nodiscard]] Index column() const { return column_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }

 private:
  static std::size_t at(Index index) { return static_cast<std::size_t>(index); }

  /// Digits start … start + length from the beginning of a slice of vector i on, which the next slice follows.
  static void widen(const SlicedMatrix& x, Index i, int slice, Index start, Index length, std::int16_t* out) {
    const auto* bytes = x.slice(i, slice) + start;
    std::copy_n(bytes, length, out);
    if (!x.slicing().encoding.unsigned_digit(2)) return;
    const Index signed_from = x.slice(i, 1) - bytes;  // slice 1 alone is signed
    for (Index l = 0; l < length; ++l)
      if (l < signed_from || l >= signed_from + x.inner_dimension()) out[l] = static_cast<std::int16_t>(out[l] & 0xff);
  }

  void add_panels(Index length, std::int64_t* sums) const {
    std::array<std::int32_t, kernel_rows * kernel_columns> block{};
    for (Index i = 0; i < rows_; i += kernel_rows)
      for (Index j = 0; j < columns_; j += kernel_columns) {
        dot_kernel(&a_panel_[at(i * inner_block_)], &b_panel_[at(j * inner_block_)], inner_block_, length, block.data());
        const Index rows = std::min<Index>(kernel_rows, rows_ - i);
        const Index columns = std::min<Index>(kernel_columns, columns_ - j);
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < columns; ++c) sums[(i + r) * columns_ + j + c] += block[at(kernel_columns * r + c)];
      }
  }

  Index inner_block_;
  Index capacity_;
  Index row_ = 0, column_ = 0, rows_ = 0, columns_ = 0;
  std::vector<std::int64_t> sums_;
  std::vector<std::int16_t> a_panel_, b_panel_;
};

/// What one product needs beside its operands, allocated before any entry of C is written.
class TiledProduct {
 public:
  TiledProduct(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan, const CpuEngine::Options& options)
      : a_(a), b_(b), groups_(plan.groups(a.inner_dimension())), options_(options) {
    options_.inner_block = longest_block(options, plan, a.inner_dimension());
    options_.row_tile = std::min(options.row_tile, a.count());
    options_.column_tile = std::min(options.column_tile, b.count());
    if (a.count() == 0 || b.count() == 0) return;
    row_tiles_ = (a.count() + options_.row_tile - 1) / options_.row_tile;
    column_tiles_ = (b.count() + options_.column_tile - 1) / options_.column_tile;
    for (int t = 0; t < options_.threads; ++t)
      tiles_.emplace_back(options_.row_tile, options_.column_tile, options_.inner_block, groups_.size());
  }

  /// Calls finish(tile, number of the thread) for every tile, in any order, from many threads.
  template <class Finish>
  void run(const Finish& finish) {
    const Index count = row_tiles_ * column_tiles_;
    if (count == 0) return;
#pragma omp parallel num_threads(options_.threads)
    {
      const FloatEnvironment environment;
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      auto& tile = tiles_[thread];
#pragma omp for schedule(dynamic, 1)
      for (Index t = 0; t < count; ++t) {
        const Index row = t / column_tiles_ * options_.row_tile;
        const Index column = t % column_tiles_ * options_.column_tile;
        tile.start(row, column, std::min(options_.row_tile, a_.count() - row),
                   std::min(options_.column_tile, b_.count() - column));
        for (std::size_t g = 0; g < groups_.size(); ++g) tile.add_group(a_, b_, groups_[g], g);
        finish(tile, thread);
      }
    }
  }

 private:
  const SlicedMatrix& a_;
  const SlicedMatrix& b_;
  std::vector<ProductGroup> groups_;
  CpuEngine::Options options_;
  Index row_tiles_ = 0, column_tiles_ = 0;
  std::vector<Tile> tiles_;
};

/// Rounds the sums of a tile into C.
class TileEpilogue {
 public:
  TileEpilogue(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan, const Epilogue& epilogue, OutputView c)
      : a_(a),
        b_(b),
        layout_(sum_layout(plan, a.inner_dimension())),
        groups_(plan.common_ratio() ? std::vector<ProductGroup>{} : plan.groups(a.inner_dimension())),
        epilogue_(epilogue),
        scalars_{to_dyadic(epilogue.alpha), to_dyadic(epilogue.beta), c.format()},
        c_(c) {}

  void finish(const Tile& tile, std::vector<Entry>& undecided) const {
    for (Index i = tile.row(); i < tile.row() + tile.rows(); ++i) {
      if (a_.special(i)) continue;
      for (Index j = tile.column(); j < tile.column() + tile.columns(); ++j)
        if (!b_.special(j)) finish_entry(tile, i, j, undecided);
    }
  }

 private:
  void finish_entry(const Tile& tile, Index i, Index j, std::vector<Entry>& undecided) const {
    const auto c0 = is_zero(epilogue_.beta) ? bits_of(0.0) : epilogue_.c0.bits(i, j);
    if (!is_finite(c0, binary64)) return;
    const double error = epilogue_.error == nullptr ? 0 : epilogue_.error->upper(i, j);
    const auto combined = [&](const SumLayout& layout) {
      return combine(tile.sums(i - tile.row(), j - tile.column()), tile.capacity(), layout, a_.exponent(i) + b_.exponent(j),
                     scalars_, to_dyadic(c0, binary64), error);
    };
    const auto entry = groups_.empty() ? combined(layout_) : combined(layout_of(i, j));
    if (entry.decided)
      c_.set_bits(i, j, entry.bits);
    else
      undecided.push_back({i, j});
  }

  /// The layout with the weights that row i and column j have of their own.
  [[nodiscard]] SumLayout layout_of(Index i, Index j) const {
    auto layout = layout_;
    for (std::size_t t = 0; t < groups_.size(); ++t) {
      const int p = groups_[t].first_a, q = groups_[t].diagonal - p;
      layout.weight_exponent[t] = static_cast<std::int16_t>(a_.weight_exponent(i, p) + b_.weight_exponent(j, q));
    }
    return layout;
  }

  const SlicedMatrix& a_;
  const SlicedMatrix& b_;
  SumLayout layout_;
  std::vector<ProductGroup> groups_;  ///< empty where layout_ is that of every entry
  Epilogue epilogue_;
  Scalars scalars_;
  OutputView c_;
};

void check_epilogue(const Epilogue& epilogue, const OutputView& c, Index m, Index n) {
  const auto fits = [m, n](const auto& view) { return view.rows() == m && view.cols() == n; };
  if (!fits(c)) throw std::invalid_argument("c must be " + std::to_string(m) + " x " + std::to_string(n));
  if (!is_zero(epilogue.beta) && !fits(epilogue.c0))
    throw std::invalid_argument("c0 must be " + std::to_string(m) + " x " + std::to_string(n));
  if (!is_finite(bits_of(epilogue.alpha), binary64)) throw std::invalid_argument("alpha must be finite");
  if (!is_finite(bits_of(epilogue.beta), binary64)) throw std::invalid_argument("beta must be finite");
}

}  // namespace

CpuEngine::CpuEngine(Options options) : options_(options) {
  if (options.threads < 0) throw std::invalid_argument("threads must not be negative: " + std::to_string(options.threads));
  if (options.inner_block < 0) throw std::invalid_argument("inner_block must not be negative");
  if (options.row_tile < 0) throw std::invalid_argument("row_tile must not be negative");
  if (options.column_tile < 0) throw std::invalid_argument("column_tile must not be negative");
  if (options_.threads == 0) options_.threads = omp_get_max_threads();
  if (options_.inner_block == 0) options_.inner_block = cache_block;
  if (options_.row_tile == 0) options_.row_tile = 32;
  if (options_.column_tile == 0) options_.column_tile = 64;
}

SlicedMatrix CpuEngine::slice(InputView operand, Side side, Slicing slicing) const {
  return {operand, side, slicing, options_.threads};
}

SliceFacts CpuEngine::measure(InputView operand, Side side, Slicing slicing) const {
  return {operand, side, slicing, options_.threads};
}

std::vector<Entry> CpuEngine::multiply(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                                       const Epilogue& epilogue, OutputView c) const {
  check_operands(a, b, plan);
  check_epilogue(epilogue, c, a.count(), b.count());
  TiledProduct product(a, b, plan, options_);
  const TileEpilogue last(a, b, plan, epilogue, c);
  std::vector<std::vector<Entry>> undecided(static_cast<std::size_t>(options_.threads));
  product.run([&](const Tile& tile, std::size_t thread) { last.finish(tile, undecided[thread]); });
  std::vector<Entry> all;
  for (const auto& part : undecided) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Matrix<std::int64_t>> CpuEngine::group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                        const SplitPlan& plan) const {
  check_operands(a, b, plan);
  std::vector<Matrix<std::int64_t>> sums;
  for (std::size_t t = 0; t < plan.groups(a.inner_dimension()).size(); ++t) sums.emplace_back(a.count(), b.count());
  TiledProduct product(a, b, plan, options_);
  product.run([&](const Tile& tile, std::size_t) {
    for (Index i = 0; i < tile.rows(); ++i)
      for (Index j = 0; j < tile.columns(); ++j)
        for (std::size_t t = 0; t < sums.size(); ++t)
          sums[t](tile.row() + i, tile.column() + j) = tile.sums(i, j)[static_cast<Index>(t) * tile.capacity()];
  });
  return sums;
}

double CpuEngine::workspace(const SplitPlan& plan, Index m, Index n, Index k) const {
  const double rows = static_cast<double>(std::min(options_.row_tile, m) + kernel_rows);
  const double columns = static_cast<double>(std::min(options_.column_tile, n) + kernel_columns);
  const double tile = rows * columns * 8.0 * static_cast<double>(plan.groups(k).size()) +
                      2.0 * (rows + columns) * static_cast<double>(longest_block(options_, plan, k));
  return SlicedMatrix::bytes(m, k, plan.a) + SlicedMatrix::bytes(n, k, plan.b) + options_.threads * tile;
}

}  // namespace ozbound
