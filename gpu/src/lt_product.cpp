// SPDX-License-Identifier: BSD-3-Clause
#include "lt_product.hpp"

#ifdef OZBOUND_HAVE_CUBLASLT

#include <cublasLt.h>

#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda_check.hpp"
#include "cuda_device.hpp"
#include "device_array.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/gpu/cuda_error.hpp"

namespace ozbound::gpu {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) throw_error(call, cublasLtGetStatusName(status), status == CUBLAS_STATUS_ALLOC_FAILED);
}

/// Owns a handle of cuBLASLt.
template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* handle) const {
    Destroy(handle);
  }
};
template <class Handle, auto Destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<Destroy>>;
using OwnedLibrary = Owned<cublasLtHandle_t, cublasLtDestroy>;
using OwnedOperation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using OwnedLayout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using OwnedPreference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

OwnedLayout layout(cudaDataType_t type, Index rows, Index columns, Index pitch) {
  cublasLtMatrixLayout_t handle{};
  check(cublasLtMatrixLayoutCreate(&handle, type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), pitch),
        "cublasLtMatrixLayoutCreate");
  return OwnedLayout(handle);
}

/// A transposed times B: the only kind with fast algorithms.
struct Problem {
  OwnedOperation operation;
  OwnedLayout rows, columns, sums;

  explicit Problem(const LtProduct::Shape& shape) {
    const bool integers = shape.elements == LtProduct::Elements::int8;
    const auto type = integers ? CUDA_R_8I : CUDA_R_16BF, of_sums = integers ? CUDA_R_32I : CUDA_R_32F;
    rows = layout(type, shape.inner, shape.rows, shape.row_pitch);
    columns = layout(type, shape.inner, shape.columns, shape.column_pitch);
    sums = layout(of_sums, shape.rows, shape.columns, shape.rows);
    cublasLtMatmulDesc_t handle{};
    check(cublasLtMatmulDescCreate(&handle, integers ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F, of_sums),
          "cublasLtMatmulDescCreate");
    operation.reset(handle);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(cublasLtMatmulDescSetAttribute(handle, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
          "cublasLtMatmulDescSetAttribute");
  }
};

}  // namespace

struct LtProduct::Library {
  struct Chosen {
    Problem problem;
    cublasLtMatmulAlgo_t algorithm{};
  };

  int device;
  OwnedLibrary handle;
  std::mutex mutex;
  std::map<Shape, Chosen> known;

  explicit Library(int on) : device(on) {
    const CudaDevice current(device);
    cublasLtHandle_t created{};
    check(cublasLtCreate(&created), "cublasLtCreate");
    handle.reset(created);
  }

  /// `Sum` is the type of the sums and of the scalars.
  template <class Sum>
  cublasStatus_t multiply(const Problem& problem, const cublasLtMatmulAlgo_t& algorithm, const void* rows, const void* columns,
                          Sum* sums, void* workspace, cudaStream_t stream) const {
    const Sum one = 1, zero = 0;
    return cublasLtMatmul(handle.get(), problem.operation.get(), &one, rows, problem.rows.get(), columns, problem.columns.get(),
                          &zero, sums, problem.sums.get(), sums, problem.sums.get(), &algorithm, workspace,
                          LtProduct::workspace_bytes, stream);
  }

  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> candidates(const Problem& problem) const {
    cublasLtMatmulPreference_t created{};
    check(cublasLtMatmulPreferenceCreate(&created), "cublasLtMatmulPreferenceCreate");
    const OwnedPreference preference(created);
    const auto bytes = LtProduct::workspace_bytes;
    check(cublasLtMatmulPreferenceSetAttribute(created, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
          "cublasLtMatmulPreferenceSetAttribute");
    std::array<cublasLtMatmulHeuristicResult_t, 8> results{};
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle.get(), problem.operation.get(), problem.rows.get(), problem.columns.get(),
                                         problem.sums.get(), problem.sums.get(), created, static_cast<int>(results.size()),
                                         results.data(), &found),
          "cublasLtMatmulAlgoGetHeuristic");
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < found; ++i)
      if (results[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
        algorithms.push_back(results[static_cast<std::size_t>(i)].algo);
    if (algorithms.empty()) throw CudaError("cublasLtMatmulAlgoGetHeuristic", "no algorithm for this shape");
    return algorithms;
  }

  /// Milliseconds of some products; infinite if the algorithm does not run.
  template <class Multiply>
  [[nodiscard]] static float time(const Multiply& multiply, cudaStream_t stream) {
    cudaEvent_t start{}, end{};
    gpu::check(cudaEventCreate(&start), "cudaEventCreate");
    gpu::check(cudaEventCreate(&end), "cudaEventCreate");
    bool runs = multiply() == CUBLAS_STATUS_SUCCESS;  // loads the kernel
    gpu::check(cudaEventRecord(start, stream), "cudaEventRecord");
    for (int repetition = 0; repetition < 2; ++repetition) runs = multiply() == CUBLAS_STATUS_SUCCESS && runs;
    gpu::check(cudaEventRecord(end, stream), "cudaEventRecord");
    gpu::check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float milliseconds = 0;
    gpu::check(cudaEventElapsedTime(&milliseconds, start, end), "cudaEventElapsedTime");
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    return runs ? milliseconds : std::numeric_limits<float>::infinity();
  }

  template <class Element, class Sum>
  [[nodiscard]] cublasLtMatmulAlgo_t fastest(const Shape& shape, const Problem& problem) const {
    constexpr double worth_timing = 0x1p33;  // multiplications; smaller products take less time than the timing
    const auto algorithms = candidates(problem);
    const auto work = static_cast<double>(shape.rows) * static_cast<double>(shape.columns) * static_cast<double>(shape.inner);
    if (algorithms.size() == 1 || work < worth_timing) return algorithms.front();
    try {
      return fastest_of<Element, Sum>(algorithms, shape, problem);
    } catch (const OutOfMemory&) {  // no memory for the elements to time with
      return algorithms.front();
    }
  }

  template <class Element, class Sum>
  [[nodiscard]] cublasLtMatmulAlgo_t fastest_of(const std::vector<cublasLtMatmulAlgo_t>& algorithms, const Shape& shape,
                                                const Problem& problem) const {
    const auto stream = cudaStreamPerThread;
    const auto elements = [&](Index count, Index pitch) {
      DeviceArray<Element> memory(count * pitch, stream);
      gpu::check(cudaMemsetAsync(memory.data(), 0x2d, static_cast<std::size_t>(count * pitch) * sizeof(Element), stream),
                 "cudaMemsetAsync");
      return memory;
    };
    const auto rows = elements(shape.rows, shape.row_pitch), columns = elements(shape.columns, shape.column_pitch);
    const DeviceArray<Sum> sums(shape.rows * shape.columns, stream);
    const DeviceArray<std::uint8_t> memory(static_cast<Index>(LtProduct::workspace_bytes), stream);
    auto best = algorithms.front();
    auto least = std::numeric_limits<float>::infinity();
    for (const auto& algorithm : algorithms) {
      const auto taken =
          time([&] { return multiply(problem, algorithm, rows.data(), columns.data(), sums.data(), memory.data(), stream); },
               stream);
      if (taken < least) least = taken, best = algorithm;
    }
    return best;
  }

  template <class Sum>
  void launch(const Shape& shape, const void* rows, const void* columns, Sum* sums, void* workspace, cudaStream_t stream) {
    const auto* const chosen = [&] {
      const std::lock_guard lock(mutex);
      return &known.at(shape);  // entries of the map do not move
    }();
    check(multiply(chosen->problem, chosen->algorithm, rows, columns, sums, workspace, stream), "cublasLtMatmul");
  }
};

LtProduct::LtProduct(int device) : library_(std::make_unique<Library>(device)) {}
LtProduct::~LtProduct() = default;

bool LtProduct::applies(const Plan& plan) {
  const auto is_signed = [](const Slicing& slicing) {
    return slicing.encoding.kind != Encoding::Kind::unsigned8 || slicing.slices == 1;
  };
  return plan.visit([&](const SplitPlan& slices) { return is_signed(slices.a) && is_signed(slices.b); },
                    [](const ResiduePlan&) { return true; });
}

void LtProduct::tune(const Shape& shape) {
  const std::lock_guard lock(library_->mutex);
  if (library_->known.contains(shape)) return;
  const CudaDevice current(library_->device);
  Problem problem(shape);
  const auto algorithm = shape.elements == Elements::int8 ? library_->fastest<std::int8_t, std::int32_t>(shape, problem)
                                                          : library_->fastest<std::uint16_t, float>(shape, problem);
  library_->known.emplace(shape, Library::Chosen{std::move(problem), algorithm});
}

void LtProduct::launch(const Shape& shape, const std::int8_t* rows, const std::int8_t* columns, std::int32_t* sums,
                       void* workspace, cudaStream_t stream) {
  library_->launch(shape, rows, columns, sums, workspace, stream);
}

void LtProduct::launch(const Shape& shape, const std::uint16_t* rows, const std::uint16_t* columns, float* sums,
                       void* workspace, cudaStream_t stream) {
  library_->launch(shape, rows, columns, sums, workspace, stream);
}

bool LtProduct::multiplies_bfloat16() const {
  int major = 0;
  gpu::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, library_->device), "cudaDeviceGetAttribute");
  return major >= 8;
}

}  // namespace ozbound::gpu

#else

#include <stdexcept>

namespace ozbound::gpu {

struct LtProduct::Library {};

LtProduct::LtProduct(int) {}
LtProduct::~LtProduct() = default;
bool LtProduct::applies(const Plan&) { return false; }
bool LtProduct::multiplies_bfloat16() const { return false; }
void LtProduct::tune(const Shape&) { throw std::logic_error("built without cuBLASLt"); }
void LtProduct::launch(const Shape&, const std::int8_t*, const std::int8_t*, std::int32_t*, void*, cudaStream_t) {
  throw std::logic_error("built without cuBLASLt");
}
void LtProduct::launch(const Shape&, const std::uint16_t*, const std::uint16_t*, float*, void*, cudaStream_t) {
  throw std::logic_error("built without cuBLASLt");
}

}  // namespace ozbound::gpu

#endif
