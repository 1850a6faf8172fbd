// SPDX-License-Identifier: BSD-3-Clause
#include "bounded_entries.hpp"

#include "cuda_check.hpp"
#include "entries.cuh"
#include "ozbound/bounds/detail/entry_allowance.hpp"

namespace ozbound::gpu {
namespace {

__global__ void find_last_inexact(const __grid_constant__ DeviceBound bound, const __grid_constant__ DeviceSpecials specials,
                                  Shape shape, std::uint64_t* after) {
  std::uint64_t last = 0;
  for_each_entry(shape.m, shape.n, false, [&](Index i, Index j) {
    if (bound.upper(i, j) > 0 && !specials.at(i, j)) last = max(last, static_cast<std::uint64_t>(i * shape.n + j + 1));
  });
  if (last > 0) atomicMax(counter(after), last);
}

__global__ void accept_relative(const __grid_constant__ RelativeProduct x, const __grid_constant__ BoundWithScales bound,
                                const __grid_constant__ DeviceSpecials specials, Shape shape) {
  const double least_normal = x.c.is_double ? 0x1p-1022 : 0x1p-126;
  double worst = 0;
  for_each_entry(shape.m, shape.n, by_row(x.c), [&](Index i, Index j) {
    if (specials.at(i, j)) return;
    const auto bits = x.product.bits(i, j);
    const auto scale = std::int64_t{bound.row_exponents[i]} + bound.column_exponents[j];
    const auto verdict = judge_relative(bits, bound.bound.upper(i, j), scale, x.alpha, x.factor, least_normal);
    if (!verdict.accepted) {
      mark_entry(x.open, x.open_count, i * shape.n + j);
      return;
    }
    worst = verdict.share > worst ? verdict.share : worst;
    x.c.set_bits(i, j, x.c.is_double ? bits : bits_of(static_cast<float>(double_from_bits(bits))));
  });
  if (worst > 0) atomicMax(counter(x.worst), bits_of(worst));
}

}  // namespace

void launch_last_inexact(const DeviceBound& bound, const DeviceSpecials& specials, Shape shape, std::uint64_t* after,
                         cudaStream_t stream) {
  if (empty(shape)) return;
  find_last_inexact<<<entry_grid(shape.m, shape.n, false), entry_threads, 0, stream>>>(bound, specials, shape, after);
  check_launch("find_last_inexact");
}

void launch_accepting(const RelativeProduct& relative, const BoundWithScales& bound, const DeviceSpecials& specials,
                      Shape shape, cudaStream_t stream) {
  if (empty(shape)) return;
  accept_relative<<<entry_grid(shape.m, shape.n, by_row(relative.c)), entry_threads, 0, stream>>>(relative, bound, specials,
                                                                                                  shape);
  check_launch("accept_relative");
}

}  // namespace ozbound::gpu
