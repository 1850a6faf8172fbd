// SPDX-License-Identifier: BSD-3-Clause
// cublasDgemm as a native DGEMM: exact if sums are, otherwise within the bound of conventional summation, with matrices in host
// or device memory, and without cuBLAS's emulation even if the environment requests it.
//
// Usage: native. Exits with 0 if all is well, 1 if not, 77 without a device or without cuBLAS.

#include <omp.h>

#include <cstdlib>

#include "mirror/device_stored.hpp"
#include "mirror/products.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/gpu/cublas_gemm.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

#ifdef OZBOUND_HAVE_CUBLAS
#include <cublas_v2.h>
#endif

namespace ozbound::mirror {
namespace {

/// A matrix of any storage whose elements come from `value()`.
template <class Value>
StoredMatrix filled(Index rows, Index cols, RandomBits& random, const Value& value) {
  StoredMatrix matrix(rows, cols, case_sampling::sample_storage(false, random));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix.set(i, j, value());
  return matrix;
}

/// The matrices of a product. Each bit of `placement` puts one of them in device memory.
struct Placed {
  StoredMatrix a, b, c0, c;
  DeviceStored device_a, device_b, device_c0, device_c;
  unsigned placement;

  Placed(StoredMatrix of_a, StoredMatrix of_b, StoredMatrix of_c0, StoredMatrix of_c, unsigned where)
      : a(std::move(of_a)),
        b(std::move(of_b)),
        c0(std::move(of_c0)),
        c(std::move(of_c)),
        device_a(a, cudaStreamPerThread),
        device_b(b, cudaStreamPerThread),
        device_c0(c0, cudaStreamPerThread),
        device_c(c, cudaStreamPerThread),
        placement(where) {}

  [[nodiscard]] RealProduct call(double alpha, double beta) {
    return {(placement & 1) != 0 ? device_a.input(a) : a.input(),
            (placement & 2) != 0 ? device_b.input(b) : b.input(),
            (placement & 8) != 0 ? device_c.view(c) : c.output(),
            alpha,
            beta,
            (placement & 4) != 0 ? device_c0.input(c0) : c0.input()};
  }
  [[nodiscard]] RealProduct on_host(OutputView into, double alpha, double beta) {
    return {a.input(), b.input(), into, alpha, beta, c0.input()};
  }
  const StoredMatrix& result() {
    if ((placement & 8) != 0) device_c.copy_to(c, cudaStreamPerThread);
    return c;
  }
};

/// Compares products of integers whose sums binary64 holds: every order of summation gives the exact result.
bool compare_integers(const NativeGemm& native) {
  Section section("exact where sums are");
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomBits random(seed);
    const auto shape = case_sampling::sample_shape(100, random);
    const auto integer = [&] { return static_cast<double>(random.between(-1000, 1000)); };
    const double alpha = random.between(-3, 3), beta = random.between(-2, 2);
    Placed placed(filled(shape.m, shape.k, random, integer), filled(shape.k, shape.n, random, integer),
                  filled(shape.m, shape.n, random, integer), filled(shape.m, shape.n, random, integer),
                  static_cast<unsigned>(seed % 16));
    Matrix<double> expected(shape.m, shape.n);
    multiply_exactly(placed.on_host(expected, alpha, beta), 1);
    native.dgemm(placed.call(alpha, beta));
    const auto& c = placed.result();
    bool equal = c.intact();
    for (Index i = 0; i < shape.m; ++i)
      for (Index j = 0; j < shape.n; ++j) equal = equal && c.value(i, j) == expected(i, j);
    section.expect(equal, [&] {
      return std::to_string(shape.m) + " x " + std::to_string(shape.n) + " x " + std::to_string(shape.k) + ", seed " +
             std::to_string(seed);
    });
  }
  return section.report();
}

/// Rows of A begin with a large number that is multiplied by 0. Slices of a fixed number of bits that cover the large numbers
/// miss the small ones.
struct WideProduct {
  Index n;
  Matrix<double> a, b, c, exact;

  explicit WideProduct(Index size) : n(size), a(n, n), b(n, n), c(n, n), exact(n, n) {
    RandomBits random(1);
    const auto fraction = [&] { return 1 + random.between(0, 1 << 30) * 0x1p-31; };
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        a(i, j) = j == 0 ? 0x1p100 : fraction();
        b(i, j) = i == 0 ? 0 : fraction();
      }
    multiply_exactly({a, b, exact}, omp_get_max_threads());
  }

  /// True if |C^ - RN(C)| <= k u M + u M. M is C, as nothing is negative; n + 2 leaves room for the rounding of M.
  [[nodiscard]] bool sums_conventionally() const {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if (!(std::abs(c(i, j) - exact(i, j)) <= static_cast<double>(n + 2) * 0x1p-53 * exact(i, j))) return false;
    return true;
  }
};

bool compare_wide(const NativeGemm& native) {
  Section section("the bound of conventional sums");
  for (const Index n : {32, 256, 512}) {
    WideProduct product(n);
    native.dgemm({product.a, product.b, product.c});
    section.expect(product.sums_conventionally(), [&] { return std::to_string(n) + " x " + std::to_string(n); });
  }
  return section.report();
}

#ifdef OZBOUND_HAVE_CUBLAS
/// Prints the environment's effect on a default handle, for the reader only; the test must not depend on it.
void show_default_handle() {
  WideProduct product(512);
  cublasHandle_t handle{};
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
  const Index count = product.n * product.n;
  gpu::DeviceArray<double> a(count, nullptr), b(count, nullptr), c(count, nullptr);
  const auto bytes = static_cast<std::size_t>(count) * sizeof(double);
  gpu::check(cudaMemcpy(a.data(), product.a.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  gpu::check(cudaMemcpy(b.data(), product.b.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  const double one = 1, zero = 0;
  const auto n = product.n;
  cublasDgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b.data(), n, a.data(), n, &zero, c.data(), n);
  gpu::check(cudaMemcpy(product.c.data(), c.data(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  cublasDestroy(handle);
  std::printf("a handle as cuBLAS makes it %s here\n", product.sums_conventionally() ? "sums conventionally" : "EMULATES");
}
#else
void show_default_handle() {}
#endif

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  for (const auto& [name, value] : {std::pair("CUBLAS_EMULATE_DOUBLE_PRECISION", "1"),
                                    {"CUBLAS_EMULATION_STRATEGY", "eager"},
                                    {"CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT", "55"}})
    setenv(name, value, 1);  // before cuBLAS reads them
  if (gpu::device_count() == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  const auto native = gpu::make_cublas_gemm();
  if (native == nullptr) {
    std::printf("SKIPPED: built without cuBLAS\n");
    return 77;
  }
  std::printf("%s\n", native->name().c_str());
  mirror::show_default_handle();
  bool good = mirror::compare_integers(*native);
  good = mirror::compare_wide(*native) && good;
  std::printf(good ? "native DGEMM sums conventionally\n" : "native DGEMM is WRONG\n");
  return good ? 0 : 1;
}
