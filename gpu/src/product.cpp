#include "product.hpp"

#include <algorithm>

#include "portable_product.hpp"

namespace ozbound::gpu {
namespace {

Index round_up(Index x) {
  return std::max<Index>(1, (x + DeviceSlices::vector_step - 1) / DeviceSlices::vector_step) * DeviceSlices::vector_step;
}

}  // namespace

Product::Product(const SplitPlan& plan, Index m, Index n, Index k, double most_bytes)
    : combination_(plan, k), m_(m), n_(n), rows_(round_up(m)), columns_(round_up(n)) {
  while (bytes() > most_bytes && std::max(rows_, columns_) > DeviceSlices::vector_step) {
    auto& longer = rows_ >= columns_ ? rows_ : columns_;
    longer = round_up((longer + 1) / 2);
  }
}

double Product::bytes() const {
  return static_cast<double>(sizeof(std::int64_t)) * combination_.groups.count * static_cast<double>(rows_) *
             static_cast<double>(columns_) +
         static_cast<double>(Arena::alignment);
}

BlockSums<std::int64_t> Product::sum(const DeviceSlices& a, const DeviceSlices& b, const Block& block, std::int64_t* data,
                                     cudaStream_t stream) const {
  const BlockSums<std::int64_t> sums{data, block.rows * block.columns, block.columns, 1};
  launch_portable_product(a, b, combination_.encoding_a, combination_.encoding_b, combination_.groups, block, sums, stream);
  return sums;
}

void Product::launch(const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue, Arena arena,
                     cudaStream_t stream) const {
  for_each_block(a, b, arena, stream, [&](const Block& block, const BlockSums<std::int64_t>& sums) {
    launch_combination(combination_, a, b, block, sums, epilogue, stream);
  });
}

}  // namespace ozbound::gpu
