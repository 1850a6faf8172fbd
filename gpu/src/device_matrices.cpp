// SPDX-License-Identifier: BSD-3-Clause
#include "device_matrices.hpp"

#include <algorithm>
#include <utility>

#include "copying.hpp"
#include "cuda_device.hpp"
#include "device_fingerprint.hpp"
#include "device_representation.hpp"
#include "entries.hpp"
#include "marked_entries.hpp"
#include "ozbound/core/detail/usable_threads.hpp"
#include "product_on_device.hpp"
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

/// For each row, 1 if it holds a NaN or an infinity.
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

ExactProduct exact_product(const ProductOnDevice& on_device) {
  const auto& product = on_device.product();
  const auto epilogue = on_device.epilogue();
  return {on_device.a(), on_device.b(), epilogue.c0, epilogue.c, product.alpha, product.beta, {product.m(), product.n()},
          product.k()};
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

/// A product whose matrices are copied to the device if necessary. The copy of C is not set, because all its entries are
/// written. If C0 is read, it has a copy of its own. A C that is never written is not copied.
class BroughtProduct final : public RealRepresentation {
 public:
  BroughtProduct(const RealProduct& product, int device)
      : c_(product.c),
        device_(device),
        a_(product.a, "a", stream),
        b_(product.b, "b", stream),
        c0_(is_zero(product.beta) ? InputView() : product.c0, "c0", stream),
        product_{at(a_, product.a), at(b_, product.b), product.c, product.alpha, product.beta, at(c0_, product.c0)} {
    if (!is_unwritten(product.c) && !on_device(product.c.as_input(), "c")) {
      result_ = DeviceCopy::unset(product.c.as_input(), stream);
      product_.c = output_of(result_.matrix(), product.m(), product.n());
      copied_ = true;
    }
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  [[nodiscard]] const RealProduct& product() const override { return product_; }

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

SpecialEntries DeviceMatrices::special_entries(const RealProduct& product) const {
  const CudaDevice device(device_);
  if (!any_on_device(product)) return host_.special_entries(product);
  const auto read = product.without_unread();
  return {special_vectors(read.a, "a"), special_vectors(read.b.transposed(), "b"), product.all_special(),
          is_zero(product.beta) ? InputView() : product.c0};
}

Index DeviceMatrices::count(const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(specials.c0, "c0")) return host_.count(specials);
  const DeviceNumber count(stream);
  launch_counting(SpecialsOnDevice(specials, stream).entries(), shape_of(specials), count.data(), stream);
  return static_cast<Index>(count.value());
}

void DeviceMatrices::apply_specials(const RealProduct& product, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!any_on_device(product)) return host_.apply_specials(product, specials);
  const ProductOnDevice on_device(product, stream);
  const auto rows = copy_to_device(specials.rows, stream), columns = copy_to_device(specials.columns, stream);
  on_device.write_specials(rows.data(), columns.data());
  on_device.finish();
}

void DeviceMatrices::multiply_exactly(const RealProduct& product, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!any_on_device(product)) return host_.multiply_exactly(product, specials);
  if (specials.everywhere) return;
  const ProductOnDevice on_device(product, stream);
  const SpecialsOnDevice known(specials, stream);
  launch_exact(exact_product(on_device), nullptr, product.m() * product.n(), known.entries(), stream);
  on_device.finish();
}

void DeviceMatrices::finish_exactly(const RealProduct& product, const std::vector<Entry>& entries) const {
  if (entries.empty()) return;
  const CudaDevice device(device_);
  if (!any_on_device(product)) return host_.finish_exactly(product, entries);
  const ProductOnDevice on_device(product, stream);
  const auto copied = copy_to_device(entries, stream);
  launch_exact(exact_product(on_device), copied.data(), static_cast<Index>(entries.size()), {}, stream);
  on_device.finish();
}

std::vector<Entry> DeviceMatrices::infinite_entries(const InputView& c, const SpecialEntries& specials) const {
  const CudaDevice device(device_);
  if (!on_device(c, "c") && !on_device(specials.c0, "c0")) return host_.infinite_entries(c, specials);
  const auto shape = shape_of(specials);
  const DeviceOperand result(c, "c", stream);
  const SpecialsOnDevice known(specials, stream);
  const MarkedEntries infinite(shape.m, shape.n, stream);
  launch_finding_infinite(result.matrix(), known.entries(), shape, infinite.bits(), infinite.count(), stream);
  return infinite.in_order(stream);
}

void DeviceMatrices::write_specials(const RealProduct& product) const {
  const CudaDevice device(device_);
  if (!any_on_device(product)) return host_.write_specials(product);
  if (product.c.as_input().empty()) return;
  const ProductOnDevice on_device(product, stream);
  const auto &a = on_device.a(), b = transposed(on_device.b());
  const Index m = product.m(), n = product.n(), k = on_device.product().k();
  const DeviceArray<std::uint64_t> tops(m + n, stream);
  const DeviceArray<std::uint8_t> special(m + n, stream);
  launch_tops(a, m, k, tops.data(), stream);
  launch_tops(b, n, k, tops.data() + m, stream);
  launch_marking(tops.data(), m + n, special.data(), stream);
  on_device.write_specials(special.data(), special.data() + m);
  on_device.finish();
}

std::unique_ptr<RealRepresentation> DeviceMatrices::represent(const ComplexProduct& product) const {
  const CudaDevice device(device_);
  if (!any_on_device(product)) return host_.represent(product);
  return represent_on_device(product, usable_threads(threads_), stream);
}

std::unique_ptr<RealRepresentation> DeviceMatrices::bring(const RealProduct& product) const {
  const CudaDevice device(device_);
  const auto read = product.without_unread();
  if (product.c.as_input().empty() || read.k() == 0 || all_on_device(read)) return nullptr;
  return std::make_unique<BroughtProduct>(read, device_);
}

}  // namespace ozbound::gpu
