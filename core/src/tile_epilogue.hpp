// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "kernels/functions.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/panel_slices.hpp"
#include "tiled_product.hpp"

namespace ozbound {

/// Rounds the sums of a tile into C.
class TileEpilogue {
 public:
  TileEpilogue(const PanelSlices& a, const PanelSlices& b, const SplitPlan& plan, const Epilogue& epilogue, OutputView c,
               const KernelFunctions& functions);
  /// For sums of any origin. @param head_upper a bound of the most significant sum after carries; if it is below 2^51, kernels
  /// round rows
  TileEpilogue(std::span<const VectorScale> rows, std::span<const VectorScale> columns, const SumLayout& layout,
               std::int64_t head_upper, const Epilogue& epilogue, OutputView c, const KernelFunctions& functions);

  void finish(EntrySums& tile, std::vector<Entry>& undecided) const;

 private:
  [[nodiscard]] bool special_row(Index i) const { return rows_[static_cast<std::size_t>(i)].special; }
  [[nodiscard]] bool special_column(Index j) const { return columns_[static_cast<std::size_t>(j)].special; }
  [[nodiscard]] int row_exponent(Index i) const { return rows_[static_cast<std::size_t>(i)].exponent; }
  [[nodiscard]] int column_exponent(Index j) const { return columns_[static_cast<std::size_t>(j)].exponent; }
  void finish_entry(const std::int64_t* sums, Index i, Index j, std::vector<Entry>& undecided) const;
  [[nodiscard]] bool rounds_whole_rows(std::int64_t head_upper) const;
  [[nodiscard]] bool rounds_by_rows(const EntrySums& tile) const;
  void round_rows(EntrySums& tile, std::vector<Entry>& undecided) const;
  void round_part(const std::int64_t* sums, Index i, Index j, Index count, double* rounded, std::uint8_t* decided) const;

  std::span<const VectorScale> rows_, columns_;
  const PanelSlices* a_ = nullptr;  ///< null if groups_ is empty
  const PanelSlices* b_ = nullptr;
  SumLayout layout_;
  std::vector<ProductGroup> groups_;  ///< empty if all entries share layout_
  Epilogue epilogue_;
  FetchedZivBound error_;
  Scalars scalars_;
  OutputView c_;
  const KernelFunctions& functions_;
  bool by_rows_;
};

}  // namespace ozbound
