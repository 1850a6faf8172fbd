#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "device_array.hpp"
#include "device_epilogue.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound::gpu {

/// A copy of a matrix of the host in device memory, its elements close together. Transfers of a stream are waited for by
/// whoever synchronises it; the host's matrix must live as long.
class DeviceCopy {
 public:
  DeviceCopy() = default;
  DeviceCopy(const InputView& host, cudaStream_t stream);

  [[nodiscard]] const DeviceMatrix& matrix() const { return matrix_; }

  /// Copies all elements to a matrix of the same shape, format and order of strides.
  void write_to(const OutputView& host, cudaStream_t stream) const;

 private:
  DeviceArray<std::uint8_t> memory_;
  DeviceMatrix matrix_;
};

/// A copy of a vector of the host.
template <class T>
DeviceArray<T> copy_to_device(const std::vector<T>& values, cudaStream_t stream) {
  DeviceArray<T> copy(static_cast<std::int64_t>(values.size()), stream);
  if (!values.empty())
    check(cudaMemcpyAsync(copy.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
  return copy;
}

/// The first elements of an array.
template <class T>
std::vector<T> copy_to_host(const T* data, std::int64_t count, cudaStream_t stream) {
  std::vector<T> copy(static_cast<std::size_t>(count));
  if (count > 0)
    check(cudaMemcpyAsync(copy.data(), data, copy.size() * sizeof(T), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return copy;
}

/// An EntryBound of an m x n product in device memory.
class BoundCopy {
 public:
  BoundCopy(const EntryBound& bound, Index m, Index n, cudaStream_t stream);

  [[nodiscard]] const DeviceBound* bound() const { return bound_.data(); }

 private:
  DeviceArray<double> rows_, columns_;
  DeviceArray<int> ends_;
  DeviceArray<DeviceBound> bound_;
};

}  // namespace ozbound::gpu
