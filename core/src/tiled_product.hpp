// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/panel_slices.hpp"
#include "ozbound/core/progress.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound {

/// Slice products that are summed in INT32 together: `digits` digits along the inner dimension of a block, from digit `skip`
/// of the pair (p, q) on; the pairs (p + 1, q - 1), … of the same diagonal follow.
struct ProductRun {
  std::size_t group;
  int p;
  int q;
  Index skip;
  Index digits;
};

/// A block of C and the exact integer sum of every group over it.
class SumTile {
 public:
  SumTile(const Kernel& kernel, Index rows, Index columns, std::size_t groups, std::size_t runs);

  void start(Index row, Index column, Index rows, Index columns);

  /// Adds a block of the inner dimension to the sums. @pre the tile starts where panels do.
  void add_block(const PanelSlices& a, const PanelSlices& b, Index block, const std::vector<ProductRun>& runs);

  /// Sums of group t from entry (i, 0) of the tile on; those of the next group are capacity() away.
  [[nodiscard]] const std::int64_t* sums(Index i) const { return &sums_[static_cast<std::size_t>(i * stride_)]; }
  [[nodiscard]] Index capacity() const { return capacity_; }
  [[nodiscard]] Index row() const { return row_; }
  [[nodiscard]] Index column() const { return column_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }

  static double bytes(const Kernel& kernel, Index rows, Index columns, std::size_t groups, std::size_t runs);

 private:
  const std::uint32_t* sums_of(const PanelSlices& x, Index panel, Index block, int p, Index skip, Index count,
                               std::uint32_t* part) const;
  void correct_rows(const PanelSlices& a, const PanelSlices& b, Index block, const std::vector<ProductRun>& runs);
  void correct_columns(const PanelSlices& a, const PanelSlices& b, Index panel, Index block, const ProductRun& run);
  void add_products(Index row, Index rows, Index column, Index columns, const std::uint32_t* corrections, bool by_column,
                    std::size_t group);

  const Kernel& kernel_;
  Index stride_;
  Index capacity_;
  Index row_ = 0, column_ = 0, rows_ = 0, columns_ = 0;
  std::vector<std::int64_t> sums_;
  std::vector<std::int32_t> products_;             ///< of one run over one pair of panels
  std::vector<std::uint32_t> row_corrections_;     ///< [(panel * runs + run) * kernel.rows() + row]
  std::vector<std::uint32_t> column_corrections_;  ///< of one run over one panel of B
};

/// What one product needs beside its operands, allocated before any entry of C is written.
class TiledProduct {
 public:
  TiledProduct(const PanelSlices& a, const PanelSlices& b, const SplitPlan& plan, const CpuEngine::Options& options,
               const Kernel& kernel);

  /// Rows and columns of the tiles for operands of m rows and n columns.
  struct Shape {
    Index rows;
    Index columns;
  };
  static Shape tile_shape(const CpuEngine::Options& options, const Kernel& kernel, std::size_t groups, Index m, Index n);

  /// Threads that run() takes.
  [[nodiscard]] std::size_t threads() const { return tiles_.size(); }

  /// Calls finish(tile, number of the thread) for every tile, in any order, from many threads.
  template <class Finish>
  void run(const Finish& finish) {
    const Index row_tiles = (a_.count() + shape_.rows - 1) / shape_.rows;
    const Index count = row_tiles * ((b_.count() + shape_.columns - 1) / shape_.columns);
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
          tile.start(row, column, std::min(shape_.rows, a_.count() - row), std::min(shape_.columns, b_.count() - column));
          for (Index block = 0; block < a_.blocks(); ++block) tile.add_block(a_, b_, block, runs_of(block));
          finish(tile, thread);
          if (progress != nullptr) progress->add(tile.rows() * tile.columns());
        });
      }
    }
    failure.rethrow();
  }

 private:
  [[nodiscard]] Index useful_threads(Index most, Index products, const PanelSlices& a, const PanelSlices& b) const;
  [[nodiscard]] const std::vector<ProductRun>& runs_of(Index block) const {
    return block + 1 < a_.blocks() ? whole_block_ : last_block_;
  }

  const PanelSlices& a_;
  const PanelSlices& b_;
  Shape shape_{1, 1};
  std::vector<ProductRun> whole_block_, last_block_;
  std::vector<SumTile> tiles_;
};

/// The runs over a block of which each slice has so many digits: groups, cut where INT32 could overflow.
std::vector<ProductRun> product_runs(const std::vector<ProductGroup>& groups, Index block_digits, Index int32_terms);

/// How many there are.
std::size_t count_product_runs(const std::vector<ProductGroup>& groups, Index block_digits, Index int32_terms);

}  // namespace ozbound
