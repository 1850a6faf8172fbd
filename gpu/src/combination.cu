// SPDX-License-Identifier: BSD-3-Clause
#include "combination.hpp"
#include "combine_entry.cuh"
#include "cuda_check.hpp"
#include "entries.cuh"

namespace ozbound::gpu {
namespace {

constexpr int most_diagonals = 2 * max_slices - 1;

/// The sums of one entry for combine: in place, or widened.
struct EntrySums {
  const std::int64_t* sums;
  Index stride;
  std::int64_t widened[most_diagonals];

  __device__ EntrySums(const BlockSums<std::int64_t>& all, int, Index i, Index j)
      : sums(&all.at(0, i, j)), stride(all.group_stride) {}
  __device__ EntrySums(const BlockSums<std::int32_t>& all, int count, Index i, Index j) : sums(widened), stride(1) {
    for (int t = 0; t < count; ++t) widened[t] = all.at(t, i, j);
  }
};

/// The layout with the weights of row i and column j.
__device__ SumLayout layout_of(const Combination& plan, const DeviceSlices& a, const DeviceSlices& b, Index i, Index j) {
  auto layout = plan.layout;
  for (int t = 0; t < layout.count; ++t) {
    const int p = plan.groups.first_a[t], q = plan.groups.diagonal[t] - p;
    const int of_a =
        plan.encoding_a.common_ratio() ? plan.encoding_a.weight_exponent(p) : a.weight_exponents[i * a.slices + p - 1];
    const int of_b =
        plan.encoding_b.common_ratio() ? plan.encoding_b.weight_exponent(q) : b.weight_exponents[j * b.slices + q - 1];
    layout.weight_exponent[t] = static_cast<std::int16_t>(of_a + of_b);
  }
  return layout;
}

template <bool CommonRatio, class Sum>
__global__ void __launch_bounds__(combining_threads)
    combine_entries(const __grid_constant__ Combination plan, const DeviceSlices a, const DeviceSlices b, const Block block,
                    const BlockSums<Sum> sums, const DeviceEpilogue epilogue) {
  const EntryOfThread at(block, by_row(epilogue.c));
  if (!at.exists) return;
  const Index i = block.row + at.i, j = block.column + at.j;
  finish_entry(i, j, a, b, epilogue, [&](int scale, Dyadic c0, double error) {
    const EntrySums entry(sums, plan.layout.count, at.i, at.j);
    const auto combined = [&](const SumLayout& layout) {
      return combine(entry.sums, entry.stride, layout, scale, epilogue.scalars(), c0, error);
    };
    if constexpr (CommonRatio)
      return combined(plan.layout);
    else
      return combined(layout_of(plan, a, b, i, j));
  });
}

template <class Sum>
void launch(const Combination& plan, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
            const BlockSums<Sum>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream) {
  const auto blocks = combining_blocks(block);
  if (plan.common_ratio()) {
    combine_entries<true><<<blocks, combining_threads, 0, stream>>>(plan, a, b, block, sums, epilogue);
  } else if constexpr (sizeof(Sum) == sizeof(std::int64_t)) {
    combine_entries<false><<<blocks, combining_threads, 0, stream>>>(plan, a, b, block, sums, epilogue);
  }
  check_launch("combine_entries");
}

}  // namespace

void launch_combination(const Combination& combination, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                        const BlockSums<std::int64_t>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream) {
  launch(combination, a, b, block, sums, epilogue, stream);
}

void launch_combination(const Combination& combination, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
                        const BlockSums<std::int32_t>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream) {
  launch(combination, a, b, block, sums, epilogue, stream);
}

}  // namespace ozbound::gpu
