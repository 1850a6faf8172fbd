// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/cpu_engine.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "kernels/functions.hpp"
#include "ozbound/core/detail/usable_threads.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/panel_slices.hpp"
#include "tile_epilogue.hpp"
#include "tiled_product.hpp"

namespace ozbound {
namespace {

struct Panels {
  const PanelSlices& a;
  const PanelSlices& b;
};

/// The panels of two operands that `kernel` multiplies together, whatever the length of their blocks.
Panels panels_of(const SlicedMatrix& a, const SlicedMatrix& b, const Kernel& kernel) {
  const auto* rows = dynamic_cast<const PanelSlices*>(&a.slices());
  const auto* columns = dynamic_cast<const PanelSlices*>(&b.slices());
  if (rows == nullptr || columns == nullptr || rows->layout() != kernel.layout(Side::rows_of_a, rows->layout().block) ||
      columns->layout() != kernel.layout(Side::columns_of_b, rows->layout().block))
    throw std::invalid_argument("a and b must be sliced by an engine with the same options");
  return {*rows, *columns};
}

}  // namespace

CpuEngine::CpuEngine(Options options)
    : options_(options), kernel_(options.kernel == nullptr ? &default_kernel() : options.kernel) {
  if (options.threads < 0) throw std::invalid_argument("threads must not be negative: " + std::to_string(options.threads));
  if (options.inner_block < 0) throw std::invalid_argument("inner_block must not be negative");
  if (options.row_tile < 0) throw std::invalid_argument("row_tile must not be negative");
  if (options.column_tile < 0) throw std::invalid_argument("column_tile must not be negative");
  if (options_.threads == 0) options_.threads = omp_get_max_threads();
  if (options_.inner_block == 0) options_.inner_block = PanelLayout{}.block;
  matrices_ = HostMatrices(options_.threads);
}

int CpuEngine::threads() const { return usable_threads(options_.threads); }

CpuEngine::Options CpuEngine::current_options() const {
  auto options = options_;
  options.threads = threads();
  return options;
}

PanelLayout CpuEngine::layout(Side side) const { return kernel_->layout(side, options_.inner_block); }

SlicedMatrix CpuEngine::slice(InputView operand, Side side, Slicing slicing) const {
  return SlicedMatrix(std::make_shared<const PanelSlices>(operand, side, slicing, threads(), layout(side), *kernel_));
}

bool CpuEngine::takes(const SlicedMatrix& sliced) const {
  const auto* panels = dynamic_cast<const PanelSlices*>(&sliced.slices());
  return panels != nullptr && panels->layout() == layout(panels->side()).of(panels->inner_dimension());
}

SliceFacts CpuEngine::measure(InputView operand, Side side, Slicing slicing) const {
  return {operand, side, slicing, threads()};
}

std::vector<Entry> CpuEngine::multiply(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                                       const Epilogue& epilogue, OutputView c) const {
  const FloatEnvironment environment;
  check_operands(a, b, plan);
  check_epilogue(epilogue, c, a.count(), b.count());
  const auto [rows, columns] = panels_of(a, b, *kernel_);
  TiledProduct product(rows, columns, plan, current_options(), *kernel_);
  const TileEpilogue last(rows, columns, plan, epilogue, c, *kernel_->functions);
  std::vector<std::vector<Entry>> undecided(product.threads());
  writing_c([&] { product.run([&](SumTile& tile, std::size_t thread) { last.finish(tile, undecided[thread]); }); });
  std::vector<Entry> all;
  for (const auto& part : undecided) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Matrix<std::int64_t>> CpuEngine::group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                        const SplitPlan& plan) const {
  const FloatEnvironment environment;
  check_operands(a, b, plan);
  const auto [rows, columns] = panels_of(a, b, *kernel_);
  std::vector<Matrix<std::int64_t>> sums;
  for (std::size_t t = 0; t < plan.groups(a.inner_dimension()).size(); ++t) sums.emplace_back(a.count(), b.count());
  TiledProduct product(rows, columns, plan, current_options(), *kernel_);
  product.run([&](SumTile& tile, std::size_t) {
    for (Index i = 0; i < tile.rows(); ++i)
      for (Index first = 0; first < tile.columns(); first += SumTile::part) {
        const Index count = std::min(SumTile::part, tile.columns() - first);
        const auto* const row = tile.sums(i, first, count);
        for (std::size_t t = 0; t < sums.size(); ++t)
          std::copy_n(row + static_cast<Index>(t) * SumTile::part, count, &sums[t](tile.row() + i, tile.column() + first));
      }
  });
  return sums;
}

double CpuEngine::workspace(const Plan& plan, Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  return plan.visit([&](const SplitPlan& slices) { return slices_workspace(slices, m, n, k); });
}

double CpuEngine::slices_workspace(const SplitPlan& plan, Index m, Index n, Index k) const {
  const auto groups = plan.groups(k);
  const auto tile = TiledProduct::tile_shape(current_options(), *kernel_, groups.size(), m, n);
  const auto rows = layout(Side::rows_of_a), columns = layout(Side::columns_of_b);
  const Index longest = std::numeric_limits<Index>::max() - rows.multiple;
  const bool wide = exceeds_int32(groups, rows.filled_up(std::min(k, longest)), plan.int32_terms());
  return PanelSlices::bytes(m, k, plan.a, rows) + PanelSlices::bytes(n, k, plan.b, columns) +
         threads() * SumTile::bytes({tile.rows, tile.columns, groups.size(), plan.int32_terms(), wide});
}

}  // namespace ozbound
