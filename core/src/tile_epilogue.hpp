// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "kernels/functions.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/engine.hpp"
#include "tiled_product.hpp"

namespace ozbound {

/// Rounds the sums of a tile into C.
class TileEpilogue {
 public:
  TileEpilogue(const PanelSlices& a, const PanelSlices& b, const SplitPlan& plan, const Epilogue& epilogue, OutputView c,
               const KernelFunctions& functions);

  void finish(SumTile& tile, std::vector<Entry>& undecided) const;

 private:
  void finish_entry(const std::int64_t* sums, Index i, Index j, std::vector<Entry>& undecided) const;
  [[nodiscard]] bool plan_rounds_by_rows(const SplitPlan& plan) const;
  [[nodiscard]] bool rounds_by_rows(const SumTile& tile) const;
  void round_rows(SumTile& tile, std::vector<Entry>& undecided) const;
  void round_part(const std::int64_t* sums, Index i, Index j, Index count, double* rounded, std::uint8_t* decided) const;

  const PanelSlices& a_;
  const PanelSlices& b_;
  SumLayout layout_;
  std::vector<ProductGroup> groups_;  ///< empty where layout_ is that of every entry
  Epilogue epilogue_;
  FetchedZivBound error_;
  Scalars scalars_;
  OutputView c_;
  const KernelFunctions& functions_;
  bool by_rows_;
};

}  // namespace ozbound
