// SPDX-License-Identifier: BSD-3-Clause
#include "fused_residues.hpp"

#include <algorithm>
#include <cmath>

#include "cuda_check.hpp"
#include "residue_kernel.cuh"
#include "round_up.hpp"

namespace ozbound::gpu {
namespace {

using Narrow = ResidueShape<128, 1>;
using Wide = ResidueShape<256, 2>;

constexpr std::int64_t counter_bytes = 256;
constexpr int block_threads = 384;

/// Rows and columns of tiles, filled up to whole clusters.
struct Tiles {
  int rows, columns;

  Tiles(Index m, Index n, int tile_columns) {
    const Index cluster = tile_columns == Wide::columns ? Wide::cluster : Narrow::cluster;
    rows = static_cast<int>(round_up(m, cluster * residue_tile_rows) / residue_tile_rows);
    columns = static_cast<int>(round_up(n, tile_columns) / tile_columns);
  }
  [[nodiscard]] std::int64_t bytes(int tile_columns) const {
    return std::int64_t{rows} * columns * residue_tile_rows * tile_columns;
  }
};

/// Wide tiles move fewer bytes. Narrow tiles leave fewer processors idle in the last round, and less memory beyond C if C is
/// small.
int tile_columns_for(Index m, Index n, int moduli, int processors) {
  const auto expected_time = [&](int columns) {
    const Tiles tiles(m, n, columns);
    return std::ceil(static_cast<double>(tiles.rows) * tiles.columns * moduli / processors) * columns;
  };
  constexpr double wide_gain = 1.05;  // ratio of operations a second for long runs
  return expected_time(Wide::columns) <= wide_gain * expected_time(Narrow::columns) ? Wide::columns : Narrow::columns;
}

/// A launch in clusters. It may begin before the previous kernel ends.
struct Configuration {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config{};

  template <class Shape>
  static Configuration of(int blocks, cudaStream_t stream) {
    Configuration result;
    result.attributes[0].id = cudaLaunchAttributeClusterDimension;
    result.attributes[0].val.clusterDim = {static_cast<unsigned>(Shape::cluster), 1, 1};
    result.attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    result.attributes[1].val.programmaticStreamSerializationAllowed = 1;
    result.config.gridDim = dim3(static_cast<unsigned>(blocks));
    result.config.blockDim = dim3(block_threads);
    result.config.dynamicSmemBytes = Shape::shared_bytes;
    result.config.stream = stream;
    result.config.numAttrs = 2;
    return result;
  }
  /// The configuration for a launch. Valid during this object's lifetime.
  [[nodiscard]] const cudaLaunchConfig_t* get() {
    config.attrs = attributes;
    return &config;
  }
};

template <class Shape>
void launch(const CUtensorMap& a, const CUtensorMap& b, const ResidueArguments& f, int clusters, cudaStream_t stream) {
  auto configuration = Configuration::of<Shape>(clusters * Shape::cluster, stream);
  check(cudaLaunchKernelEx(configuration.get(), multiply_residues<Shape>, a, b, f), "cudaLaunchKernelEx");
}

int chosen(int wanted, int otherwise) { return wanted >= 0 ? wanted : otherwise; }

}  // namespace

FusedResidues::FusedResidues(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  if (properties.major != 9 || properties.minor != 0) return;
  maps_ = TensorMaps::find();
  if (!maps_) return;
  check(cudaFuncSetAttribute(multiply_residues<Narrow>, cudaFuncAttributeMaxDynamicSharedMemorySize, Narrow::shared_bytes),
        "cudaFuncSetAttribute");
  check(cudaFuncSetAttribute(multiply_residues<Wide>, cudaFuncAttributeMaxDynamicSharedMemorySize, Wide::shared_bytes),
        "cudaFuncSetAttribute");
  processors_ = properties.multiProcessorCount;
  auto two = Configuration::of<Wide>(Wide::cluster, nullptr);
  check(cudaOccupancyMaxActiveClusters(&pairs_, multiply_residues<Wide>, two.get()), "cudaOccupancyMaxActiveClusters");
  hopper_ = pairs_ > 0;
}

bool FusedResidues::applies(int moduli, Index m, Index n, Index k) const {
  constexpr Index most = Index{1} << 30;  // coordinates of TMA, and items, are int
  if (!hopper_ || k >= most) return false;
  const Index vectors = round_up(std::max(m, n), DeviceSlices::vector_step) + DeviceSlices::vector_step;
  const Tiles tiles(std::min(m, most), std::min(n, most), Narrow::columns);
  return moduli * vectors < most && Index{tiles.rows} * tiles.columns * moduli < most;
}

std::size_t FusedResidues::workspace(int moduli, Index rows, Index columns) const {
  const auto bytes = [&](int tile_columns) { return Tiles(rows, columns, tile_columns).bytes(tile_columns); };
  return static_cast<std::size_t>(counter_bytes + moduli * std::max(bytes(Narrow::columns), bytes(Wide::columns)));
}

FusedResidues::Bytes FusedResidues::launch(const DeviceSlices& a, const DeviceSlices& b, int moduli, const Block& block,
                                           void* workspace, cudaStream_t stream, const Tuning& tuning,
                                           const LaterPlan& later) const {
  const int expected = later.chosen == nullptr ? moduli : later.expected_moduli;
  const int columns = chosen(tuning.columns, tile_columns_for(block.rows, block.columns, expected, processors_));
  const bool wide = columns == Wide::columns;
  const Tiles tiles(block.rows, block.columns, columns);
  ResidueArguments f{};
  f.row_clusters = tiles.rows / (wide ? Wide::cluster : Narrow::cluster);
  f.column_tiles = tiles.columns;
  f.panel = std::max(1, chosen(tuning.panel, 8));
  f.moduli = moduli;
  f.chosen = later.chosen;
  f.vectors_a = static_cast<int>(a.modulus_vectors), f.vectors_b = static_cast<int>(b.modulus_vectors);
  f.steps = static_cast<int>(a.padded / residue_step);
  f.bytes = static_cast<std::int8_t*>(workspace) + counter_bytes;
  f.modulus_bytes = tiles.bytes(columns);
  f.set_reductions();
  const int clusters = std::min(f.items(), wide ? pairs_ : processors_);
  const bool long_enough = wide && f.items() >= 32 * clusters;
  f.step = {nullptr, chosen(tuning.interval, long_enough ? 4 : 0), chosen(tuning.lead, 1)};
  if (f.step.interval > 0) {
    f.step.counter = static_cast<unsigned*>(workspace);
    check(cudaMemsetAsync(workspace, 0, sizeof(unsigned), stream), "cudaMemsetAsync");
  }
  // Maps only existing vectors, because memory may end after them: residues may be a part of an operand's.
  const auto map_of = [this, moduli](const DeviceSlices& residues, Index first, int rows) {
    const Index vectors = (moduli - 1) * residues.modulus_vectors + round_up(residues.count, DeviceSlices::vector_step);
    return maps_.of_bytes(residues.digits + first * residues.padded, residues.padded, vectors - first, rows);
  };
  const auto of_a = map_of(a, block.row, residue_tile_rows);
  const auto of_b = map_of(b, block.column, wide ? Wide::columns / Wide::cluster : Narrow::columns);
  if (wide)
    gpu::launch<Wide>(of_a, of_b, f, clusters, stream);
  else
    gpu::launch<Narrow>(of_a, of_b, f, clusters, stream);
  return {f.bytes, f.modulus_bytes, columns, tiles.columns, tiles.rows};
}

}  // namespace ozbound::gpu
