// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/core/views.hpp"
#include "transfer.hpp"

namespace ozbound::mirror {

/// A host matrix, or a copy of it in device memory.
class Placed {
 public:
  Placed(const InputView& host, bool on_device) : host_(host) {
    if (on_device) copy_ = gpu::DeviceCopy(host, cudaStreamPerThread);
  }

  [[nodiscard]] OutputView view() const {
    return std::visit(
        [this]<class T>(const MatrixView<const T>& v) {
          if (copy_.matrix().data == nullptr)
            return OutputView(MatrixView<T>(const_cast<T*>(v.data()), v.rows(), v.cols(), v.row_stride(), v.col_stride()));
          const auto& there = copy_.matrix();
          return OutputView(MatrixView<T>(static_cast<T*>(there.data), v.rows(), v.cols(), there.row_stride, there.col_stride));
        },
        host_.typed());
  }
  [[nodiscard]] InputView input() const { return view().as_input(); }

  [[nodiscard]] std::vector<std::uint64_t> bits() const {
    const gpu::HostCopy copy(input(), cudaStreamPerThread);
    std::vector<std::uint64_t> result;
    for (Index i = 0; i < host_.rows(); ++i)
      for (Index j = 0; j < host_.cols(); ++j) result.push_back(copy.view().bits(i, j));
    return result;
  }

 private:
  InputView host_;
  gpu::DeviceCopy copy_;
};

}  // namespace ozbound::mirror
