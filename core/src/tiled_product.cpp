// SPDX-License-Identifier: BSD-3-Clause
#include "tiled_product.hpp"

namespace ozbound {
namespace {

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

Index round_up(Index x, Index multiple) { return (x + multiple - 1) / multiple * multiple; }

/// Calls part(p, q, first digit, digits) for the part of each slice pair that a run covers.
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

/// Number of digits of the longest run whose sum fits INT32.
Index longest_run(Index int32_terms, Index multiple) { return int32_terms / multiple * multiple; }

Index longest_group(const std::vector<ProductGroup>& groups) {
  Index pairs = 0;
  for (const auto& group : groups) pairs = std::max<Index>(pairs, group.pairs());
  return pairs;
}

/// Called between runs while a block is multiplied.
void between_runs() { poll_cancelled(); }

}  // namespace

std::vector<ProductRound> product_rounds(const std::vector<ProductGroup>& groups, Index block_digits, Index int32_terms,
                                         Index multiple) {
  std::vector<ProductRound> rounds;
  const Index most = longest_run(int32_terms, multiple);
  for (Index start = 0; start < longest_group(groups) * block_digits; start += most) {
    auto& round = rounds.emplace_back();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto& group = groups[g];
      const Index length = group.pairs() * block_digits;
      if (start < length)
        round.push_back({g, group.first_a, group.diagonal - group.first_a, start, std::min(most, length - start)});
    }
  }
  return rounds;
}

bool exceeds_int32(const std::vector<ProductGroup>& groups, Index filled_inner, Index int32_terms) {
  return filled_inner > int32_terms / std::max<Index>(1, longest_group(groups));
}

SumTile::SumTile(const Kernel& kernel, const Shape& shape)
    : kernel_(kernel),
      shape_(shape),
      products_(at(shape.rows * shape.columns) * shape.groups),
      wide_(shape.wide ? at(shape.rows * shape.columns) * shape.groups : 0),
      row_corrections_(at(shape.rows) * shape.groups),
      column_corrections_(at(shape.columns) * shape.groups),
      sums_(at(part) * shape.groups) {
  runs_.reserve(shape.groups);
  blocks_.reserve(at(shape.columns / kernel.columns()));
}

double SumTile::bytes(const Shape& shape) {
  const auto height = static_cast<double>(shape.rows), width = static_cast<double>(shape.columns);
  const auto sums = static_cast<double>(sizeof(std::int32_t) + (shape.wide ? sizeof(std::int64_t) : 0));
  return static_cast<double>(shape.groups) *
             (sums * height * width + 4 * (height + width) + 8 * static_cast<double>(part) + double{sizeof(KernelRun)}) +
         width * double{sizeof(KernelBlock)};
}

std::int32_t* SumTile::products(Index panel_row, Index panel_column, std::size_t group) {
  const Index panels = shape_.rows / kernel_.rows();
  return &products_[(at(panel_column * panels + panel_row) * shape_.groups + group) * at(kernel_.rows() * kernel_.columns())];
}

std::int64_t* SumTile::wide(std::size_t group, Index i, Index j) {
  return &wide_[(group * at(shape_.rows) + at(i)) * at(shape_.columns) + at(j)];
}

void SumTile::start(Index row, Index column, Index rows, Index columns) {
  row_ = row, column_ = column, rows_ = rows, columns_ = columns;
  std::fill(wide_.begin(), wide_.end(), 0);
  start_int32();
}

void SumTile::start_int32() {
  terms_ = 0;
  std::fill(products_.begin(), products_.end(), 0);
  std::fill(row_corrections_.begin(), row_corrections_.end(), 0);
  std::fill(column_corrections_.begin(), column_corrections_.end(), 0);
}

void SumTile::add_block(const PanelView& a, const PanelView& b, Index block, const std::vector<ProductRound>& rounds) {
  rows_corrected_ = !b.offset_free(), columns_corrected_ = !a.offset_free();
  for (const auto& round : rounds) {
    Index terms = 0;
    for (const auto& run : round) terms = std::max(terms, run.digits);
    if (terms_ > shape_.int32_terms - terms) widen();
    terms_ += terms;
    if (rows_corrected_ || columns_corrected_) find_corrections(a, b, block, round);
    multiply(a, b, block, round);
  }
}

/// For a kernel that first transforms a panel of A: multiplies run by run, so that both operands' part of a run stays in the
/// cache, and a panel of A with all panels of B.
void SumTile::multiply_panels(const PanelView& a, const PanelView& b, Index block, const ProductRound& round) {
  const Index first_a = row_ / kernel_.rows(), first_b = column_ / kernel_.columns(), length = a.block_digits(block);
  const Index apart = shape_.rows / kernel_.rows() * static_cast<Index>(shape_.groups) * kernel_.rows() * kernel_.columns();
  for (const auto& run : round)
    for (Index x = 0; x * kernel_.rows() < rows_; ++x) {
      between_runs();
      blocks_.clear();
      for (Index y = 0; y * kernel_.columns() < columns_; ++y)
        blocks_.push_back({a.block_start(first_a + x, block), a.panel_vectors(first_a + x), b.block_start(first_b + y, block),
                           b.panel_vectors(first_b + y), length});
      kernel_.functions->multiply_panels(
          blocks_.data(), static_cast<std::int64_t>(blocks_.size()),
          {a.place(run.p) * length + run.skip, b.place(run.q) * length + run.skip, run.digits, products(x, 0, run.group)},
          apart);
    }
}

void SumTile::multiply(const PanelView& a, const PanelView& b, Index block, const ProductRound& round) {
  if (kernel_.functions->multiply_panels != nullptr) return multiply_panels(a, b, block, round);
  const Index first_a = row_ / kernel_.rows(), first_b = column_ / kernel_.columns(), length = a.block_digits(block);
  for (Index y = 0; y * kernel_.columns() < columns_; ++y)
    for (Index x = 0; x * kernel_.rows() < rows_; ++x) {
      between_runs();
      runs_.clear();
      for (const auto& run : round)
        runs_.push_back(
            {a.place(run.p) * length + run.skip, b.place(run.q) * length + run.skip, run.digits, products(x, y, run.group)});
      const KernelBlock panels{a.block_start(first_a + x, block), a.panel_vectors(first_a + x),
                               b.block_start(first_b + y, block), b.panel_vectors(first_b + y), length};
      kernel_.functions->multiply(panels, runs_.data(), static_cast<std::int64_t>(runs_.size()), true);
    }
}

/// Sums of the stored digits of part of a slice: kept sums, or new ones in `found`.
const std::uint32_t* SumTile::sums_of(const PanelView& x, Index panel, Index block, int p, Index skip, Index count,
                                      std::uint32_t* found) const {
  if (count == x.block_digits(block)) return x.digit_sums(panel, block, p);
  const Index vectors = x.panel_vectors(panel);
  const std::uint8_t flip = x.layout.unsigned_bytes ? 0x80 : 0;
  kernel_.functions->digit_sums(x.digits(panel, block, p) + skip * vectors, flip, vectors, x.layout.step, count, found);
  return found;
}

/// Corrections from products of stored digits to products of the digits themselves, a = a' - oa and b = b' - ob: sum -ob a' +
/// oa ob, the same for a whole row, and sum -oa b', the same for a whole column.
void SumTile::find_corrections(const PanelView& a, const PanelView& b, Index block, const ProductRound& round) {
  const Index digits = a.block_digits(block);
  for (const auto& run : round)
    for_each_pair(run, digits, [&](int p, int q, Index skip, Index count) {
      const auto oa = static_cast<std::uint32_t>(a.offset(p)), ob = static_cast<std::uint32_t>(b.offset(q));
      for (Index row = 0; rows_corrected_ && row < rows_; row += kernel_.rows()) {
        const Index panel = (row_ + row) / kernel_.rows(), vectors = a.panel_vectors(panel);
        std::uint32_t some[most_rows];
        const auto* sums = sums_of(a, panel, block, p, skip, count, some);
        auto* corrections = &row_corrections_[run.group * at(shape_.rows) + at(row)];
        for (Index i = 0; i < vectors; ++i) corrections[i] += oa * ob * static_cast<std::uint32_t>(count) - ob * sums[i];
      }
      for (Index column = 0; columns_corrected_ && column < columns_; column += kernel_.columns()) {
        const Index panel = (column_ + column) / kernel_.columns(), vectors = b.panel_vectors(panel);
        std::uint32_t some[most_columns];
        const auto* sums = sums_of(b, panel, block, q, skip, count, some);
        auto* corrections = &column_corrections_[run.group * at(shape_.columns) + at(column)];
        for (Index j = 0; j < vectors; ++j) corrections[j] -= oa * sums[j];
      }
    });
}

SumTile::RowProducts SumTile::row_products(Index i, Index first, Index count) {
  const Index rows = kernel_.rows(), width = kernel_.columns();
  if (!wide_.empty() || columns_corrected_) return {};
  return {products(i / rows, first / width, 0) + i % rows * width + first % width, std::min(width - first % width, count),
          rows * width, &row_corrections_[at(i)], shape_.rows};
}

const std::int64_t* SumTile::sums(Index i, Index first, Index count) {
  const Index rows = kernel_.rows(), width = kernel_.columns();
  for (std::size_t group = 0; group < shape_.groups; ++group) {
    auto* const out = &sums_[group * at(part)];
    if (wide_.empty())
      std::fill_n(out, count, 0);
    else
      std::copy_n(wide(group, i, first), count, out);
    const auto correction = row_corrections_[group * at(shape_.rows) + at(i)];
    for (Index j = first; j < first + count;) {
      const Index in_panel = std::min(width - j % width, first + count - j);
      const auto* from = products(i / rows, j / width, group) + i % rows * width + j % width;
      if (columns_corrected_)
        kernel_.functions->add_with_columns(from, correction, &column_corrections_[group * at(shape_.columns) + at(j)],
                                            in_panel, out + (j - first));
      else
        kernel_.functions->add(from, correction, in_panel, out + (j - first));
      j += in_panel;
    }
  }
  return sums_.data();
}

/// Moves the INT32 sums to INT64.
void SumTile::widen() {
  for (Index i = 0; i < rows_; ++i)
    for (Index first = 0; first < columns_; first += part) {
      const Index count = std::min(part, columns_ - first);
      const auto* const now = sums(i, first, count);
      for (std::size_t group = 0; group < shape_.groups; ++group)
        std::copy_n(now + group * at(part), count, wide(group, i, first));
    }
  start_int32();
}

TiledProduct::TiledProduct(const PanelView& a, const PanelView& b, const std::vector<ProductGroup>& groups, Index terms,
                           int products, const CpuEngine::Options& options, const Kernel& kernel)
    : a_(a), b_(b), kernel_(kernel) {
  if (a.count == 0 || b.count == 0) return;
  const auto layout = a.layout;
  shape_ = tile_shape(options, kernel, groups.size(), a.count, b.count);
  if (a.blocks() > 0) {
    whole_block_ = product_rounds(groups, a.block_digits(0), terms, layout.multiple);
    last_block_ = product_rounds(groups, a.block_digits(a.blocks() - 1), terms, layout.multiple);
  }
  const bool wide = exceeds_int32(groups, layout.filled_up(a.inner), terms);
  const Index threads = useful_threads(options.threads, products, a, b);
  for (Index t = 0; t < threads; ++t)
    tiles_.emplace_back(kernel, SumTile::Shape{shape_.rows, shape_.columns, groups.size(), terms, wide});
}

/// Starting a thread does not pay off for less than some microseconds of products.
Index TiledProduct::useful_threads(Index most, Index products, const PanelView& a, const PanelView& b) const {
  constexpr Index worth_a_thread = Index{1} << 20;
  const Index terms_of_entry = std::max<Index>(1, products * std::min(a.inner, worth_a_thread));
  const Index entries_of_thread = std::max<Index>(1, worth_a_thread / terms_of_entry);
  const Index row_tiles = (a.count + shape_.rows - 1) / shape_.rows;
  const Index column_tiles = (b.count + shape_.columns - 1) / shape_.columns;
  return std::min({most, row_tiles * column_tiles, 1 + a.count * b.count / entries_of_thread});
}

TiledProduct::Shape TiledProduct::tile_shape(const CpuEngine::Options& options, const Kernel& kernel, std::size_t groups,
                                             Index m, Index n) {
  const auto& functions = *kernel.functions;
  const Index columns = options.column_tile == 0 ? functions.tile_columns : options.column_tile;
  const Index width = round_up(std::clamp<Index>(n, 1, columns), kernel.columns());
  const Index bytes_of_row = 4 * width * std::max<Index>(1, static_cast<Index>(groups));
  const Index fitting = std::max(kernel.rows(), functions.tile_bytes / bytes_of_row);
  const Index rows = options.row_tile == 0 ? std::min(fitting, functions.tile_rows) : options.row_tile;
  return {round_up(std::clamp<Index>(m, 1, rows), kernel.rows()), width};
}

}  // namespace ozbound
