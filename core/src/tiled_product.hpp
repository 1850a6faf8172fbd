// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/functions.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/panel_view.hpp"
#include "ozbound/core/progress.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound {

/// Slice products that are summed in INT32 together. They cover `digits` digits along the inner dimension of a block, from
/// digit `skip` of the pair (p, q) on; the pairs (p + 1, q - 1), … of the same diagonal follow.
struct ProductRun {
  std::size_t group;
  int p;
  int q;
  Index skip;
  Index digits;
};

/// Runs of different groups.
using ProductRound = std::vector<ProductRun>;

/// The rounds over a block whose slices have `block_digits` digits each. There is one round of whole groups, or more rounds if
/// INT32 could overflow.
std::vector<ProductRound> product_rounds(const std::vector<ProductGroup>& groups, Index block_digits, Index int32_terms,
                                         Index multiple);

/// True if a group has more products, along a filled-up inner dimension, than an INT32 sum can hold.
bool exceeds_int32(const std::vector<ProductGroup>& groups, Index filled_inner, Index int32_terms);

/// Integer sums of the entries of a block of C, as a TileEpilogue reads them.
class EntrySums {
 public:
  virtual ~EntrySums() = default;
  static constexpr Index part = 64;  ///< most entries of a row per call of sums()

  /// Sums of entries (i, first) … of the tile, those of group t from [t * part] on. Valid until the next call.
  virtual const std::int64_t* sums(Index i, Index first, Index count) = 0;
  [[nodiscard]] virtual Index row() const = 0;
  [[nodiscard]] virtual Index column() const = 0;
  [[nodiscard]] virtual Index rows() const = 0;
  [[nodiscard]] virtual Index columns() const = 0;
};

/// A block of C and the exact integer sum of every group over it: in INT32 as long as the sums fit, then added up in INT64.
class SumTile final : public EntrySums {
 public:
  struct Shape {
    Index rows;
    Index columns;
    std::size_t groups;
    Index int32_terms;
    bool wide;  ///< exceeds_int32
  };
  SumTile(const Kernel& kernel, const Shape& shape);

  void start(Index row, Index column, Index rows, Index columns);

  /// Adds a block of the inner dimension to the sums. @pre the tile starts at panel boundaries; KernelScope.
  void add_block(const PanelView& a, const PanelView& b, Index block, const std::vector<ProductRound>& rounds);

  const std::int64_t* sums(Index i, Index first, Index count) override;
  [[nodiscard]] Index row() const override { return row_; }
  [[nodiscard]] Index column() const override { return column_; }
  [[nodiscard]] Index rows() const override { return rows_; }
  [[nodiscard]] Index columns() const override { return columns_; }

  /// Products of stored bytes of the entries (i, first) …, at most `count` of them and only those in one panel: products[t *
  /// stride + j] + corrections[t * correction_stride] is the sum of group t. Null if they do not fit INT32, or columns have
  /// corrections too.
  struct RowProducts {
    const std::int32_t* products = nullptr;
    Index count = 0;
    Index stride = 0;
    const std::uint32_t* corrections = nullptr;
    Index correction_stride = 0;
  };
  [[nodiscard]] RowProducts row_products(Index i, Index first, Index count);

  /// True if every sum fits INT32: |sums| < 2^31.
  [[nodiscard]] bool in_int32() const { return wide_.empty(); }

  static double bytes(const Shape& shape);

 private:
  [[nodiscard]] std::int32_t* products(Index panel_row, Index panel_column, std::size_t group);
  [[nodiscard]] std::int64_t* wide(std::size_t group, Index i, Index j);
  void start_int32();
  void widen();
  void find_corrections(const PanelView& a, const PanelView& b, Index block, const ProductRound& round);
  const std::uint32_t* sums_of(const PanelView& x, Index panel, Index block, int p, Index skip, Index count,
                               std::uint32_t* found) const;
  void multiply(const PanelView& a, const PanelView& b, Index block, const ProductRound& round);
  void multiply_panels(const PanelView& a, const PanelView& b, Index block, const ProductRound& round);

  const Kernel& kernel_;
  Shape shape_;  ///< numbers of rows and columns in whole panels
  Index row_ = 0, column_ = 0, rows_ = 0, columns_ = 0;
  Index terms_ = 0;  ///< number of terms of the longest INT32 sum
  bool rows_corrected_ = false, columns_corrected_ = false;
  std::vector<std::int32_t> products_;             ///< [panel of B][panel of A][group][row][column] of stored digits
  std::vector<std::int64_t> wide_;                 ///< [group][row][column]; empty if the sums fit INT32
  std::vector<std::uint32_t> row_corrections_;     ///< [group][row]: to be added to products of stored digits
  std::vector<std::uint32_t> column_corrections_;  ///< [group][column]
  std::vector<std::int64_t> sums_;                 ///< [group][part]
  std::vector<KernelRun> runs_;
  std::vector<KernelBlock> blocks_;  ///< a panel of A paired with each panel of B
};

/// The working memory of one product beside its operands, allocated before any entry of C is written.
class TiledProduct {
 public:
  /// @param int32_terms number of products of layers in an INT32 sum
  TiledProduct(const PanelView& a, const PanelView& b, const std::vector<ProductGroup>& groups, Index int32_terms, int products,
               const CpuEngine::Options& options, const Kernel& kernel);

  /// Rows and columns of the tiles for operands of m rows and n columns.
  struct Shape {
    Index rows;
    Index columns;
  };
  static Shape tile_shape(const CpuEngine::Options& options, const Kernel& kernel, std::size_t groups, Index m, Index n);

  /// Number of threads that run() uses.
  [[nodiscard]] std::size_t threads() const { return tiles_.size(); }

  /// Calls finish(tile, thread number) for every tile, in any order, from many threads.
  /// @param parts real numbers per entry, for progress reports
  template <class Finish>
  void run(const Finish& finish, Index parts = 1) {
    const Index row_tiles = (a_.count + shape_.rows - 1) / shape_.rows;
    const Index count = row_tiles * ((b_.count + shape_.columns - 1) / shape_.columns);
    if (count == 0) return;
    FirstException failure;
    auto* const progress = ProgressScope::innermost();
#pragma omp parallel num_threads(static_cast<int>(tiles_.size())) if (tiles_.size() > 1)
    {
      const FloatEnvironment environment;
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      auto& tile = tiles_[thread];
#pragma omp for schedule(dynamic, 1)
      for (Index t = 0; t < count; ++t) {  // a column of tiles shares B's panel
        const Index row = t % row_tiles * shape_.rows, column = t / row_tiles * shape_.columns;
        failure.run([&] {
          tile.start(row, column, std::min(shape_.rows, a_.count - row), std::min(shape_.columns, b_.count - column));
          multiply(tile);
          finish(tile, thread);
          if (progress != nullptr) progress->add(parts * tile.rows() * tile.columns());
        });
      }
    }
    failure.rethrow();
  }

 private:
  /// Releases the AMX tiles before the epilogue and the progress callback run; both may need them.
  void multiply(SumTile& tile) const {
    const KernelScope scope(kernel_);
    for (Index block = 0; block < a_.blocks(); ++block) tile.add_block(a_, b_, block, rounds_of(block));
  }
  [[nodiscard]] Index useful_threads(Index most, Index products, const PanelView& a, const PanelView& b) const;
  [[nodiscard]] const std::vector<ProductRound>& rounds_of(Index block) const {
    return block + 1 < a_.blocks() ? whole_block_ : last_block_;
  }

  PanelView a_;
  PanelView b_;
  const Kernel& kernel_;
  Shape shape_{1, 1};
  std::vector<ProductRound> whole_block_, last_block_;
  std::vector<SumTile> tiles_;
};

}  // namespace ozbound
