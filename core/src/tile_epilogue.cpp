// SPDX-License-Identifier: BSD-3-Clause
#include "tile_epilogue.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "entry_layout.hpp"

namespace ozbound {
namespace {

/// Exponents of rows and columns up to this one scale every sum without underflow or overflow, in two steps.
constexpr int moderate_exponent = 400;

constexpr Index most_together = EntrySums::part;  // entries of a row rounded together

/// Kernels round whole rows if the most significant sum after carries is below this limit.
constexpr std::int64_t head_limit = std::int64_t{1} << 51;

bool is_power_of_two(Dyadic x) { return x.magnitude != 0 && (x.magnitude & (x.magnitude - 1)) == 0; }

/// A bound of the most significant sum of slices' products after carries: twice the largest sum.
std::int64_t head_upper(const SplitPlan& plan, Index k) {
  const Index pairs = std::min(plan.a.slices, plan.b.slices);
  const Index largest = pairs * plan.a.encoding.digit_magnitude() * plan.b.encoding.digit_magnitude();
  return k < head_limit / 2 / largest ? 2 * k * largest : head_limit;
}

}  // namespace

TileEpilogue::TileEpilogue(std::span<const VectorScale> rows, std::span<const VectorScale> columns, const SumLayout& layout,
                           std::int64_t head_upper, const Epilogue& epilogue, OutputView c, const KernelFunctions& functions)
    : rows_(rows),
      columns_(columns),
      layout_(layout),
      epilogue_(epilogue),
      error_(epilogue.error),
      scalars_{to_dyadic(epilogue.alpha), to_dyadic(epilogue.beta), c.format()},
      c_(c),
      functions_(functions),
      by_rows_(rounds_whole_rows(head_upper)) {}

TileEpilogue::TileEpilogue(const PanelSlices& a, const PanelSlices& b, const SplitPlan& plan, const Epilogue& epilogue,
                           OutputView c, const KernelFunctions& functions)
    : TileEpilogue(a.scales(), b.scales(), sum_layout(plan, a.inner_dimension()), head_upper(plan, a.inner_dimension()),
                   epilogue, c, functions) {
  if (plan.common_ratio()) return;
  groups_ = plan.groups(a.inner_dimension());
  a_ = &a, b_ = &b;
  by_rows_ = false;
}

void TileEpilogue::finish(EntrySums& tile, std::vector<Entry>& undecided) const {
  if (rounds_by_rows(tile)) return round_rows(tile, undecided);
  for (Index i = 0; i < tile.rows(); ++i) {
    if (special_row(tile.row() + i)) continue;
    for (Index first = 0; first < tile.columns(); first += most_together) {
      const Index count = std::min(most_together, tile.columns() - first), column = tile.column() + first;
      const auto* const sums = tile.sums(i, first, count);
      for (Index j = 0; j < count; ++j)
        if (!special_column(column + j)) finish_entry(sums + j, tile.row() + i, column + j, undecided);
    }
  }
}

/// Entry (i, j) from its sums.
void TileEpilogue::finish_entry(const std::int64_t* sums, Index i, Index j, std::vector<Entry>& undecided) const {
  const auto c0 = is_zero(epilogue_.beta) ? bits_of(0.0) : epilogue_.c0.bits(i, j);
  if (!is_finite(c0, binary64)) return;
  const double error = error_.get() == nullptr ? 0 : error_.get()->upper(i, j);
  const auto combined = [&](const SumLayout& layout) {
    return combine(sums, EntrySums::part, layout, row_exponent(i) + column_exponent(j), scalars_, to_dyadic(c0, binary64),
                   error);
  };
  const auto entry = groups_.empty() ? combined(layout_) : combined(entry_layout(layout_, groups_, *a_, i, *b_, j));
  if (entry.decided)
    c_.set_bits(i, j, entry.bits);
  else
    undecided.push_back({i, j});
}

/// True if C is the exact sum, rounded and scaled by powers of two, and the kernel's rounding can hold the sum. With an error
/// bound, C must also be binary64, since Ziv's test uses its neighbours.
bool TileEpilogue::rounds_whole_rows(std::int64_t head_upper) const {
  if (layout_.accumulation != Accumulation::exact) return false;
  if (!is_zero(epilogue_.beta) || !is_power_of_two(scalars_.alpha)) return false;
  if (error_.get() != nullptr && !c_.is_double()) return false;
  return layout_.count <= most_fast_groups(layout_.radix_bits) && head_upper < head_limit;
}

bool TileEpilogue::rounds_by_rows(const EntrySums& tile) const {
  if (!by_rows_) return false;
  const int unit = layout_.weight_exponent[layout_.count - 1] + scalars_.alpha.top_exponent();
  for (Index i = tile.row(); i < tile.row() + tile.rows(); ++i)
    if (special_row(i) || std::abs(row_exponent(i) + unit) > moderate_exponent) return false;
  for (Index j = tile.column(); j < tile.column() + tile.columns(); ++j)
    if (special_column(j) || std::abs(column_exponent(j)) > moderate_exponent) return false;
  return true;
}

/// Rounds the sums of a part of a row, to nearest, or to odd if the conversion to C's format must be the only rounding. Marks
/// those that Ziv's test decides at once.
void TileEpilogue::round_part(const std::int64_t* sums, Index i, Index j, Index count, double* rounded,
                              std::uint8_t* decided) const {
  const auto groups = layout_.count, radix = layout_.radix_bits;
  if (error_.get() == nullptr) {
    std::fill_n(decided, count, std::uint8_t{1});
    return functions_.round(sums, EntrySums::part, groups, radix, count, !c_.is_double(), rounded);
  }
  std::array<double, most_together> errors;
  error_.get()->upper_row(i, j, count, errors.data());
  const double units = power_of_two(-layout_.weight_exponent[groups - 1]);
  for (Index t = 0; t < count; ++t) errors[static_cast<std::size_t>(t)] *= units;
  functions_.round_enclosed(sums, EntrySums::part, groups, radix, count, errors.data(), rounded, decided);
}

/// combine for a whole row at a time. Entries that are not decided at once are left to combine.
void TileEpilogue::round_rows(EntrySums& tile, std::vector<Entry>& undecided) const {
  const int unit = layout_.weight_exponent[layout_.count - 1] + scalars_.alpha.top_exponent();
  std::array<double, most_together> rounded{}, scales{};
  std::array<std::uint8_t, most_together> decided{};
  for (Index first = 0; first < tile.columns(); first += most_together) {
    const Index count = std::min<Index>(most_together, tile.columns() - first);
    for (Index j = 0; j < count; ++j)
      scales[static_cast<std::size_t>(j)] = power_of_two(column_exponent(tile.column() + first + j));
    for (Index i = 0; i < tile.rows(); ++i) {
      const auto* const sums = tile.sums(i, first, count);
      round_part(sums, tile.row() + i, tile.column() + first, count, rounded.data(), decided.data());
      const double scale = power_of_two(row_exponent(tile.row() + i) + unit) * (scalars_.alpha.negative ? -1 : 1);
      std::visit(
          [&](const auto& c) {
            const Index row = tile.row() + i, column = tile.column() + first;  // read once: they are virtual
            for (Index j = 0; j < count; ++j) {
              const auto at = static_cast<std::size_t>(j);
              const double value = rounded[at] * scale * scales[at] + 0.0;  // an exact zero is +0
              if (decided[at] != 0) c(row, column + j) = static_cast<std::remove_reference_t<decltype(c(0, 0))>>(value);
            }
          },
          c_.typed());
      for (Index j = 0; j < count; ++j)
        if (decided[static_cast<std::size_t>(j)] == 0)
          finish_entry(sums + j, tile.row() + i, tile.column() + first + j, undecided);
    }
  }
}

}  // namespace ozbound
