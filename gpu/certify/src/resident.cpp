#include "ozbound/gpu/resident.hpp"

#include "cuda_device.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

const cudaStream_t stream = cudaStreamPerThread;

template <class T>
MatrixView<T> typed(const DeviceMatrix& matrix, Index rows, Index cols) {
  return {static_cast<T*>(matrix.data), rows, cols, matrix.row_stride, matrix.col_stride};
}

InputView view_of(const DeviceMatrix& matrix, const InputView& original) {
  if (original.empty()) return original;
  if (matrix.is_double) return typed<const double>(matrix, original.rows(), original.cols());
  return typed<const float>(matrix, original.rows(), original.cols());
}

}  // namespace

struct ResidentOperands::Copies {
  InputView a, b, c0;
  DeviceOperand on_a, on_b, on_c0;

  Copies(const InputView& of_a, const InputView& of_b, const InputView& of_c0)
      : a(of_a), b(of_b), c0(of_c0), on_a(a, "a", stream), on_b(b, "b", stream), on_c0(c0, "c0", stream) {
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
};

ResidentOperands::ResidentOperands(const InputView& a, const InputView& b, const InputView& c0, int device) {
  const CudaDevice current(device);
  copies_ = std::make_unique<Copies>(a, b, c0);
}

ResidentOperands::~ResidentOperands() = default;

InputView ResidentOperands::a() const { return view_of(copies_->on_a.matrix(), copies_->a); }
InputView ResidentOperands::b() const { return view_of(copies_->on_b.matrix(), copies_->b); }
InputView ResidentOperands::c0() const { return view_of(copies_->on_c0.matrix(), copies_->c0); }

struct ResidentResult::Copy {
  OutputView original;
  int device;
  DeviceCopy copy;
};

ResidentResult::ResidentResult(const OutputView& c, int device) {
  const CudaDevice current(device);
  copy_ = std::make_unique<Copy>(Copy{c, device, DeviceCopy::unset(c.as_input(), stream)});
}

ResidentResult::~ResidentResult() = default;

OutputView ResidentResult::view() const {
  const auto& [original, device, copy] = *copy_;
  if (original.as_input().empty()) return original;
  if (original.is_double()) return typed<double>(copy.matrix(), original.rows(), original.cols());
  return typed<float>(copy.matrix(), original.rows(), original.cols());
}

void ResidentResult::write_back() const {
  const CudaDevice current(copy_->device);
  copy_->copy.write_to(copy_->original, stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace ozbound::gpu
