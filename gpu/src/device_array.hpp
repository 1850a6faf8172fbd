// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda_check.hpp"
#include "device_pool.hpp"

namespace ozbound::gpu {

/// Elements in device memory, allocated and freed in the order of a stream. The destructor frees them.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::int64_t count, cudaStream_t stream) : stream_(stream) {
    bytes_ = count > 0 ? static_cast<std::size_t>(count) * sizeof(T) : 0;
    if (bytes_ == 0) return;
    device_ = current_device();
    data_ = take_memory(bytes_, stream);
  }
  ~DeviceArray() {
    if (data_ != nullptr) give_memory_back(data_, bytes_, device_, stream_);
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), device_(other.device_), stream_(other.stream_) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
    std::swap(stream_, other.stream_);
    return *this;
  }

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace ozbound::gpu
