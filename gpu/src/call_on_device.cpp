// SPDX-License-Identifier: BSD-3-Clause
#include "call_on_device.hpp"

#include <cstdint>

#include "specials.hpp"

namespace ozbound::gpu {
namespace {

/// As launch_specials takes special vectors: slices without digits.
DeviceSlices vectors(const std::uint8_t* special, Index count, Index inner, const std::uint32_t* any) {
  DeviceSlices result;
  result.special = const_cast<std::uint8_t*>(special), result.any_special = const_cast<std::uint32_t*>(any);
  result.count = count, result.inner = inner;
  return result;
}

}  // namespace

bool any_on_device(const RealProduct& call) {
  return on_device(call.a, "a") || on_device(call.b, "b") || on_device(call.c.as_input(), "c") ||
         (!is_zero(call.beta) && on_device(call.c0, "c0"));
}

bool all_on_device(const RealProduct& call) {
  return on_device(call.a, "a") && on_device(call.b, "b") && on_device(call.c.as_input(), "c") &&
         (is_zero(call.beta) || on_device(call.c0, "c0"));
}

void CallOnDevice::write_specials(const std::uint8_t* rows, const std::uint8_t* columns) const {
  const auto any = copy_to_device<std::uint32_t>({1, 0}, stream_);
  OperandPair operands{a(), b(), call_.k()};
  const DeviceArray<double> zero(1, stream_);
  if (call_.k() == 0) {  // an empty sum is one of zeros; without any term the kernel would write all of beta C0
    check(cudaMemsetAsync(zero.data(), 0, sizeof(double), stream_), "cudaMemsetAsync");
    operands = {{zero.data(), 0, 0, true}, {zero.data(), 0, 0, true}, 1};
  }
  launch_specials(operands, vectors(rows, call_.m(), operands.k, any.data()),
                  vectors(columns, call_.n(), operands.k, any.data()), epilogue(), stream_);
}

}  // namespace ozbound::gpu
