// SPDX-License-Identifier: BSD-3-Clause
#include "cublas.hpp"

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

#define OZB_TEXT_OF(x) #x
#define OZB_TEXT(x) OZB_TEXT_OF(x)

namespace ozbound::bench {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

#if CUBLAS_VERSION >= 130100
constexpr bool has_emulation = true;

void emulate(cublasHandle_t handle) {
  constexpr int mantissa_bits = 55;
  check(cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER), "cublasSetEmulationStrategy");
  check(cublasSetFixedPointEmulationMantissaControl(handle, CUDA_EMULATION_MANTISSA_CONTROL_FIXED),
        "cublasSetFixedPointEmulationMantissaControl");
  check(cublasSetFixedPointEmulationMaxMantissaBitCount(handle, mantissa_bits),
        "cublasSetFixedPointEmulationMaxMantissaBitCount");
  check(cublasSetMathMode(handle, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH), "cublasSetMathMode");
}
#else
constexpr bool has_emulation = false;

void emulate(cublasHandle_t) { throw std::runtime_error("this cuBLAS has no emulation"); }
#endif

}  // namespace

Cublas::Cublas(Way way) {
  check(cublasCreate(&handle_), "cublasCreate");
  if (way == Way::emulated) emulate(handle_);
}

Cublas::~Cublas() { cublasDestroy(handle_); }

bool Cublas::can_emulate() { return has_emulation; }

void Cublas::operator()(const double* a, const double* b, double* c, Index m, Index n, Index k, cudaStream_t stream) const {
  const double one = 1, zero = 0;
  check(cublasSetStream(handle_, stream), "cublasSetStream");
  check(cublasDgemm_64(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, m, b, k, &zero, c, m), "cublasDgemm_64");
}

void Cublas::batch(const double* a, const double* b, double* c, Index n, Index count, cudaStream_t stream) const {
  const double one = 1, zero = 0;
  check(cublasSetStream(handle_, stream), "cublasSetStream");
  check(cublasDgemmStridedBatched_64(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, n * n, b, n, n * n, &zero, c, n,
                                     n * n, count),
        "cublasDgemmStridedBatched_64");
}

const char* cublas_version() {
  return "cuBLAS " OZB_TEXT(CUBLAS_VER_MAJOR) "." OZB_TEXT(CUBLAS_VER_MINOR) "." OZB_TEXT(CUBLAS_VER_PATCH);
}

}  // namespace ozbound::bench
