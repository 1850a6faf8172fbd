#include "ozbound/core/cpu_engine.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "kernels/functions.hpp"
#include "ozbound/core/combine.hpp"
#include "tile_epilogue.hpp"
#include "tiled_product.hpp"

namespace ozbound {
namespace {

void check_operands(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan, const Kernel& kernel) {
  plan.validate();
  if (a.side() != Side::rows_of_a) throw std::invalid_argument("a must be sliced by rows");
  if (b.side() != Side::columns_of_b) throw std::invalid_argument("b must be sliced by columns");
  if (a.slicing() != plan.a) throw std::invalid_argument("a is not sliced as the plan says");
  if (b.slicing() != plan.b) throw std::invalid_argument("b is not sliced as the plan says");
  if (a.layout() != PanelLayout{kernel.rows(), a.layout().block} ||
      b.layout() != PanelLayout{kernel.columns(), a.layout().block})
    throw std::invalid_argument("a and b must be sliced by an engine with the same options");
  if (a.inner_dimension() != b.inner_dimension())
    throw std::invalid_argument("a and b have different inner dimensions: " + std::to_string(a.inner_dimension()) + ", " +
                                std::to_string(b.inner_dimension()));
  Index pairs = 1;
  for (const auto& group : plan.groups(a.inner_dimension())) pairs = std::max<Index>(pairs, group.pairs());
  const Index largest = pairs * plan.a.encoding.digit_magnitude() * plan.b.encoding.digit_magnitude();
  if (a.inner_dimension() > max_group_sum(plan.accumulation) / largest)
    throw std::invalid_argument("the inner dimension is too long for the integer sums: " + std::to_string(a.inner_dimension()));
}

void check_epilogue(const Epilogue& epilogue, const OutputView& c, Index m, Index n) {
  const auto fits = [m, n](const auto& view) { return view.rows() == m && view.cols() == n; };
  if (!fits(c)) throw std::invalid_argument("c must be " + std::to_string(m) + " x " + std::to_string(n));
  if (!is_zero(epilogue.beta) && !fits(epilogue.c0))
    throw std::invalid_argument("c0 must be " + std::to_string(m) + " x " + std::to_string(n));
  if (!is_finite(bits_of(epilogue.alpha), binary64)) throw std::invalid_argument("alpha must be finite");
  if (!is_finite(bits_of(epilogue.beta), binary64)) throw std::invalid_argument("beta must be finite");
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
}

SlicedMatrix CpuEngine::slice(InputView operand, Side side, Slicing slicing) const {
  const Index vectors = side == Side::rows_of_a ? kernel_->rows() : kernel_->columns();
  return {operand, side, slicing, options_.threads, {vectors, options_.inner_block}, *kernel_};
}

SliceFacts CpuEngine::measure(InputView operand, Side side, Slicing slicing) const {
  return {operand, side, slicing, options_.threads};
}

std::vector<Entry> CpuEngine::multiply(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                                       const Epilogue& epilogue, OutputView c) const {
  check_operands(a, b, plan, *kernel_);
  check_epilogue(epilogue, c, a.count(), b.count());
  TiledProduct product(a, b, plan, options_, *kernel_);
  const TileEpilogue last(a, b, plan, epilogue, c, *kernel_->functions);
  std::vector<std::vector<Entry>> undecided(product.threads());
  product.run([&](const SumTile& tile, std::size_t thread) { last.finish(tile, undecided[thread]); });
  std::vector<Entry> all;
  for (const auto& part : undecided) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Matrix<std::int64_t>> CpuEngine::group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                        const SplitPlan& plan) const {
  check_operands(a, b, plan, *kernel_);
  std::vector<Matrix<std::int64_t>> sums;
  for (std::size_t t = 0; t < plan.groups(a.inner_dimension()).size(); ++t) sums.emplace_back(a.count(), b.count());
  TiledProduct product(a, b, plan, options_, *kernel_);
  product.run([&](const SumTile& tile, std::size_t) {
    for (std::size_t t = 0; t < sums.size(); ++t)
      for (Index i = 0; i < tile.rows(); ++i) {
        const auto* row = tile.sums(i) + static_cast<Index>(t) * tile.capacity();
        std::copy_n(row, tile.columns(), &sums[t](tile.row() + i, tile.column()));
      }
  });
  return sums;
}

double CpuEngine::workspace(const SplitPlan& plan, Index m, Index n, Index k) const {
  const auto groups = plan.groups(k);
  const auto tile = TiledProduct::tile_shape(options_, *kernel_, groups.size(), m, n);
  const PanelLayout layout{kernel_->columns(), options_.inner_block};
  const auto runs = count_product_runs(groups, layout.of(k).block, plan.int32_terms());
  return SlicedMatrix::bytes(m, k, plan.a, layout) + SlicedMatrix::bytes(n, k, plan.b, layout) +
         options_.threads * SumTile::bytes(*kernel_, tile.rows, tile.columns, groups.size(), runs);
}

}  // namespace ozbound
