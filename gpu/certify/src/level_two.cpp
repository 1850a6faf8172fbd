// SPDX-License-Identifier: BSD-3-Clause
#include "level_two.hpp"

#include "product_launcher.hpp"
#include "round_up.hpp"

namespace ozbound::gpu {
namespace {

// The tensor cores' sums of k products are assumed to be at most 1 / (1 - k 2^-22) times the exact sums. They may be smaller by
// any amount (docs/derivations/enclosure.md, E5).
constexpr double unit_error = 0x1p-22;
constexpr Index longest_filtered = Index{1} << 21;

/// A lower bound of (1 + 2^-13)^-1 twice, for level 2's own sum and its deflation, and of underflow.
constexpr double of_level_two = 1 - 0x1p-11;

LevelTwoVectors take(const DeviceMatrix& vectors, const DeviceSlices& digits, Arena& arena) {
  const Index all = round_up(digits.count, DeviceSlices::vector_step) * digits.padded;
  return {vectors, arena.take<float>(all), arena.take<std::uint16_t>(all), arena.take<Index>(digits.count), digits.padded};
}

}  // namespace

LevelTwo::LevelTwo(Index m, Index n, Index k, Kernels& kernels, bool by_tensor_cores)
    : m_(m),
      n_(n),
      k_(k),
      kernels_(kernels),
      has_leading_(by_tensor_cores && k <= longest_filtered && kernels.lt.multiplies_bfloat16()) {}

LtProduct::Shape LevelTwo::shape() const {
  const Index padded = round_up(k_, DeviceSlices::digit_step);
  return {round_up(m_, LtProduct::step), round_up(n_, LtProduct::step), padded, padded, padded, LtProduct::Elements::bfloat16};
}

DeviceMagnitudes LevelTwo::launch(const LevelOneSums& one, const DeviceMatrix& a, const DeviceMatrix& b, Arena& arena,
                                  cudaStream_t stream) const {
  DeviceMagnitudes result;
  result.one = one;
  result.rows = take(a, one.rows, arena);
  result.columns = take(transposed(b), one.columns, arena);
  if (!result.loose()) return result;  // only counted
  launch_level_two_vectors(result, stream);
  return result;
}

void LevelTwo::prepare() const { kernels_.lt.tune(shape()); }

void LevelTwo::launch_leading(DeviceMagnitudes& of, Arena& arena, cudaStream_t stream) const {
  auto* const leading = arena.take<float>(shape().rows * shape().columns);
  auto* const workspace = arena.take<std::uint8_t>(static_cast<Index>(LtProduct::workspace_bytes));
  if (leading == nullptr) return;  // only counted
  kernels_.lt.launch(shape(), of.rows.leading, of.columns.leading, leading, workspace, stream);
  of.leading = leading, of.leading_pitch = shape().rows;
  const auto k = static_cast<double>(k_);
  of.leading_share = static_cast<float>(of_level_two * (1 - k * unit_error)) * (1 - 0x1p-20f);
  of.leading_least = static_cast<float>(k * 0x1p-100);
}

}  // namespace ozbound::gpu
