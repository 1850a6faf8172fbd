// SPDX-License-Identifier: BSD-3-Clause
#include "product_launcher.hpp"

#include <algorithm>
#include <set>

#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "portable_product.hpp"
#include "recovery.hpp"
#include "round_up.hpp"
#include "specials.hpp"

namespace ozbound::gpu {
namespace {

constexpr Index vector_step = DeviceSlices::vector_step, digit_step = DeviceSlices::digit_step;
constexpr int most_diagonals = 2 * max_slices - 1;

Index at_least(Index x, Index multiple) { return round_up(std::max<Index>(x, 1), multiple); }

}  // namespace

ProductLauncher::Buffers::Buffers(const ProductLauncher& product, bool of_32_bits, Arena& arena) {
  const Index entries = product.rows_ * product.columns_, all = entries * product.combination_.groups.count;
  if (!of_32_bits) sums = arena.take<std::int64_t>(all);
  if (product.path_ != Path::cublaslt) return;
  products = arena.take<std::int32_t>(of_32_bits ? all : entries);
  workspace = arena.take<std::uint8_t>(static_cast<Index>(LtProduct::workspace_bytes));
}

ProductLauncher::ProductLauncher(const Plan& plan, Index m, Index n, Index k, double most_bytes, Path path, Kernels& kernels)
    : plan_(plan),
      combination_(plan, k),
      m_(m),
      n_(n),
      k_(k),
      padded_(at_least(k, digit_step)),
      rows_(at_least(m, vector_step)),
      columns_(at_least(n, vector_step)),
      kernels_(kernels),
      path_(chosen(path)) {
  const bool of_blocks = path_ != Path::fused || moduli() > 0;
  while (of_blocks && bytes() > most_bytes && std::max(rows_, columns_) > vector_step) {
    auto& longer = rows_ >= columns_ ? rows_ : columns_;
    longer = round_up(longer / 2, vector_step);
  }
  if (path_ == Path::cublaslt) runs_ = runs();
}

int ProductLauncher::moduli() const {
  return plan_.visit([](const SplitPlan&) { return 0; }, [](const ResiduePlan& residues) { return residues.moduli; });
}

bool ProductLauncher::fuses() const {
  return plan_.visit([this](const SplitPlan& slices) { return kernels_.fused.applies(slices, m_, n_, k_); },
                     [this](const ResiduePlan& plan) { return kernels_.residues.applies(plan.moduli, m_, n_, k_); });
}

Path ProductLauncher::chosen(Path wanted) const {
  const bool any = wanted == Path::automatic;
  if ((any || wanted == Path::fused) && fuses()) return Path::fused;
  const bool worth_it = std::min(m_, n_) >= vector_step;
  if ((wanted == Path::cublaslt || (any && worth_it)) && LtProduct::applies(plan_)) return Path::cublaslt;
  return Path::portable;
}

double ProductLauncher::bytes() const {
  if (path_ == Path::fused) {
    const auto kernel_bytes =
        moduli() > 0 ? kernels_.residues.workspace(moduli(), rows_, columns_) : kernels_.fused.workspace(plan_.split());
    return static_cast<double>(kernel_bytes + Arena::alignment);
  }
  const double entries = static_cast<double>(rows_) * static_cast<double>(columns_);
  const double sums = 8 * entries * combination_.groups.count + 3 * static_cast<double>(Arena::alignment);
  return path_ == Path::portable ? sums : sums + 4 * entries + static_cast<double>(LtProduct::workspace_bytes);
}

Block ProductLauncher::block_at(Index row, Index column) const {
  return {row, column, std::min(rows_, m_ - row), std::min(columns_, n_ - column)};
}

/// Splits every group into runs whose sums INT32 holds.
std::vector<ProductLauncher::Run> ProductLauncher::runs() const {
  std::vector<Run> result;
  const Index terms = plan_.visit([](const SplitPlan& slices) { return slices.int32_terms(); },
                                  [](const ResiduePlan&) { return residue_int32_terms; });
  const Index longest = terms / digit_step * digit_step;
  const auto groups = groups_of(plan_, k_);
  for (std::size_t t = 0; t < groups.size(); ++t)
    for (Index start = 0, all = groups[t].pairs() * padded_; start < all; start += longest)
      result.push_back({static_cast<int>(t), groups[t].first_a, start, std::min(longest, all - start)});
  return result;
}

bool ProductLauncher::sums_fit_32_bits() const {
  const auto count = static_cast<std::size_t>(combination_.groups.count);
  return path_ == Path::cublaslt && runs_.size() == count && combination_.common_ratio() &&
         combination_.groups.count <= most_diagonals;
}

LtProduct::Shape ProductLauncher::lt_shape(const Block& block, Index digits) const {
  const auto pitch = [this](Side side) {
    const auto form = plan_.form(side);
    const auto* const slicing = std::get_if<Slicing>(&form);
    return (slicing == nullptr ? 1 : slicing->slices) * padded_;
  };
  return {round_up(block.rows, LtProduct::step), round_up(block.columns, LtProduct::step), digits, pitch(Side::rows_of_a),
          pitch(Side::columns_of_b)};
}

void ProductLauncher::prepare() const {
  std::set<LtProduct::Shape> shapes;
  for (Index row = 0; row < m_; row += rows_)
    for (Index column = 0; column < n_; column += columns_)
      for (const auto& run : runs_) shapes.insert(lt_shape(block_at(row, column), run.digits));
  for (const auto& shape : shapes) {
    poll_cancelled();
    kernels_.lt.tune(shape);
  }
}

void ProductLauncher::launch_run(const Run& run, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                                 std::int32_t* products, std::uint8_t* workspace, cudaStream_t stream) const {
  const int q = combination_.groups.diagonal[run.group] - run.first_a;
  const auto* const rows = a.digits + block.row * a.pitch() + a.offset(run.first_a) + run.start;
  const auto* const columns = b.digits + block.column * b.pitch() + b.offset(q) + run.start;
  kernels_.lt.launch(lt_shape(block, run.digits), rows, columns, products, workspace, stream);
}

BlockSums<std::int64_t> ProductLauncher::wide_sums(const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                                                   const Buffers& buffers, cudaStream_t stream) const {
  if (path_ != Path::cublaslt) {
    const BlockSums<std::int64_t> sums{buffers.sums, block.rows * block.columns, block.columns, 1};
    launch_portable_product(a, b, combination_.encoding_a, combination_.encoding_b, combination_.groups, block, sums, stream);
    return sums;
  }
  const auto shape = lt_shape(block, 0);
  const BlockSums<std::int64_t> sums{buffers.sums, shape.rows * shape.columns, 1, shape.rows};
  for (const auto& run : runs_) {
    launch_run(run, a, b, block, buffers.products, buffers.workspace, stream);
    launch_widening(buffers.products, &sums.at(run.group, 0, 0), sums.group_stride, run.start > 0, stream);
  }
  return sums;
}

BlockSums<std::int32_t> ProductLauncher::short_sums(const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                                                    const Buffers& buffers, cudaStream_t stream) const {
  const auto shape = lt_shape(block, 0);
  const BlockSums<std::int32_t> sums{buffers.products, shape.rows * shape.columns, 1, shape.rows};
  for (const auto& run : runs_) launch_run(run, a, b, block, &sums.at(run.group, 0, 0), buffers.workspace, stream);
  return sums;
}

void ProductLauncher::combine(const DeviceSlices& a, const DeviceSlices& b, const Block& block, const auto& sums,
                              const DeviceEpilogue& epilogue, cudaStream_t stream) const {
  if (moduli() > 0) return launch_recovery(combination_, moduli(), a, b, block, sums, epilogue, stream);
  launch_combination(combination_, a, b, block, sums, epilogue, stream);
}

std::uint8_t* ProductLauncher::residue_workspace(Arena& arena) const {
  return arena.take<std::uint8_t>(static_cast<Index>(kernels_.residues.workspace(moduli(), rows_, columns_)));
}

void ProductLauncher::launch_residues(const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue,
                                      const OperandPair& operands, Arena arena, cudaStream_t stream) const {
  auto* const workspace = residue_workspace(arena);
  for (Index row = 0; row < m_; row += rows_)
    for (Index column = 0; column < n_; column += columns_) {
      const auto block = block_at(row, column);
      const auto bytes = kernels_.residues.launch(a, b, moduli(), block, workspace, stream);
      launch_recovery(combination_, moduli(), a, b, block, bytes, epilogue, operands, stream);
    }
}

FusedResidues::Bytes ProductLauncher::start(const DeviceSlices& a, const DeviceSlices& b, const LaterPlan& later, Arena arena,
                                            cudaStream_t stream) const {
  return kernels_.residues.launch(a, b, moduli(), block_at(0, 0), residue_workspace(arena), stream, {}, later);
}

void ProductLauncher::finish(const ResiduePlan& plan, const FusedResidues::Bytes& first, const DeviceSlices& a,
                             const DeviceSlices& b, Arena arena, cudaStream_t stream, const Recovery& recover) const {
  auto* const workspace = residue_workspace(arena);
  const Combination combination(plan, k_);
  for (Index row = 0; row < m_; row += rows_)
    for (Index column = 0; column < n_; column += columns_) {
      const auto block = block_at(row, column);
      const bool is_first = row == 0 && column == 0;
      const auto bytes = is_first ? first : kernels_.residues.launch(a, b, plan.moduli, block, workspace, stream);
      recover(combination, plan.moduli, block, bytes);
    }
}

void ProductLauncher::launch_later(const DeviceSlices& a, const DeviceSlices& b, const LaterPlan& later, Arena arena,
                                   cudaStream_t stream, const Recovery& recover) const {
  auto* const workspace = residue_workspace(arena);
  for (Index row = 0; row < m_; row += rows_)
    for (Index column = 0; column < n_; column += columns_) {
      const auto block = block_at(row, column);
      const auto bytes = kernels_.residues.launch(a, b, moduli(), block, workspace, stream, {}, later);
      for (int t = later.least_moduli; t <= moduli(); ++t) recover(Combination(ResiduePlan{t, 1, 1}, k_), t, block, bytes);
    }
}

void ProductLauncher::launch(const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue,
                             const OperandPair& operands, Arena arena, cudaStream_t stream) const {
  if (path_ == Path::fused && moduli() > 0) return launch_residues(a, b, epilogue, operands, arena, stream);
  if (path_ == Path::fused) {
    const auto bytes = static_cast<Index>(kernels_.fused.workspace(plan_.split()));
    return kernels_.fused.launch(a, b, plan_.split(), epilogue, operands, arena.take<std::uint8_t>(bytes), stream);
  }
  if (operands.exists()) launch_specials(operands, a, b, epilogue, stream);
  const bool of_32_bits = sums_fit_32_bits();
  const Buffers buffers(*this, of_32_bits, arena);
  for (Index row = 0; row < m_; row += rows_)
    for (Index column = 0; column < n_; column += columns_) {
      const auto block = block_at(row, column);
      if (of_32_bits)
        combine(a, b, block, short_sums(a, b, block, buffers, stream), epilogue, stream);
      else
        combine(a, b, block, wide_sums(a, b, block, buffers, stream), epilogue, stream);
    }
}

}  // namespace ozbound::gpu
