// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "device_array.hpp"
#include "device_epilogue.hpp"
#include "ozbound/core/entry_bound.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound::gpu {

/// A copy of a matrix of the host in device memory, its elements close together. Transfers of a stream are waited for by
/// whoever synchronises it; the host's matrix must live as long.
class DeviceCopy {
 public:
  DeviceCopy() = default;
  DeviceCopy(const InputView& host, cudaStream_t stream);

  /// Memory for one, not set.
  static DeviceCopy unset(const InputView& host, cudaStream_t stream);

  [[nodiscard]] const DeviceMatrix& matrix() const { return matrix_; }

  /// Copies all elements to a matrix of the same shape, format and order of strides.
  void write_to(const OutputView& host, cudaStream_t stream) const;

 private:
  DeviceArray<std::uint8_t> memory_;
  DeviceMatrix matrix_;
};

/// Whether kernels read memory where it is: that of the current device, and managed memory. Null is nowhere.
/// @throws std::invalid_argument naming the argument for memory of another device.
bool on_device(const void* data, const char* name);

/// The same of a view's elements.
bool on_device(const InputView& view, const char* name);

/// A view of device memory as kernels take it.
DeviceMatrix matrix_of(const InputView& view);

/// A matrix of the host's or the device's, as kernels take it: where it is, or a copy, for which DeviceCopy's words hold.
class DeviceOperand {
 public:
  DeviceOperand() = default;
  /// @throws std::invalid_argument naming the argument for memory of another device.
  DeviceOperand(const InputView& view, const char* name, cudaStream_t stream);

  [[nodiscard]] const DeviceMatrix& matrix() const { return matrix_; }

  /// What was written to the matrix is in the view that it was made of. @pre that is what `view` is.
  void write_to(const OutputView& view, cudaStream_t stream) const;

 private:
  bool in_place_ = true;
  DeviceCopy copy_;
  DeviceMatrix matrix_;
};

/// A matrix of the device's in the host's memory. Waits for the stream.
class HostCopy {
 public:
  HostCopy(const InputView& device, cudaStream_t stream);

  [[nodiscard]] const InputView& view() const { return view_; }

 private:
  Matrix<double> doubles_;
  Matrix<float> floats_;
  InputView view_;
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

/// A block of device memory on the host, taken apart there. Waits for the stream.
class HostBlock {
 public:
  HostBlock(const void* begin, const void* end, cudaStream_t stream);

  /// The elements of an array inside the block.
  template <class T>
  [[nodiscard]] std::vector<T> part(const T* there, Index count) const {
    return {at(there), at(there) + count};
  }

  /// The same, which stay in the block.
  [[nodiscard]] Norms norms(const double* there, Index count) const {
    return {memory_, at(there), static_cast<std::size_t>(count)};
  }

 private:
  template <class T>
  [[nodiscard]] const T* at(const T* there) const {
    return reinterpret_cast<const T*>(memory_.get() + (reinterpret_cast<const std::uint8_t*>(there) - origin_));
  }

  const std::uint8_t* origin_;
  std::shared_ptr<const std::uint8_t> memory_;
};

/// A bound of the host's, its norms copied to device memory.
class BoundCopy {
 public:
  BoundCopy() = default;
  /// Of an m x n product. Waits for the stream.
  BoundCopy(const EntryBound& bound, Index m, Index n, cudaStream_t stream);

  /// An argument of kernels.
  [[nodiscard]] const DeviceBound& bound() const { return bound_; }

 private:
  DeviceArray<double> rows_, columns_;
  DeviceArray<int> ends_;
  DeviceBound bound_ = {};
};

/// A bound in the memory of a device, by whom it was made.
class KeptOnDevice {
 public:
  virtual ~KeptOnDevice() = default;
  [[nodiscard]] virtual const DeviceBound& there() const = 0;
  [[nodiscard]] virtual int device() const = 0;
};

/// That of a remote bound which a device keeps; null for one of others, and for null.
const DeviceBound* kept_on(int device, const RemoteEntryBound* bound);

/// A ZivBound in device memory: the one that is there, or a copy. What it is of must outlive it.
class ZivBoundOnDevice {
 public:
  /// Of an m x n product on the current device.
  ZivBoundOnDevice(ZivBound bound, Index m, Index n, int device, cudaStream_t stream);

  /// In device memory.
  [[nodiscard]] const DeviceBound* data() const { return bound_.data(); }

 private:
  BoundCopy copy_;
  DeviceArray<DeviceBound> bound_;
};

}  // namespace ozbound::gpu
