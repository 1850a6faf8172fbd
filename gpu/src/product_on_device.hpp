// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "ozbound/core/gemm.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

/// True if any matrix that a call reads or writes is in device memory.
bool any_on_device(const RealProduct& product);

/// True if every matrix that a call reads or writes is in device memory.
bool all_on_device(const RealProduct& product);

/// A call on device memory. C is written in place, or copied back.
class ProductOnDevice {
 public:
  ProductOnDevice(const RealProduct& original, cudaStream_t stream)
      : product_(original.without_unread()),
        stream_(stream),
        a_(product_.a, "a", stream),
        b_(product_.b, "b", stream),
        c0_(is_zero(product_.beta) ? InputView() : product_.c0, "c0", stream),
        c_(product_.c.as_input(), "c", stream) {}

  /// The call without matrices that are never read.
  [[nodiscard]] const RealProduct& product() const { return product_; }
  [[nodiscard]] const DeviceMatrix& a() const { return a_.matrix(); }
  [[nodiscard]] const DeviceMatrix& b() const { return b_.matrix(); }
  [[nodiscard]] const DeviceMatrix& c() const { return c_.matrix(); }
  [[nodiscard]] DeviceEpilogue epilogue() const {
    return {.alpha = product_.alpha, .beta = product_.beta, .c0 = c0_.matrix(), .c = c_.matrix()};
  }

  /// Writes special entries. A non-zero byte marks a special row of A or column of B.
  void write_specials(const std::uint8_t* rows, const std::uint8_t* columns) const;

  /// Copies C back if necessary. Waits for the stream.
  void finish() const {
    c_.write_to(product_.c, stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  RealProduct product_;
  cudaStream_t stream_;
  DeviceOperand a_, b_, c0_, c_;
};

}  // namespace ozbound::gpu
