// SPDX-License-Identifier: BSD-3-Clause
#include "device_matrices.hpp"

#include <algorithm>
#include <utility>

#include "call_on_device.hpp"
#include "copying.hpp"
#include "cuda_device.hpp"
#include "device_fingerprint.hpp"
#include "device_representation.hpp"
#include "entries.hpp"
#include "open_entries.hpp"
#include "ozbound/core/detail/usable_threads.hpp"
#include "specials.hpp"
#include "specials_on_device.hpp"
#include "tops.hpp"

namespace ozbound::gpu {
namespace {

const cudaStream_t stream = cudaStreamPerThread;

template <class T>
class DeviceOwned final : public OwnedMatrix {
 public:
  DeviceOwned(Index rows, Index cols) : elements_(rows * cols, stream), view_(elements_.data(), rows, cols, cols, 1) {}
  OutputView view() override { return view_; }

 private:
  DeviceArray<T> elements_;
  MatrixView<T> view_;
};

/// For every row whether it holds a NaN or an infinity.
std::vector<std::uint8_t> special_vectors(const InputView& vectors, const char* name) {
  std::vector<std::uint8_t> special(static_cast<std::size_t>(vectors.rows()));
  if (vectors.empty()) return special;
  const DeviceOperand operand(vectors, name, stream);
  const DeviceArray<std::uint64_t> tops(vectors.rows(), stream);
  launch_tops(operand.matrix(), vectors.rows(), vectors.cols(), tops.data(), stream);
  const auto found = copy_to_host(tops.data(), vectors.rows(), stream);
  std::transform(found.begin(), found.end(), special.begin(),
                 [](std::uint64_t top) { return static_cast<std::uint8_t>(is_finite(top, binary64) ? 0 : 1); });
  return special;
}

ExactCall exact_call(const CallOnDevice& there) {
  const auto& call = there.call();
  const auto epilogue = there.epilogue();
  return {there.a(), there.b(), epilogue.c0, epilogue.c, call.alpha, call.beta, {call.m(), call.n()}, call.k()};
}

ExponentRange range_on_device(const InputView& vectors, const char* name, bool by_vector) {
  constexpr ExponentRange nothing;
  const DeviceOperand operand(vectors, name, stream);
  const auto range = copy_to_device<std::int32_t>({nothing.least, nothing.top}, stream);
  launch_exponent_range(operand.matrix(), vectors.rows(), vectors.cols(), by_vector, range.data(), stream);
  const auto found = copy_to_host(range.data(), 2, stream);
  return {found[0], found[1]};
}

InputView view_of(const DeviceMatrix& matrix, Index rows, Index cols) {
  if (matrix.is_double)
    return MatrixView<const double>(static_cast<const double*>(matrix.data), rows, cols, matrix.row_stride, matrix.col_stride);
  return MatrixView<const float>(static_cast<const float*>(matrix.data), rows, cols, matrix.row_stride, matrix.col_stride);
}

OutputView output_of(const DeviceMatrix& matrix, Index rows, Index cols) {
  if (matrix.is_double)
    return MatrixView<double>(static_cast<double*>(matrix.data), rows, cols, matrix.row_stride, matrix.col_stride);
  return MatrixView<float>(static_cast<float*>(matrix.data), rows, cols, matrix.row_stride, matrix.col_stride);
}

/// A product of copies on the device, of those matrices that are not there. C is a copy that is not set: all its entries are
/// written, and a C0 that is read is a copy of its own. A C that is never written stays what it is.
class BroughtProduct final : public RealRepresentation {
 public:
  BroughtProduct(const RealProduct& call, int device)
      : c_(call.c),
        device_(device),
        a_(call.a, "a", stream),
        b_(call.b, "b", stream),
        c0_(is_zero(call.beta) ? InputView() : call.c0, "c0", stream),
        product_{at(a_, call.a), at(b_, call.b), call.c, call.alpha, call.beta, at(c0_, call.c0)} {
    if (!is_unwritten(call.c) && !on_device(call.c.as_input(), "c")) {
      result_ = DeviceCopy::unset(call.c.as_input(), stream);
      product_.c = output_of(result_.matrix(), call.m(), call.n());
      copied_ = true;
    }
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  [[nodiscard]] const RealProduct& call() const override { return product_; }

  void write_back() const override {
    if (!copied_) return;
    const CudaDevice current(device_);
    result_.write_to(c_, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

 private:
  static InputView at(const DeviceOperand& operand, const InputView& original) {
    return original.empty() || operand.matrix().data == nullptr ? original
                                                                : view_of(operand.matrix(), original.rows(), original.cols());
  }

  OutputView c_;
  int device_;
  DeviceOperand a_, b_, c0_;
  DeviceCopy result_;
  bool copied_ = false;
  RealProduct product_;
};

}  // namespace

std::uint64_t DeviceMatrices::fingerprint(const InputView& matrix) const {
  const CudaDevice device(device_);
  if (!on_device(matrix, "matrix")) return host_.fingerprint(matrix);
  const DeviceArray<std::uint64_t> sum(1, stream);
  launch_fingerprint(matrix_of(matrix), matrix.rows(), matrix.cols(), sum.data(), stream);
  return copy_to_host(sum.data(), 1, stream)[0];
}

ExponentRange DeviceMatrices::exponent_range(const InputView& operand, Side side) const {
  const CudaDevice device(device_);
  if (!on_device(operand, "operand")) return host_.exponent_range(operand, side);
  return range_on_device(vectors_of(operand, side), "operand", true);
}

ExponentRange DeviceMatrices::exponent_range(const InputView& matrix) const {
  const CudaDevice device(device_);
  return on_device(matrix, "c0") ? range_on_device(matrix, "c0", false) : host_.exponent_range(matrix);
}

std::unique_ptr<OwnedMatrix> DeviceMatrices::matrix(Index rows, Index cols, bool is_double) const {
  const CudaDevice device(device_);
  if (is_double) return std::make_unique<DeviceOwned<double>>(rows, cols);
  return std::make_unique<DeviceOwned<float>>(rows, cols);
}

std::unique_ptr<OwnedMatrix> DeviceMatrices::copy(const InputView& original) const {
  const CudaDevice device(device_);
  auto result = matrix(original.rows(), original.cols(), true);
  if (original.empty()) return result;
  const DeviceOperand from(original, "c0", stream);
  launch_copying(from.matrix(), matrix_of(result->view().as_input()), original.rows(), original.cols(), stream);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return result;
}

SpecialEntries DeviceMatrices::special_entries(const RealProduct& call) const {
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.special_entries(call);
  const auto read = call.without_unread();
  return {special_vectors(read.a, "a"), special_vectors(read.b.transposed(), "b"), call.all_special(),
          is_zero(call.beta) ? InputView() : call.c0};
}

Index DeviceMatrices::count(const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(specials.c0, "c0")) return host_.count(specials);
  const DeviceNumber count(stream);
  launch_counting(SpecialsOnDevice(specials, stream).entries(), shape_of(specials), count.data(), stream);
  return static_cast<Index>(count.value());
}

void DeviceMatrices::apply_specials(const RealProduct& call, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.apply_specials(call, specials);
  const CallOnDevice there(call, stream);
  const SpecialsOnDevice known(specials, stream);
  there.write_specials(known.rows(), known.columns());
  there.finish();
}

void DeviceMatrices::multiply_exactly(const RealProduct& call, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.multiply_exactly(call, specials);
  if (specials.everywhere) return;
  const CallOnDevice there(call, stream);
  const SpecialsOnDevice known(specials, stream);
  launch_exact(exact_call(there), nullptr, call.m() * call.n(), known.entries(), stream);
  there.finish();
}

void DeviceMatrices::finish_exactly(const RealProduct& call, const std::vector<Entry>& entries) const {
  if (entries.empty()) return;
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.finish_exactly(call, entries);
  const CallOnDevice there(call, stream);
  const auto open = copy_to_device(entries, stream);
  launch_exact(exact_call(there), open.data(), static_cast<Index>(entries.size()), {}, stream);
  there.finish();
}

std::vector<Entry> DeviceMatrices::infinite_entries(const InputView& c, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(c, "c") && !on_device(specials.c0, "c0")) return host_.infinite_entries(c, specials);
  const auto shape = shape_of(specials);
  const DeviceOperand result(c, "c", stream);
  const SpecialsOnDevice known(specials, stream);
  const OpenEntries open(shape.m, shape.n, stream);
  launch_finding_infinite(result.matrix(), known.entries(), shape, open.bits(), open.count(), stream);
  return open.in_order(stream);
}

void DeviceMatrices::write_specials(const RealProduct& call) const {
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.write_specials(call);
  if (call.c.as_input().empty()) return;
  const CallOnDevice there(call, stream);
  const auto &a = there.a(), b = transposed(there.b());
  const Index m = call.m(), n = call.n(), k = there.call().k();
  const DeviceArray<std::uint64_t> tops(m + n, stream);
  const DeviceArray<std::uint8_t> special(m + n, stream);
  launch_tops(a, m, k, tops.data(), stream);
  launch_tops(b, n, k, tops.data() + m, stream);
  launch_marking(tops.data(), m + n, special.data(), stream);
  there.write_specials(special.data(), special.data() + m);
  there.finish();
}

std::unique_ptr<RealRepresentation> DeviceMatrices::represent(const ComplexProduct& call) const {
  const CudaDevice device(device_);
  if (!any_on_device(call)) return host_.represent(call);
  return represent_on_device(call, usable_threads(threads_), stream);
}

std::unique_ptr<RealRepresentation> DeviceMatrices::bring(const RealProduct& call) const {
  const CudaDevice device(device_);
  const auto read = call.without_unread();
  if (call.c.as_input().empty() || read.k() == 0 || all_on_device(read)) return nullptr;
  return std::make_unique<BroughtProduct>(read, device_);
}

}  // namespace ozbound::gpu
