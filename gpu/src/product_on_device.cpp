// SPDX-License-Identifier: BSD-3-Clause
#include "product_on_device.hpp"

#include <cstdint>

#include "specials.hpp"

namespace ozbound::gpu {
namespace {

/// Special vectors in the form of launch_specials: slices without digits.
DeviceSlices vectors(const std::uint8_t* special, Index count, Index inner, const std::uint32_t* any) {
  DeviceSlices result;
  result.special = const_cast<std::uint8_t*>(special), result.any_special = const_cast<std::uint32_t*>(any);
  result.count = count, result.inner = inner;
  return result;
}

}  // namespace

bool any_on_device(const RealProduct& product) {
  return on_device(product.a, "a") || on_device(product.b, "b") || on_device(product.c.as_input(), "c") ||
         (!is_zero(product.beta) && on_device(product.c0, "c0"));
}

bool all_on_device(const RealProduct& product) {
  return on_device(product.a, "a") && on_device(product.b, "b") && on_device(product.c.as_input(), "c") &&
         (is_zero(product.beta) || on_device(product.c0, "c0"));
}

void ProductOnDevice::write_specials(const std::uint8_t* rows, const std::uint8_t* columns) const {
  const auto any = copy_to_device<std::uint32_t>({1, 0}, stream_);
  OperandPair operands{a(), b(), product_.k()};
  const DeviceArray<double> zero(1, stream_);
  if (product_.k() == 0) {  // a sum without terms is treated as zeros; otherwise the kernel would write beta C0 everywhere
    check(cudaMemsetAsync(zero.data(), 0, sizeof(double), stream_), "cudaMemsetAsync");
    operands = {{zero.data(), 0, 0, true}, {zero.data(), 0, 0, true}, 1};
  }
  launch_specials(operands, vectors(rows, product_.m(), operands.k, any.data()),
                  vectors(columns, product_.n(), operands.k, any.data()), epilogue(), stream_);
}

}  // namespace ozbound::gpu
