#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda_check.hpp"
#include "device_pool.hpp"

namespace ozbound::gpu {

/// Elements in device memory, freed with this. Taken and freed in the order of a stream.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::int64_t count, cudaStream_t stream) : stream_(stream) {
    if (count > 0)
      check(cudaMallocFromPoolAsync(&data_, static_cast<std::size_t>(count) * sizeof(T), device_pool(), stream),
            "cudaMallocFromPoolAsync");
  }
  ~DeviceArray() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(stream_, other.stream_);
    return *this;
  }

  [[nodiscard]] T* data() const { return static_cast<T*>(data_); }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace ozbound::gpu
