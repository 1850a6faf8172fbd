// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/cpu_engine.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

#include "kernels/functions.hpp"
#include "ozbound/core/detail/usable_threads.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/core/panel_residues.hpp"
#include "ozbound/core/panel_slices.hpp"
#include "ozbound/core/vector_norms.hpp"
#include "residue_sums.hpp"
#include "tile_epilogue.hpp"
#include "tiled_product.hpp"

namespace ozbound {
namespace {

template <class Panel>
struct Panels {
  const Panel& a;
  const Panel& b;
};

/// The panels of two operands that `kernel` can multiply together, for blocks of any length.
template <class Panel, class Kept>
Panels<Panel> panels_of(const Kept& a, const Kept& b, const Kernel& kernel) {
  const auto* rows = dynamic_cast<const Panel*>(&a);
  const auto* columns = dynamic_cast<const Panel*>(&b);
  if (rows == nullptr || columns == nullptr || rows->layout() != kernel.layout(Side::rows_of_a, rows->layout().block) ||
      columns->layout() != kernel.layout(Side::columns_of_b, rows->layout().block))
    throw std::invalid_argument("a and b must be sliced by an engine with the same options");
  return {*rows, *columns};
}

/// The open entries of all threads, in row order.
std::vector<Entry> sorted_entries(const std::vector<std::vector<Entry>>& of_threads) {
  std::vector<Entry> all;
  for (const auto& part : of_threads) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  return all;
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

namespace {

/// True if the bytes lie in panels of this layout. @tparam Panel panels of slices or of residues
template <class Panel, class Kept>
bool lies_as(const Kept& kept, const PanelLayout& layout) {
  const auto* const panels = dynamic_cast<const Panel*>(&kept);
  return panels != nullptr && panels->layout() == layout.of(panels->view().inner);
}

}  // namespace

bool CpuEngine::takes(const IntegerOperand& operand) const {
  const auto as_here = layout(operand.side());
  if (const auto* const residues = operand.residues_or_null()) return lies_as<PanelResidues>(residues->residues(), as_here);
  return lies_as<PanelSlices>(operand.slices().slices(), as_here);
}

SliceFacts CpuEngine::measure(InputView operand, Side side, Slicing slicing) const {
  return {operand, side, slicing, threads()};
}

std::vector<VectorNorms> CpuEngine::norms(InputView operand, Side side) const { return vector_norms(operand, side, threads()); }

IntegerOperand CpuEngine::prepare(InputView operand, Side side, const OperandForm& form) const {
  const auto* const residues = std::get_if<ResidueForm>(&form);
  if (residues == nullptr) return Engine::prepare(operand, side, form);
  return ResidueMatrix(std::make_shared<const PanelResidues>(operand, side, *residues, threads(), layout(side), *kernel_));
}

std::vector<Entry> CpuEngine::multiply(const IntegerOperand& a, const IntegerOperand& b, const Plan& plan,
                                       const Epilogue& epilogue, OutputView c) const {
  const FloatEnvironment environment;
  check_operands(a, b, plan);
  check_epilogue(epilogue, c, a.count(), b.count());
  return plan.visit(
      [&](const SplitPlan& slices) { return multiply_slices(a.slices(), b.slices(), slices, epilogue, c); },
      [&](const ResiduePlan& residues) { return multiply_residues(a.residues(), b.residues(), residues, epilogue, c); });
}

std::vector<Entry> CpuEngine::multiply_slices(const SlicedMatrix& a, const SlicedMatrix& b, const SplitPlan& plan,
                                              const Epilogue& epilogue, OutputView c) const {
  const auto [rows, columns] = panels_of<PanelSlices>(a.slices(), b.slices(), *kernel_);
  TiledProduct product(rows.view(), columns.view(), plan.groups(a.inner_dimension()), plan.int32_terms(), plan.products(),
                       current_options(), *kernel_);
  const TileEpilogue last(rows, columns, plan, epilogue, c, *kernel_->functions);
  std::vector<std::vector<Entry>> undecided(product.threads());
  writing_c([&] { product.run([&](SumTile& tile, std::size_t thread) { last.finish(tile, undecided[thread]); }); });
  return sorted_entries(undecided);
}

namespace {

/// Number of residue products in an INT32 sum.
Index terms_of_residues() { return residue_int32_terms; }

/// A product of residues, real or complex, and the recovery of C' of its tiles.
class ResidueMultiplication {
 public:
  ResidueMultiplication(const PanelResidues& rows, const PanelResidues& columns, const ResiduePlan& plan,
                        const CpuEngine::Options& options, const Kernel& kernel)
      : complex_(rows.form().complex),
        moduli_(plan.moduli),
        inner_(rows.view().inner),
        kernel_(kernel),
        product_(rows.view(), columns.view(), residue_products(layers()), terms_of_residues(), layers(), options, kernel) {}

  [[nodiscard]] std::size_t threads() const { return product_.threads(); }

  /// Calls finish(sums, thread number) for every tile, with the tile's EntrySums of C'.
  template <class Finish>
  void run(const Finish& finish) {
    const auto& functions = *kernel_.functions;
    const auto recovered = [&](SumTile& tile, std::size_t thread) {
      ResidueSums sums(tile, moduli_, functions);
      finish(sums, thread);
    };
    const auto parts_recovered = [&](SumTile& tile, std::size_t thread) {
      ComplexResidueSums sums(tile, moduli_, functions, inner_);
      finish(sums, thread);
    };
    complex_ ? product_.run(parts_recovered, 2) : product_.run(recovered);
  }

 private:
  [[nodiscard]] int layers() const { return complex_ ? ComplexModuli::of(moduli_).layers : moduli_; }

  bool complex_;
  int moduli_;
  Index inner_;
  const Kernel& kernel_;
  TiledProduct product_;
};

}  // namespace

std::vector<Entry> CpuEngine::multiply_residues(const ResidueMatrix& a, const ResidueMatrix& b, const ResiduePlan& plan,
                                                const Epilogue& epilogue, OutputView c) const {
  const auto [rows, columns] = panels_of<PanelResidues>(a.residues(), b.residues(), *kernel_);
  ResidueMultiplication product(rows, columns, plan, current_options(), *kernel_);
  const TileEpilogue last(rows.scales(), columns.scales(), residue_layout(plan), residue_head_upper(plan.moduli), epilogue, c,
                          *kernel_->functions);
  std::vector<std::vector<Entry>> undecided(product.threads());
  writing_c([&] { product.run([&](EntrySums& sums, std::size_t thread) { last.finish(sums, undecided[thread]); }); });
  return sorted_entries(undecided);
}

namespace {

/// Copies the sums of a tile's entries to their places: [t] holds group t.
void take_sums(EntrySums& tile, std::vector<Matrix<std::int64_t>>& sums) {
  for (Index i = 0; i < tile.rows(); ++i)
    for (Index first = 0; first < tile.columns(); first += EntrySums::part) {
      const Index count = std::min(EntrySums::part, tile.columns() - first);
      const auto* const row = tile.sums(i, first, count);
      for (std::size_t t = 0; t < sums.size(); ++t)
        std::copy_n(row + static_cast<Index>(t) * EntrySums::part, count, &sums[t](tile.row() + i, tile.column() + first));
    }
}

/// Normalises the groups of a carry chain: all groups lie below the radix, except the first, which has the sign.
void carry(std::vector<Matrix<std::int64_t>>& groups, int radix_bits) {
  for (std::size_t g = groups.size() - 1; g > 0; --g)
    for (Index t = 0; t < groups[g].rows() * groups[g].cols(); ++t) {
      const std::int64_t up = groups[g].data()[t] >> radix_bits;
      groups[g].data()[t] -= up * (std::int64_t{1} << radix_bits);
      groups[g - 1].data()[t] += up;
    }
}

}  // namespace

std::vector<Matrix<std::int64_t>> CpuEngine::group_sums(const SlicedMatrix& a, const SlicedMatrix& b,
                                                        const SplitPlan& plan) const {
  const FloatEnvironment environment;
  check_operands(a, b, plan);
  const auto [rows, columns] = panels_of<PanelSlices>(a.slices(), b.slices(), *kernel_);
  std::vector<Matrix<std::int64_t>> sums;
  for (std::size_t t = 0; t < plan.groups(a.inner_dimension()).size(); ++t) sums.emplace_back(a.count(), b.count());
  TiledProduct product(rows.view(), columns.view(), plan.groups(a.inner_dimension()), plan.int32_terms(), plan.products(),
                       current_options(), *kernel_);
  product.run([&](SumTile& tile, std::size_t) { take_sums(tile, sums); });
  return sums;
}

std::vector<Matrix<std::int64_t>> CpuEngine::recovered_groups(const ResidueMatrix& a, const ResidueMatrix& b,
                                                              const ResiduePlan& plan) const {
  const FloatEnvironment environment;
  check_operands(a, b, plan);
  const auto [rows, columns] = panels_of<PanelResidues>(a.residues(), b.residues(), *kernel_);
  std::vector<Matrix<std::int64_t>> groups;
  for (int g = 0; g < residue_groups(plan.moduli); ++g) groups.emplace_back(a.count(), b.count());
  ResidueMultiplication product(rows, columns, plan, current_options(), *kernel_);
  product.run([&](EntrySums& recovered, std::size_t) { take_sums(recovered, groups); });
  carry(groups, residue_layout(plan).radix_bits);
  return groups;
}

double CpuEngine::workspace(const Plan& plan, Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  return plan.visit([&](const SplitPlan& slices) { return slices_workspace(slices, m, n, k); },
                    [&](const ResiduePlan& residues) { return residues_workspace(residues.moduli, m, n, k); });
}

namespace {

/// True if complex layers pay off. They save products, of the order of mnk, and cost making and combining layers, of the order
/// of mk + kn + mn. For 2 to 20 moduli they pay from n = 300 on, measured with AVX512-VNNI (docs/adr/0012).
bool complex_layers_pay(Index m, Index n, Index k) {
  constexpr double least = 100;
  const auto x = static_cast<double>(m), y = static_cast<double>(n), z = static_cast<double>(k);
  return x * y * z >= least * (x * z + z * y + x * y);
}

}  // namespace

std::optional<double> CpuEngine::complex_workspace(const ResiduePlan& plan, Index m, Index n, Index k) const {
  const FloatEnvironment environment;
  if (k / 2 > longest_complex_inner || !complex_layers_pay(m / 2, n, k / 2)) return std::nullopt;
  const Index inner = (k + 1) / 2, vectors = std::max(kernel_->rows(), kernel_->columns());
  const auto block_of = [&](Side side) { return std::min(layout(side).of(inner).block, layout(side).filled_up(inner)); };
  const Index block = std::max(block_of(Side::rows_of_a), block_of(Side::columns_of_b));
  const double parts = 2.0 * plan.moduli * static_cast<double>(block * vectors);  // residues of a block's parts, before layers
  return residues_workspace(ComplexModuli::of(plan.moduli).layers, (m + 1) / 2, n, inner) + threads() * parts;
}

double CpuEngine::residues_workspace(int layers, Index m, Index n, Index k) const {
  const auto groups = residue_products(layers);
  const auto tile = TiledProduct::tile_shape(current_options(), *kernel_, groups.size(), m, n);
  const auto rows = layout(Side::rows_of_a), columns = layout(Side::columns_of_b);
  const Index longest = std::numeric_limits<Index>::max() - rows.multiple;
  const bool wide = exceeds_int32(groups, rows.filled_up(std::min(k, longest)), terms_of_residues());
  return PanelResidues::bytes(m, k, layers, rows) + PanelResidues::bytes(n, k, layers, columns) +
         threads() * SumTile::bytes({tile.rows, tile.columns, groups.size(), terms_of_residues(), wide});
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
