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

/// A copy of a host matrix in device memory, without gaps between elements. The transfers run on a stream and are not waited
/// for. The host's matrix must live until the stream is synchronised.
class DeviceCopy {
 public:
  DeviceCopy() = default;
  DeviceCopy(const InputView& host, cudaStream_t stream);

  /// Memory for a copy, not set.
  static DeviceCopy unset(const InputView& host, cudaStream_t stream);

  [[nodiscard]] const DeviceMatrix& matrix() const { return matrix_; }

  /// Copies all elements to a matrix of the same shape, format and order of strides.
  void write_to(const OutputView& host, cudaStream_t stream) const;

 private:
  DeviceArray<std::uint8_t> memory_;
  DeviceMatrix matrix_;
};

/// True if kernels can read the memory in place: memory of the current device, and managed memory. False for null.
/// @throws std::invalid_argument naming the argument for memory of another device.
bool on_device(const void* data, const char* name);

/// True if kernels can read a view's elements in place.
bool on_device(const InputView& view, const char* name);

/// A view of device memory in the form that kernels take.
DeviceMatrix matrix_of(const InputView& view);

/// A matrix of the host's or the device's, for kernels: in place, or as a DeviceCopy, whose lifetime rules then apply.
class DeviceOperand {
 public:
  DeviceOperand() = default;
  /// @throws std::invalid_argument naming the argument for memory of another device.
  DeviceOperand(const InputView& view, const char* name, cudaStream_t stream);

  [[nodiscard]] const DeviceMatrix& matrix() const { return matrix_; }

  /// Copies the matrix back, if necessary, to the view it was made from. @pre `view` is that view.
  void write_to(const OutputView& view, cudaStream_t stream) const;

 private:
  bool in_place_ = true;
  DeviceCopy copy_;
  DeviceMatrix matrix_;
};

/// A host copy of a device matrix. Waits for the stream.
class HostCopy {
 public:
  HostCopy(const InputView& device, cudaStream_t stream);

  [[nodiscard]] const InputView& view() const { return view_; }

 private:
  Matrix<double> doubles_;
  Matrix<float> floats_;
  InputView view_;
};

/// A device copy of a host vector.
template <class T>
DeviceArray<T> copy_to_device(const std::vector<T>& values, cudaStream_t stream) {
  DeviceArray<T> copy(static_cast<std::int64_t>(values.size()), stream);
  if (!values.empty())
    check(cudaMemcpyAsync(copy.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
  return copy;
}

/// Copies the first elements of an array to the host.
template <class T>
std::vector<T> copy_to_host(const T* data, std::int64_t count, cudaStream_t stream) {
  std::vector<T> copy(static_cast<std::size_t>(count));
  if (count > 0)
    check(cudaMemcpyAsync(copy.data(), data, copy.size() * sizeof(T), cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return copy;
}

/// A host copy of a block of device memory, to be read part by part. Waits for the stream.
class HostBlock {
 public:
  HostBlock(const void* begin, const void* end, cudaStream_t stream);

  /// A block whose copy is only launched. It must neither be read nor given up before the stream has made the copy.
  static HostBlock started(const void* begin, const void* end, cudaStream_t stream);

  /// The elements of an array inside the block, copied.
  template <class T>
  [[nodiscard]] std::vector<T> part(const T* there, Index count) const {
    return {at(there), at(there) + count};
  }

  /// An element inside the block, which stays there.
  template <class T>
  [[nodiscard]] const T* at(const T* there) const {
    return reinterpret_cast<const T*>(memory_.get() + (reinterpret_cast<const std::uint8_t*>(there) - origin_));
  }

  /// Norms that stay in the block.
  [[nodiscard]] Norms norms(const double* there, Index count) const {
    return {memory_, at(there), static_cast<std::size_t>(count)};
  }

 private:
  HostBlock() = default;

  const std::uint8_t* origin_ = nullptr;
  std::shared_ptr<const std::uint8_t> memory_;
};

/// A host bound, with its norms copied to device memory.
class BoundCopy {
 public:
  BoundCopy() = default;
  /// Copies the bound of an m x n product. Waits for the stream.
  BoundCopy(const EntryBound& bound, Index m, Index n, cudaStream_t stream);

  /// The bound as an argument of kernels.
  [[nodiscard]] const DeviceBound& bound() const { return bound_; }

 private:
  DeviceArray<double> rows_, columns_;
  DeviceArray<int> ends_;
  DeviceBound bound_ = {};
};

/// A bound that the device which made it keeps in its memory.
class KeptOnDevice {
 public:
  virtual ~KeptOnDevice() = default;
  [[nodiscard]] virtual const DeviceBound& device_bound() const = 0;
  [[nodiscard]] virtual int device() const = 0;
};

/// The device bound of a remote bound that this device keeps; null if another device keeps it, or for null.
const DeviceBound* kept_on(int device, const RemoteEntryBound* bound);

/// A ZivBound in device memory: in place, or as a copy. Its source must outlive it.
class ZivBoundOnDevice {
 public:
  /// For an m x n product on the current device.
  ZivBoundOnDevice(ZivBound bound, Index m, Index n, int device, cudaStream_t stream);

  /// The bound in device memory.
  [[nodiscard]] const DeviceBound* data() const { return bound_.data(); }

 private:
  BoundCopy copy_;
  DeviceArray<DeviceBound> bound_;
};

}  // namespace ozbound::gpu
