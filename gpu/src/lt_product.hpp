// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "block.hpp"
#include "device_slices.hpp"

namespace ozbound {
class Plan;
}

namespace ozbound::gpu {

/// cuBLASLt on one device. It computes products of int8 digits, a whole diagonal at a time, and of bfloat16 numbers. For each
/// shape it finds the fastest of the offered algorithms by timing, and remembers it. In builds without cuBLASLt no product
/// applies.
class LtProduct {
 public:
  explicit LtProduct(int device);
  ~LtProduct();
  LtProduct(const LtProduct&) = delete;
  LtProduct& operator=(const LtProduct&) = delete;

  enum class Elements { int8, bfloat16 };

  /// A row x column block of sums over `inner` digits. Blocks are rounded up to multiples of `step`.
  struct Shape {
    Index rows = 0, columns = 0, inner = 0;
    Index row_pitch = 0, column_pitch = 0;  ///< between two vectors of digits
    Elements elements = Elements::int8;

    auto operator<=>(const Shape&) const = default;
  };
  static constexpr Index step = 16;
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  [[nodiscard]] static bool applies(const Plan& plan);
  [[nodiscard]] bool multiplies_bfloat16() const;

  /// Finds the fastest algorithm, unless it is known or the product is small. Waits for the device.
  void tune(const Shape& shape);

  /// sums[i + j * rows] = sum of rows[i * row_pitch + l] * columns[j * column_pitch + l]. Asynchronous; uses the algorithm that
  /// tune found.
  /// @pre INT32 holds the sums.
  void launch(const Shape& shape, const std::int8_t* rows, const std::int8_t* columns, std::int32_t* sums, void* workspace,
              cudaStream_t stream);

  /// Multiplies bfloat16 numbers, given by their bits. Sums in binary32; the order and the rounding are not specified.
  void launch(const Shape& shape, const std::uint16_t* rows, const std::uint16_t* columns, float* sums, void* workspace,
              cudaStream_t stream);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

/// Adds products, or sets sums to them.
void launch_widening(const std::int32_t* products, std::int64_t* sums, Index count, bool add, cudaStream_t stream);

}  // namespace ozbound::gpu
