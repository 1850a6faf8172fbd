// SPDX-License-Identifier: BSD-3-Clause
#include "fused.hpp"

#include <algorithm>

#include "cuda_check.hpp"
#include "fused_kernel.cuh"

namespace ozbound::gpu {
namespace {

using Kernel = void (*)(CUtensorMap, CUtensorMap, FusedArguments);

constexpr std::int64_t counter_bytes = 256;

constexpr Kernel one_block = fused_product<FusedShape<1, 1, 8, few_diagonal_limbs, false>>;
constexpr Kernel two_columns = fused_product<FusedShape<2, 1, 8, few_diagonal_limbs, false>>;
constexpr Kernel two_halves = fused_product<FusedShape<1, 2, 8, few_diagonal_limbs, false>>;
constexpr Kernel many_diagonals = fused_product<FusedShape<2, 1, 0, diagonal_limbs, false>>;
constexpr Kernel any_length = fused_product<FusedShape<2, 1, 0, diagonal_limbs, true>>;

Index tiles_of(Index count) { return (count + tile_size - 1) / tile_size; }

/// Steps of the inner dimension whose sums INT32 holds together with the carry of the previous diagonal.
Index chunk_steps(const SplitPlan& plan) {
  const Index pairs = std::min({plan.a.slices, plan.b.slices, plan.cut - 1});
  const Index largest = pairs * plan.a.encoding.digit_magnitude() * plan.b.encoding.digit_magnitude();
  const Index carry = Index{1} << (31 - plan.a.encoding.radix_bits());
  return ((Index{1} << 31) - 1 - carry) / largest / digits_a_step;
}

/// A launch of `blocks` in clusters. It may begin before the previous kernel ends.
struct Configuration {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config{};

  Configuration(int blocks, int cluster, cudaStream_t stream) {
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(block_threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 2;
  }
  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;
};

int clusters_of_two(Kernel kernel) {
  const Configuration launch(2, 2, nullptr);
  int count = 0;
  check(cudaOccupancyMaxActiveClusters(&count, kernel, &launch.config), "cudaOccupancyMaxActiveClusters");
  return count;
}

/// From this head on, the last bit of head plus tail, with the tail rounded to odd, is two bits above the tail's last bit, and
/// above the sticky bit of the earlier words.
std::int64_t least_head(const FusedSchedule& schedule) {
  return std::int64_t{1} << std::max(3, 55 - schedule.held_bits() - schedule.word_bits());
}

/// The first warpgroup can run this far ahead without the second, which holds the ring's stages: within the first step. 0 if
/// tiles are so short that the ring may hold more than one.
int head_start(const FusedSchedule& schedule, Index steps, int wanted) {
  if (schedule.pair_count == 0 || schedule.tiles() * steps < stages) return 0;
  const auto& pair = schedule.pairs[0];
  return std::min({wanted, pair.tiles - 1 - (pair.ends_with_b ? 1 : 0), stages / 2 - 2});
}

int chosen(int wanted, int otherwise) { return wanted >= 0 ? wanted : otherwise; }

}  // namespace

FusedProduct::FusedProduct(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  if (properties.major != 9 || properties.minor != 0) return;
  maps_ = TensorMaps::find();
  if (!maps_) return;
  for (const auto kernel : {one_block, two_columns, two_halves, many_diagonals, any_length})
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "cudaFuncSetAttribute");
  processors_ = properties.multiProcessorCount;
  pairs_ = std::min({clusters_of_two(two_columns), clusters_of_two(two_halves), clusters_of_two(many_diagonals),
                     clusters_of_two(any_length)});
  hopper_ = pairs_ > 0;
}

bool FusedProduct::applies(const SplitPlan& plan, Index m, Index n, Index k) const {
  const auto is_signed = [](const Encoding& e) { return e.common_ratio() && e.kind != Encoding::Kind::unsigned8; };
  if (!hopper_ || plan.accumulation != Accumulation::exact || !is_signed(plan.a.encoding) || !is_signed(plan.b.encoding))
    return false;
  constexpr Index most = Index{1} << 31;  // coordinates of TMA, and tiles, are int
  return m < most && n < most && k < most / std::max(plan.a.slices, plan.b.slices) - digits_a_step &&
         tiles_of(m) * tiles_of(n) < most / 2;
}

std::size_t FusedProduct::workspace(const SplitPlan& plan) const {
  const auto groups = static_cast<std::int64_t>(multiplying_groups) * processors_;
  return static_cast<std::size_t>(counter_bytes + groups * FusedScratch::bytes(fused_schedule(plan).words()));
}

void FusedProduct::launch(const DeviceSlices& a, const DeviceSlices& b, const SplitPlan& plan, const DeviceEpilogue& epilogue,
                          const OperandPair& operands, void* workspace, cudaStream_t stream, const Tuning& tuning) const {
  if (a.count == 0 || b.count == 0) return;
  const Index tiles = tiles_of(a.count) * tiles_of(b.count), steps = a.padded / digits_a_step;
  const auto schedule = fused_schedule(plan);
  const bool chunked = steps > chunk_steps(plan), many = schedule.radix_bits != 8 || !few_limbs_hold(schedule.diagonals, 8);
  const bool small = 2 * tiles <= 2 * pairs_ && schedule.words() == 0 && steps > 1;
  int shape = chosen(tuning.cluster, small ? 3 : tiles <= 4 * processors_ ? 1 : 2);
  if (chunked || many || (shape == 3 && !small)) shape = 2;
  const Kernel kernel = chunked      ? any_length
                        : many       ? many_diagonals
                        : shape == 1 ? one_block
                        : shape == 2 ? two_columns
                                     : two_halves;
  const int cluster = shape == 1 ? 1 : 2, columns = shape == 2 ? 2 : 1;

  FusedArguments f{};
  f.schedule = schedule;
  f.a = a;
  f.b = b;
  f.epilogue = epilogue;
  f.operands = operands;
  f.unit_exponent = plan.weight_exponent(plan.cut);
  f.row_tiles = static_cast<int>(tiles_of(a.count));
  f.column_clusters = static_cast<int>((tiles_of(b.count) + columns - 1) / columns);
  f.panel = std::max(1, chosen(tuning.panel, shape == 2 ? 12 : 8) / columns);
  f.schedule_tiles = schedule.tiles();
  f.steps = static_cast<int>(steps);
  f.chunk_steps = static_cast<int>(chunk_steps(plan));
  f.head_start = shape == 3 ? 0 : head_start(schedule, steps, chosen(tuning.head_start, shape == 1 ? 2 : 0));
  f.alternate = chosen(tuning.alternate, steps >= 32 ? 1 : 0) != 0;
  f.least_head = least_head(schedule);
  f.scratch = static_cast<std::uint8_t*>(workspace) + counter_bytes;
  f.step = {nullptr, chosen(tuning.interval, shape == 2 ? 4 : 0), chosen(tuning.lead, 2)};
  const Index clusters = std::min<Index>(Index{f.row_tiles} * f.column_clusters, cluster == 1 ? processors_ : pairs_);
  if (f.step.interval > 0) {
    f.step.counter = static_cast<unsigned*>(workspace);
    check(cudaMemsetAsync(workspace, 0, sizeof(unsigned), stream), "cudaMemsetAsync");
  }
  const Configuration launch(static_cast<int>(clusters) * cluster, cluster, stream);
  const auto map_of = [this](const DeviceSlices& slices, int rows) {  // vectors beyond the last are zero
    return maps_.of_bytes(slices.digits, slices.pitch(), slices.count, rows);
  };
  const auto a_map = map_of(a, tile_size / columns), b_map = map_of(b, tile_size);
  check(cudaLaunchKernelEx(&launch.config, kernel, a_map, b_map, f), "cudaLaunchKernelEx");
}

}  // namespace ozbound::gpu
