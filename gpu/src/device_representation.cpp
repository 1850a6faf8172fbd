// SPDX-License-Identifier: BSD-3-Clause
#include "device_representation.hpp"

#include <complex>
#include <cstdint>
#include <optional>
#include <utility>

#include "complex_copies.hpp"
#include "device_array.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

bool on_device(const ComplexInputView& view, const char* name) { return gpu::on_device(view.stored_parts(Part::real), name); }

DeviceComplex device_complex(const ComplexInputView& view) {
  return std::visit(
      [&](const auto& v) {
        return DeviceComplex{v.data(), v.rows(), v.cols(), v.row_stride(), v.col_stride(), view.is_double(), view.conjugated()};
      },
      view.typed());
}

/// A view of device memory.
OutputView device_matrix(void* data, bool is_double, Index rows, Index cols, Index row_stride, Index col_stride) {
  if (is_double) return MatrixView<double>(static_cast<double*>(data), rows, cols, row_stride, col_stride);
  return MatrixView<float>(static_cast<float*>(data), rows, cols, row_stride, col_stride);
}

/// A real matrix that represents a complex one, in the same kind of memory.
class PlacedReal {
 public:
  explicit PlacedReal(RealMatrix host) : host_(std::move(host)), view_(host_->view()) {}
  PlacedReal(DeviceArray<std::uint8_t> memory, InputView view) : memory_(std::move(memory)), view_(view) {}

  [[nodiscard]] InputView view() const { return view_; }

 private:
  std::optional<RealMatrix> host_;
  DeviceArray<std::uint8_t> memory_;
  InputView view_;
};

DeviceArray<std::uint8_t> memory_for(const ComplexInputView& matrix, Index reals_each, cudaStream_t stream) {
  const Index size = matrix.is_double() ? sizeof(double) : sizeof(float);
  return {reals_each * size * matrix.rows() * matrix.cols(), stream};
}

PlacedReal placed_left_factor(const ComplexInputView& a, int threads, cudaStream_t stream) {
  if (a.empty() || !on_device(a, "a")) return PlacedReal(left_factor(a, threads));
  auto memory = memory_for(a, 4, stream);
  launch_left_factor(device_complex(a), memory.data(), stream);
  const auto view = device_matrix(memory.data(), a.is_double(), 2 * a.rows(), 2 * a.cols(), 2 * a.cols(), 1);
  return {std::move(memory), view.as_input()};
}

/// Parts that lie stacked already are viewed in place.
PlacedReal placed_parts(const ComplexInputView& matrix, const char* name, int threads, cudaStream_t stream) {
  const auto stacked = stacked_memory(matrix);
  if (stacked) return PlacedReal(RealMatrix(*stacked));
  if (!on_device(matrix, name)) return PlacedReal(stacked_parts(matrix, threads));
  auto memory = memory_for(matrix, 2, stream);
  launch_stacking(device_complex(matrix), memory.data(), stream);
  const auto view = device_matrix(memory.data(), matrix.is_double(), 2 * matrix.rows(), matrix.cols(), 1, 2 * matrix.rows());
  return {std::move(memory), view.as_input()};
}

class DeviceRepresentation final : public RealRepresentation {
 public:
  DeviceRepresentation(const ComplexProduct& product, int threads, cudaStream_t stream)
      : c_(product.c),
        threads_(threads),
        stream_(stream),
        a_(product.reads_operands() ? placed_left_factor(product.a, threads, stream)
                                    : PlacedReal(RealMatrix(unread(2 * product.m(), 2 * product.k())))),
        b_(product.reads_operands() ? placed_parts(product.b, "b", threads, stream)
                                    : PlacedReal(RealMatrix(unread(2 * product.k(), product.n())))),
        c0_(product.reads_c0() ? placed_parts(product.c0, "c0", threads, stream) : PlacedReal(RealMatrix(InputView()))),
        product_{a_.view(), b_.view(), result(), product.alpha.real(), product.beta.real(), c0_.view()} {}

  [[nodiscard]] const RealProduct& product() const override { return product_; }

  void write_back() const override {
    if (host_result_) unstack(host_result_->view(), c_, threads_);
    if (result_.data() == nullptr) return;
    launch_unstacking(result_.data(), device_complex(c_.as_input()), stream_);
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  OutputView result() {
    if (const auto stacked = stacked_memory(c_)) return *stacked;
    if (!on_device(c_.as_input(), "c")) return host_result_.emplace(new_parts(c_)).output();
    result_ = memory_for(c_.as_input(), 2, stream_);
    return device_matrix(result_.data(), c_.is_double(), 2 * c_.rows(), c_.cols(), 1, 2 * c_.rows());
  }

  ComplexOutputView c_;
  int threads_;
  cudaStream_t stream_;
  PlacedReal a_, b_, c0_;
  std::optional<RealMatrix> host_result_;  ///< if C's memory cannot be used; result_ likewise, for a C in device memory
  DeviceArray<std::uint8_t> result_;
  RealProduct product_;
};

}  // namespace

bool any_on_device(const ComplexProduct& product) {
  return on_device(product.a, "a") || on_device(product.b, "b") || on_device(product.c.as_input(), "c") ||
         (product.reads_c0() && on_device(product.c0, "c0"));
}

std::unique_ptr<RealRepresentation> represent_on_device(const ComplexProduct& product, int threads, cudaStream_t stream) {
  return std::make_unique<DeviceRepresentation>(product, threads, stream);
}

}  // namespace ozbound::gpu
