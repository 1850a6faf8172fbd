// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <variant>

#include "cuda_check.hpp"
#include "device_array.hpp"
#include "properties/stored_matrix.hpp"

namespace ozbound::mirror {

/// The address of a view's first element.
inline void* origin_of(const InputView& view) {
  const void* const data = std::visit([](const auto& v) { return static_cast<const void*>(v.data()); }, view.typed());
  return const_cast<void*>(data);
}

/// A stored matrix in device memory, with its storage and padding.
class DeviceStored {
 public:
  DeviceStored(const StoredMatrix& host, cudaStream_t stream)
      : size_(host.storage().single ? sizeof(float) : sizeof(double)),
        padding_(static_cast<std::size_t>(host.storage().padding) * size_),
        bytes_(2 * padding_ +
               static_cast<std::size_t>((host.storage().column_major ? host.cols() : host.rows()) * host.ld()) * size_),
        memory_(static_cast<Index>(bytes_), stream) {
    copy(memory_.data(), begin_of(host), cudaMemcpyHostToDevice, stream);
  }

  [[nodiscard]] OutputView view(StoredMatrix& host) const {
    return std::visit(
        [&]<class T>(const MatrixView<T>& v) {
          auto* const data = v.empty() ? nullptr : reinterpret_cast<T*>(memory_.data() + padding_);
          return OutputView(MatrixView<T>(data, v.rows(), v.cols(), v.row_stride(), v.col_stride()));
        },
        host.output().typed());
  }

  [[nodiscard]] InputView input(StoredMatrix& host) const { return view(host).as_input(); }

  void copy_to(StoredMatrix& host, cudaStream_t stream) const {
    copy(begin_of(host), memory_.data(), cudaMemcpyDeviceToHost, stream);
  }

 private:
  [[nodiscard]] std::uint8_t* begin_of(const StoredMatrix& host) const {
    return static_cast<std::uint8_t*>(origin_of(host.input())) - padding_;
  }
  void copy(void* to, const void* from, cudaMemcpyKind kind, cudaStream_t stream) const {
    if (bytes_ > 0) gpu::check(cudaMemcpyAsync(to, from, bytes_, kind, stream), "cudaMemcpyAsync");
    gpu::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  std::size_t size_, padding_, bytes_;
  gpu::DeviceArray<std::uint8_t> memory_;
};

}  // namespace ozbound::mirror
