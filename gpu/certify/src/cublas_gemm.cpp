// SPDX-License-Identifier: BSD-3-Clause
#include <cublas_v2.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "copying.hpp"
#include "cuda_device.hpp"
#include "native_launcher.hpp"
#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/gpu/cublas_gemm.hpp"
#include "ozbound/gpu/cuda_error.hpp"
#include "transfer.hpp"

namespace ozbound::gpu {
namespace {

using gpu::check;

void check(cublasStatus_t status, const char* product) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw_error(product, cublasGetStatusString(status), status == CUBLAS_STATUS_ALLOC_FAILED);
}

int library_property(libraryPropertyType which) {
  int value = 0;
  check(cublasGetProperty(which, &value), "cublasGetProperty");
  return value;
}

/// True if a product in the default math mode might be emulated.
bool might_emulate() {
  constexpr int last_known = 13;  // no major version up to this one emulates unless asked
  const char* const asked = std::getenv("CUBLAS_EMULATE_DOUBLE_PRECISION");  // NOLINT(concurrency-mt-unsafe): only read
  return (asked != nullptr && std::string_view(asked) != "0") || library_property(MAJOR_VERSION) > last_known;
}

struct Shape {
  Index rows, columns;
};

/// True if a matrix is column-major, as cuBLAS requires.
bool by_column(const DeviceMatrix& x, Shape shape) {
  return (x.row_stride == 1 || shape.rows <= 1) && (x.col_stride >= std::max<Index>(shape.rows, 1) || shape.columns <= 1);
}

bool by_row(const DeviceMatrix& x, Shape shape) {
  return by_column({x.data, x.col_stride, x.row_stride, x.is_double}, {shape.columns, shape.rows});
}

/// A matrix on the device in a form that cuBLAS accepts: column-major, or the transpose of a column-major matrix.
class CublasMatrix {
 public:
  /// A or B. Copied without gaps if it has neither form.
  CublasMatrix(const InputView& view, const char* name, cudaStream_t stream)
      : shape_{view.rows(), view.cols()}, operand_(view, name, stream), matrix_(operand_.matrix()) {
    if (by_column(matrix_, shape_) || by_row(matrix_, shape_)) return;
    own_ = DeviceArray<double>(shape_.rows * shape_.columns, stream);
    matrix_ = {own_.data(), 1, shape_.rows};
    launch_copying(operand_.matrix(), matrix_, shape_.rows, shape_.columns, stream);
  }

  [[nodiscard]] const double* data() const { return static_cast<const double*>(matrix_.data); }
  [[nodiscard]] cublasOperation_t op(bool of_transpose) const {
    return by_column(matrix_, shape_) == of_transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
  }
  [[nodiscard]] Index ld() const {
    return by_column(matrix_, shape_) ? std::max<Index>({matrix_.col_stride, shape_.rows, 1})
                                      : std::max<Index>({matrix_.row_stride, shape_.columns, 1});
  }

 private:
  Shape shape_;
  DeviceOperand operand_;
  DeviceMatrix matrix_;
  DeviceArray<double> own_;
};

/// The memory where cuBLAS writes C, with C0 in it: C itself if C is on the device in a form that cuBLAS accepts.
class CublasResult {
 public:
  CublasResult(const RealProduct& product, cudaStream_t stream)
      : c_(product.c), shape_{product.m(), product.n()}, on_device_(on_device(product.c.as_input(), "c")) {
    if (on_device_) matrix_ = matrix_of(product.c.as_input());
    in_place_ = on_device_ && (by_column(matrix_, shape_) || by_row(matrix_, shape_));
    if (!in_place_) copy_ = DeviceCopy::unset(product.c.as_input(), stream), matrix_ = copy_.matrix();
    if (is_zero(product.beta) || (in_place_ && same_elements(product.c0, product.c))) return;
    const DeviceOperand c0(product.c0, "c0", stream);
    launch_copying(c0.matrix(), matrix_, shape_.rows, shape_.columns, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  [[nodiscard]] double* data() const { return static_cast<double*>(matrix_.data); }
  [[nodiscard]] bool is_by_column() const { return by_column(matrix_, shape_); }
  [[nodiscard]] Index ld() const {
    return is_by_column() ? std::max(matrix_.col_stride, shape_.rows) : std::max(matrix_.row_stride, shape_.columns);
  }

  void write(cudaStream_t stream) const {
    if (in_place_) return;
    if (on_device_)
      launch_copying(matrix_, matrix_of(c_.as_input()), shape_.rows, shape_.columns, stream);
    else
      copy_.write_to(c_, stream);
  }

 private:
  OutputView c_;
  Shape shape_;
  bool on_device_;
  bool in_place_ = false;
  DeviceCopy copy_;
  DeviceMatrix matrix_;
};

/// A handle for one thread at a time.
class CublasHandle {
 public:
  explicit CublasHandle(int device) {
    if (device < 0) throw std::invalid_argument("device must not be negative: " + std::to_string(device));
    const CudaDevice current(device);
    check(cublasCreate(&handle_), "cublasCreate");
  }
  ~CublasHandle() { cublasDestroy(handle_); }
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;

  /// Launches products on a stream from now on, in memory of the handle's own.
  void use(cudaStream_t stream) const {
    check(cublasSetStream(handle_, stream), "cublasSetStream");
    check(cublasSetMathMode(handle_, might_emulate() ? CUBLAS_PEDANTIC_MATH : CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
  }
  /// Launches products in this memory, until `use` is called.
  void use(void* workspace, std::size_t bytes) const {
    check(cublasSetWorkspace(handle_, workspace, bytes), "cublasSetWorkspace");
  }

  /// A row-major C is the column-major transpose(B) transpose(A).
  void launch(const RealProduct& product, const CublasMatrix& a, const CublasMatrix& b, const CublasResult& c) const {
    const bool transposed = !c.is_by_column();
    const auto data = [&c](const CublasMatrix& x) { return x.data() == nullptr ? c.data() : x.data(); };  // k = 0
    const auto& left = transposed ? b : a;
    const auto& right = transposed ? a : b;
    const Index rows = transposed ? product.n() : product.m(), columns = transposed ? product.m() : product.n();
    check(cublasDgemm_64(handle_, left.op(transposed), right.op(transposed), rows, columns, product.k(), &product.alpha,
                         data(left), left.ld(), data(right), right.ld(), &product.beta, c.data(), c.ld()),
          "cublasDgemm_64");
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

class CublasGemm final : public NativeGemm {
 public:
  explicit CublasGemm(int device) : device_(device), handle_(device) {}

  [[nodiscard]] std::string name() const override { return cublas_name(); }

  void dgemm(const RealProduct& product) const override {
    if (product.m() == 0 || product.n() == 0) return;
    const CudaDevice current(device_);
    const auto stream = cudaStreamPerThread;
    const CublasMatrix a(product.a, "a", stream), b(product.b, "b", stream);
    const CublasResult c(product, stream);
    {
      const std::scoped_lock lock(mutex_);
      handle_.use(stream);
      handle_.launch(product, a, b, c);
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // the handle's workspace is free again
    }
    c.write(stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

 private:
  int device_;
  mutable std::mutex mutex_;  ///< guards the handle
  CublasHandle handle_;
};

class CublasLauncher final : public NativeLauncher {
 public:
  explicit CublasLauncher(int device) : handle_(device) {}

  [[nodiscard]] bool takes(const RealProduct& product) const override {
    const auto has_form = [](const InputView& x) {
      const Shape shape{x.rows(), x.cols()};
      return x.is_double() && (by_column(matrix_of(x), shape) || by_row(matrix_of(x), shape));
    };
    return has_form(product.a) && has_form(product.b) && has_form(product.c.as_input());
  }

  void launch(const RealProduct& product, void* workspace, cudaStream_t stream) const override {
    const std::scoped_lock lock(mutex_);
    const CublasMatrix a(product.a, "a", stream), b(product.b, "b", stream);
    const CublasResult c(product, stream);
    handle_.use(stream);
    handle_.use(workspace, workspace_bytes);
    handle_.launch(product, a, b, c);
  }

 private:
  mutable std::mutex mutex_;  ///< guards the handle
  CublasHandle handle_;
};

}  // namespace

bool have_cublas() { return true; }

std::string cublas_name() {
  const auto part = [](libraryPropertyType which) { return std::to_string(library_property(which)); };
  return "cublas " + part(MAJOR_VERSION) + "." + part(MINOR_VERSION) + "." + part(PATCH_LEVEL);
}

std::unique_ptr<NativeGemm> make_cublas_gemm(int device) { return std::make_unique<CublasGemm>(device); }

std::unique_ptr<NativeLauncher> make_cublas_launcher(int device) { return std::make_unique<CublasLauncher>(device); }

}  // namespace ozbound::gpu
