// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cuda_check.hpp"
#include "special_entry_writer.hpp"
#include "specials.hpp"

namespace ozbound::gpu {
namespace {

constexpr int threads = 256;
constexpr Index most_blocks = 2048;

struct Arguments {
  OperandPair operands;
  DeviceSlices rows, columns;
  DeviceEpilogue epilogue;
};

__global__ void write_specials(const __grid_constant__ Arguments arguments) {
  const auto& [operands, rows, columns, epilogue] = arguments;
  const SpecialEntryWriter entries(operands, epilogue);
  const bool all = entries.all_but_products();  // an entry in place of its C0 must be written only once
  const auto may_have_any = [](const DeviceSlices& of) { return of.any_special == nullptr || *of.any_special != 0; };
  const bool any_vector = !all && (may_have_any(rows) || may_have_any(columns));
  if (!all && !any_vector && is_zero(epilogue.beta_value())) return;
  const Index m = rows.count, n = columns.count;
  const bool by_row = epilogue.c.row_stride < epilogue.c.col_stride;
  for (Index place = Index{blockIdx.x} * threads + threadIdx.x; place < m * n; place += Index{gridDim.x} * threads) {
    const Index i = by_row ? place % m : place / n, j = by_row ? place / m : place % n;
    const bool of_vectors = any_vector && (rows.special[i] != 0 || columns.special[j] != 0);
    if (all || of_vectors || !is_finite(epilogue.c0_bits(i, j), binary64)) entries.write(i, j, of_vectors);
  }
}

__global__ void mark_specials(const std::uint64_t* tops, Index count, std::uint8_t* special) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i < count) special[i] = is_finite(tops[i], binary64) ? 0 : 1;
}

}  // namespace

void launch_marking(const std::uint64_t* tops, Index count, std::uint8_t* special, cudaStream_t stream) {
  if (count == 0) return;
  mark_specials<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(tops, count, special);
  check_launch("mark_specials");
}

void launch_specials(const OperandPair& operands, const DeviceSlices& a, const DeviceSlices& b, const DeviceEpilogue& epilogue,
                     cudaStream_t stream) {
  const Index entries = a.count * b.count;
  if (entries == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(most_blocks, (entries + threads - 1) / threads));
  write_specials<<<blocks, threads, 0, stream>>>({operands, a, b, epilogue});
  check_launch("write_specials");
}

}  // namespace ozbound::gpu
