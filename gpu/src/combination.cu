// SPDX-License-Identifier: BSD-3-Clause
#include "combination.hpp"
#include "cuda_check.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 128;
constexpr int most_diagonals = 2 * max_slices - 1;

/// The sums of one entry as combine takes them: where they are, or widened.
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

/// The layout with the weights that row i and column j have of their own.
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

/// An entry of the block for every thread, along C's shorter stride.
template <bool CommonRatio, class Sum>
__global__ void __launch_bounds__(threads)
    combine_entries(const __grid_constant__ Combination plan, const DeviceSlices a, const DeviceSlices b, const Block block,
                    const BlockSums<Sum> sums, const DeviceEpilogue epilogue) {
  const Index place = Index{blockIdx.x} * threads + threadIdx.x;
  if (place >= block.rows * block.columns || !epilogue.finite_scalars()) return;
  const bool by_row = epilogue.c.row_stride < epilogue.c.col_stride;
  const Index of_i = by_row ? place % block.rows : place / block.columns;
  const Index of_j = by_row ? place / block.rows : place % block.columns;
  const Index i = block.row + of_i, j = block.column + of_j;
  if (a.special[i] != 0 || b.special[j] != 0) return;
  const auto c0 = epilogue.c0_bits(i, j);
  if (!is_finite(c0, binary64)) return;
  const EntrySums entry(sums, plan.layout.count, of_i, of_j);
  const auto combined = [&](const SumLayout& layout) {
    return combine(entry.sums, entry.stride, layout, a.exponents[i] + b.exponents[j], epilogue.scalars(),
                   to_dyadic(c0, binary64), epilogue.error(i, j));
  };
  if constexpr (CommonRatio)
    epilogue.finish(i, j, b.count, combined(plan.layout));
  else
    epilogue.finish(i, j, b.count, combined(layout_of(plan, a, b, i, j)));
}

template <class Sum>
void launch(const Combination& plan, const DeviceSlices& a, const DeviceSlices& b, const Block& block,
            const BlockSums<Sum>& sums, const DeviceEpilogue& epilogue, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((block.rows * block.columns + threads - 1) / threads);
  if (plan.common_ratio()) {
    combine_entries<true><<<blocks, threads, 0, stream>>>(plan, a, b, block, sums, epilogue);
  } else if constexpr (sizeof(Sum) == sizeof(std::int64_t)) {
    combine_entries<false><<<blocks, threads, 0, stream>>>(plan, a, b, block, sums, epilogue);
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
