// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include "ozbound/core/gemm.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {

/// Whether any matrix that a call reads or writes is in device memory.
bool any_on_device(const RealProduct& call);

/// Whether every one is.
bool all_on_device(const RealProduct& call);

/// A call whose C is written where it lies, or copied back.
class CallOnDevice {
 public:
  CallOnDevice(const RealProduct& original, cudaStream_t stream)
      : call_(original.without_unread()),
        stream_(stream),
        a_(call_.a, "a", stream),
        b_(call_.b, "b", stream),
        c0_(is_zero(call_.beta) ? InputView() : call_.c0, "c0", stream),
        c_(call_.c.as_input(), "c", stream) {}

  /// Without what is never read.
  [[nodiscard]] const RealProduct& call() const { return call_; }
  [[nodiscard]] const DeviceMatrix& a() const { return a_.matrix(); }
  [[nodiscard]] const DeviceMatrix& b() const { return b_.matrix(); }
  [[nodiscard]] const DeviceMatrix& c() const { return c_.matrix(); }
  [[nodiscard]] DeviceEpilogue epilogue() const {
    return {.alpha = call_.alpha, .beta = call_.beta, .c0 = c0_.matrix(), .c = c_.matrix()};
  }

  /// Writes special entries, by vectors that are known to be special: a byte each of rows of A and columns of B.
  void write_specials(const std::uint8_t* rows, const std::uint8_t* columns) const;

  /// Waits for the stream.
  void finish() const {
    c_.write_to(call_.c, stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  RealProduct call_;
  cudaStream_t stream_;
  DeviceOperand a_, b_, c0_, c_;
};

}  // namespace ozbound::gpu
