// SPDX-License-Identifier: BSD-3-Clause
#include "level_one.hpp"

#include <algorithm>
#include <limits>

#include "first_looks.hpp"
#include "level_one_kernels.hpp"
#include "product_launcher.hpp"
#include "round_up.hpp"
#include "slicing.hpp"

namespace ozbound::gpu {
namespace {

constexpr Index most_digit = 127;
constexpr Slicing one_digit{Encoding::balanced(), 1};

SplitPlan plan() { return {one_digit, one_digit, 2, Accumulation::exact}; }

}  // namespace

LevelOne::LevelOne(Index m, Index n, Index k, Kernels& kernels)
    : m_(m),
      n_(n),
      k_(k),
      kernels_(kernels),
      narrow_(LtProduct::applies(plan()) && k <= std::numeric_limits<std::int32_t>::max() / (most_digit * most_digit)) {
  constexpr double any_memory = std::numeric_limits<double>::infinity();
  if (!narrow_) product_ = std::make_unique<const ProductLauncher>(plan(), m, n, k, any_memory, Path::cublaslt, kernels);
}

LevelOne::~LevelOne() = default;

LtProduct::Shape LevelOne::shape() const {
  const Index padded = round_up(std::max<Index>(k_, 1), DeviceSlices::digit_step);
  return {round_up(m_, LtProduct::step), round_up(n_, LtProduct::step), padded, padded, padded};
}

void LevelOne::prepare() const {
  if (m_ == 0 || n_ == 0) return;
  if (narrow_)
    kernels_.lt.tune(shape());
  else
    product_->prepare();
}

LevelOneSums LevelOne::launch(const FirstLooks& looks, Arena& arena, cudaStream_t stream) const {
  LevelOneSums result;
  result.m = m_, result.n = n_, result.k = k_;
  result.rows = looks.a().digits, result.columns = looks.b().digits;
  result.row_sums = looks.a().sums, result.column_sums = looks.b().sums;
  result.loose = looks.loose(), result.largest_units = looks.largest_units(), result.middle = looks.middle();
  result.row_least = looks.row_least(), result.column_least = looks.column_least();
  auto* const narrow = narrow_ ? arena.take<std::int32_t>(shape().rows * shape().columns) : nullptr;
  auto* const workspace = arena.take<std::uint8_t>(static_cast<Index>(LtProduct::workspace_bytes));
  auto* const wide = narrow_ ? nullptr : arena.take<std::uint8_t>(static_cast<Index>(product_->bytes()));
  if (workspace == nullptr) return result;  // only counted
  if (m_ > 0 && n_ > 0) {
    if (narrow_) {
      kernels_.lt.launch(shape(), result.rows.digits, result.columns.digits, narrow, workspace, stream);
      result.narrow = narrow, result.row_stride = 1, result.col_stride = shape().rows;
    } else {
      const Arena memory(wide, static_cast<std::size_t>(product_->bytes()));
      product_->for_each_block(result.rows, result.columns, memory, stream,
                               [&](const Block&, const BlockSums<std::int64_t>& sums) {
                                 result.wide = sums.data;
                                 result.row_stride = sums.row_stride, result.col_stride = sums.col_stride;
                               });
    }
  }
  launch_extremes(result, stream);
  return result;
}

}  // namespace ozbound::gpu
