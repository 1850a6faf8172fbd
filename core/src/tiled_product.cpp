// SPDX-License-Identifier: BSD-3-Clause
#include "tiled_product.hpp"

#include "kernels/functions.hpp"

namespace ozbound {
namespace {

constexpr Index step = Kernel::step_digits;

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

Index round_up(Index x, Index multiple) { return (x + multiple - 1) / multiple * multiple; }

/// Calls part(p, q, first digit, digits) for the part of each slice pair that a run covers. @pre steps of digits are whole.
template <class Part>
void for_each_pair(const ProductRun& run, Index block_digits, const Part& part) {
  Index skip = run.skip % block_digits, left = run.digits;
  for (int pair = static_cast<int>(run.skip / block_digits); left > 0; ++pair) {
    const Index digits = std::min(left, block_digits - skip);
    part(run.p + pair, run.q - pair, skip, digits);
    left -= digits;
    skip = 0;
  }
}

/// Digits of the longest run: INT32 holds its sum.
Index longest_run(Index int32_terms) { return int32_terms / step * step; }

}  // namespace

std::vector<ProductRun> product_runs(const std::vector<ProductGroup>& groups, Index block_digits, Index int32_terms) {
  std::vector<ProductRun> runs;
  const Index most = longest_run(int32_terms);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    const Index length = group.pairs() * block_digits;
    for (Index start = 0; start < length; start += most)
      runs.push_back({g, group.first_a, group.diagonal - group.first_a, start, std::min(most, length - start)});
  }
  return runs;
}

std::size_t count_product_runs(const std::vector<ProductGroup>& groups, Index block_digits, Index int32_terms) {
  const Index most = longest_run(int32_terms);
  Index count = 0;
  for (const auto& group : groups) count += (group.pairs() * block_digits + most - 1) / most;
  return at(count);
}

SumTile::SumTile(const Kernel& kernel, Index rows, Index columns, std::size_t groups, std::size_t runs)
    : kernel_(kernel),
      stride_(round_up(columns, kernel.columns())),
      capacity_(round_up(rows, kernel.rows()) * stride_),
      sums_(groups * at(capacity_)),
      products_(at(kernel.rows() * kernel.columns())),
      row_corrections_(at(round_up(rows, kernel.rows())) * runs),
      column_corrections_(at(kernel.columns())) {}

double SumTile::bytes(const Kernel& kernel, Index rows, Index columns, std::size_t groups, std::size_t runs) {
  const auto height = static_cast<double>(round_up(rows, kernel.rows()));
  const auto width = static_cast<double>(round_up(columns, kernel.columns()));
  const auto panel = static_cast<double>(kernel.columns());
  return 8 * height * width * static_cast<double>(groups) + 4 * height * static_cast<double>(runs) +
         4 * panel * static_cast<double>(kernel.rows() + 1);
}

void SumTile::start(Index row, Index column, Index rows, Index columns) {
  row_ = row, column_ = column, rows_ = rows, columns_ = columns;
  std::fill(sums_.begin(), sums_.end(), 0);
}

void SumTile::add_block(const PanelSlices& a, const PanelSlices& b, Index block, const std::vector<ProductRun>& runs) {
  correct_rows(a, b, block, runs);
  const bool by_column = a.slicing().encoding.unsigned_digit(2);
  const Index first_a = row_ / kernel_.rows(), first_b = column_ / kernel_.columns();
  for (Index column = 0; column < columns_; column += kernel_.columns()) {
    const Index panel_b = first_b + column / kernel_.columns(), columns = b.panel_vectors(panel_b);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      poll_cancelled();
      const auto& run = runs[r];
      if (by_column) correct_columns(a, b, panel_b, block, run);
      const auto* b_digits = b.digits(panel_b, block, run.q) + run.skip * columns;
      for (Index row = 0; row < rows_; row += kernel_.rows()) {
        const Index panel_a = first_a + row / kernel_.rows(), rows = a.panel_vectors(panel_a);
        kernel_.functions->multiply(a.digits(panel_a, block, run.p) + run.skip * rows, rows,
                                    reinterpret_cast<const std::uint8_t*>(b_digits), columns, run.digits / step,
                                    products_.data());
        const auto* corrections = &row_corrections_[(at(row / kernel_.rows()) * runs.size() + r) * at(kernel_.rows())];
        add_products(row, rows, column, columns, corrections, by_column, run.group);
      }
    }
  }
}

/// Sums of the stored digits of part of a slice: those that are kept, or in `part`.
const std::uint32_t* SumTile::sums_of(const PanelSlices& x, Index panel, Index block, int p, Index skip, Index count,
                                      std::uint32_t* part) const {
  if (count == x.block_digits(block)) return x.digit_sums(panel, block, p);
  const Index vectors = x.panel_vectors(panel);
  const std::uint8_t flip = x.side() == Side::rows_of_a ? 0 : 0x80;
  kernel_.functions->digit_sums(x.digits(panel, block, p) + skip * vectors, flip, vectors, count / step, part);
  return part;
}

/// What the products of stored digits lack of those of the digits themselves, a = a' - oa and b = b' - ob, is
/// sum -ob a' + oa ob, the same for a whole row, and sum -oa b', for a whole column.
void SumTile::correct_rows(const PanelSlices& a, const PanelSlices& b, Index block, const std::vector<ProductRun>& runs) {
  const Index digits = a.block_digits(block);
  auto* correction = row_corrections_.data();
  for (Index row = 0; row < rows_; row += kernel_.rows()) {
    const Index panel = (row_ + row) / kernel_.rows(), vectors = a.panel_vectors(panel);
    for (const auto& run : runs) {
      std::fill_n(correction, kernel_.rows(), 0);
      for_each_pair(run, digits, [&](int p, int q, Index skip, Index count) {
        std::uint32_t part[most_rows];
        const auto* sums = sums_of(a, panel, block, p, skip, count, part);
        const int ob = b.offset(q), oa = a.offset(p);
        for (Index i = 0; i < vectors; ++i)
          correction[i] += static_cast<std::uint32_t>(oa * ob) * static_cast<std::uint32_t>(count) -
                           static_cast<std::uint32_t>(ob) * sums[i];
      });
      correction += kernel_.rows();
    }
  }
}

void SumTile::correct_columns(const PanelSlices& a, const PanelSlices& b, Index panel, Index block, const ProductRun& run) {
  const Index vectors = b.panel_vectors(panel);
  std::fill(column_corrections_.begin(), column_corrections_.end(), 0);
  for_each_pair(run, a.block_digits(block), [&](int p, int q, Index skip, Index count) {
    const auto oa = static_cast<std::uint32_t>(a.offset(p));
    std::uint32_t part[most_columns];
    const auto* sums = sums_of(b, panel, block, q, skip, count, part);
    for (Index j = 0; j < vectors; ++j) column_corrections_[at(j)] -= oa * sums[j];
  });
}

void SumTile::add_products(Index row, Index rows, Index column, Index columns, const std::uint32_t* corrections, bool by_column,
                           std::size_t group) {
  for (Index i = 0; i < rows; ++i) {
    const auto* products = &products_[at(i * kernel_.columns())];
    auto* sums = &sums_[group * at(capacity_) + at((row + i) * stride_ + column)];
    if (by_column)
      kernel_.functions->add_with_columns(products, corrections[i], column_corrections_.data(), columns, sums);
    else
      kernel_.functions->add(products, corrections[i], columns, sums);
  }
}

TiledProduct::TiledProduct(const PanelSlices& a, const PanelSlices& b, const SplitPlan& plan, const CpuEngine::Options& options,
                           const Kernel& kernel)
    : a_(a), b_(b) {
  if (a.count() == 0 || b.count() == 0) return;
  const auto groups = plan.groups(a.inner_dimension());
  shape_ = tile_shape(options, kernel, groups.size(), a.count(), b.count());
  if (a.blocks() > 0) {
    whole_block_ = product_runs(groups, a.block_digits(0), plan.int32_terms());
    last_block_ = product_runs(groups, a.block_digits(a.blocks() - 1), plan.int32_terms());
  }
  const Index threads = useful_threads(options.threads, plan.products(), a, b);
  for (Index t = 0; t < threads; ++t)
    tiles_.emplace_back(kernel, shape_.rows, shape_.columns, groups.size(), whole_block_.size());
}

/// A thread is not worth its start for less than some microseconds of products.
Index TiledProduct::useful_threads(Index most, Index products, const PanelSlices& a, const PanelSlices& b) const {
  constexpr Index worth_a_thread = Index{1} << 20;
  const Index terms_of_entry = std::max<Index>(1, products * std::min(a.inner_dimension(), worth_a_thread));
  const Index entries_of_thread = std::max<Index>(1, worth_a_thread / terms_of_entry);
  const Index row_tiles = (a.count() + shape_.rows - 1) / shape_.rows;
  const Index column_tiles = (b.count() + shape_.columns - 1) / shape_.columns;
  return std::min({most, row_tiles * column_tiles, 1 + a.count() * b.count() / entries_of_thread});
}

TiledProduct::Shape TiledProduct::tile_shape(const CpuEngine::Options& options, const Kernel& kernel, std::size_t groups,
                                             Index m, Index n) {
  constexpr Index most_bytes = Index{1} << 18;  // of sums: a part of the second-level cache
  const Index columns = options.column_tile == 0 ? std::max<Index>(48, kernel.columns()) : options.column_tile;
  const Index width = round_up(std::clamp<Index>(n, 1, columns), kernel.columns());
  const Index fitting = most_bytes / (8 * width * std::max<Index>(1, static_cast<Index>(groups)));
  const Index rows = options.row_tile == 0 ? std::clamp<Index>(fitting, kernel.rows(), 64) : options.row_tile;
  return {round_up(std::clamp<Index>(m, 1, rows), kernel.rows()), width};
}

}  // namespace ozbound
