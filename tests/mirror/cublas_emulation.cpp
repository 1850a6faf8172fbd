// SPDX-License-Identifier: BSD-3-Clause
// cuBLAS's FP64 emulation against the model of it, number by number: the conformance vectors of cublas.json, the problem
// families with 8 to 64 mantissa bits, inner dimensions and diagonals that are cut, C of one tile and of several.
//
// Usage: cublas_emulation. Exits with 0 if all is well, 1 if not, 77 without a device or with a cuBLAS whose rule was not
// probed.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mirror/runner.hpp"
#include "ozbound/verify/literature/models/cublas_emulation.hpp"
#include "vectors/cublas_cases.hpp"
#include "vectors/cublas_reference.hpp"

namespace ozbound::mirror {
namespace {

using models::CublasEmulation;
using models::CublasProduct;

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
}
void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

int library_property(libraryPropertyType which) {
  int value = 0;
  check(cublasGetProperty(which, &value), "cublasGetProperty");
  return value;
}

/// A row-major matrix on the device.
class DeviceCopy {
 public:
  explicit DeviceCopy(const Matrix<double>& x) : bytes_(static_cast<std::size_t>(x.rows() * x.cols()) * sizeof(double)) {
    check(cudaMalloc(&data_, std::max<std::size_t>(bytes_, 1)), "cudaMalloc");
    check(cudaMemcpy(data_, x.data(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceCopy() { cudaFree(data_); }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  [[nodiscard]] double* data() const { return static_cast<double*>(data_); }
  void copy_to(Matrix<double>& x) const { check(cudaMemcpy(x.data(), data_, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy"); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

/// cuBLAS with its emulation switched on, whatever the environment says.
class Emulation {
 public:
  Emulation() {
    check(cublasCreate(&handle_), "cublasCreate");
    check(cublasSetMathMode(handle_, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH), "cublasSetMathMode");
    check(cublasSetEmulationStrategy(handle_, CUBLAS_EMULATION_STRATEGY_EAGER), "cublasSetEmulationStrategy");
    check(cublasSetFixedPointEmulationMantissaControl(handle_, CUDA_EMULATION_MANTISSA_CONTROL_FIXED),
          "cublasSetFixedPointEmulationMantissaControl");
  }
  ~Emulation() { cublasDestroy(handle_); }
  Emulation(const Emulation&) = delete;
  Emulation& operator=(const Emulation&) = delete;

  /// C in row-major storage, as the column-major transpose(B) transpose(A).
  [[nodiscard]] Matrix<double> multiply(int bits, const Operands& operands, const Matrix<double>& a, const Matrix<double>& b,
                                        const Matrix<double>& c0) const {
    Matrix<double> c(a.rows(), b.cols());
    if (operands.beta != 0) c = c0;
    const DeviceCopy device_a(a), device_b(b), device_c(c);
    check(cublasSetFixedPointEmulationMaxMantissaBitCount(handle_, bits), "cublasSetFixedPointEmulationMaxMantissaBitCount");
    const auto m = c.rows(), n = c.cols(), k = a.cols();
    check(cublasDgemm_64(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &operands.alpha, device_b.data(), n, device_a.data(), k,
                         &operands.beta, device_c.data(), n),
          "cublasDgemm_64");
    device_c.copy_to(c);
    return c;
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

bool same(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

std::string hex(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

/// Rows (below: columns) that are `step` apart.
Matrix<double> rows_of(const Matrix<double>& x, Index step) {
  Matrix<double> some((x.rows() + step - 1) / step, x.cols());
  for (Index i = 0; i < some.rows(); ++i)
    for (Index l = 0; l < x.cols(); ++l) some(i, l) = x(i * step, l);
  return some;
}
Matrix<double> columns_of(const Matrix<double>& x, Index step) {
  Matrix<double> some(x.rows(), (x.cols() + step - 1) / step);
  for (Index l = 0; l < x.rows(); ++l)
    for (Index j = 0; j < some.cols(); ++j) some(l, j) = x(l, j * step);
  return some;
}

/// Compares every entry of C, or at most the given number of rows and columns.
void compare(const Emulation& emulation, int bits, const vectors::Case& c, const std::string& origin, Section& section,
             Index most = 1 << 30) {
  const auto actual = emulation.multiply(bits, c.operands(), c.a, c.b, c.c0);
  const Index m = actual.rows(), n = actual.cols();
  const Index row_step = std::max<Index>(1, m / most), column_step = std::max<Index>(1, n / most);
  auto some = c;
  some.a = rows_of(c.a, row_step), some.b = columns_of(c.b, column_step);
  if (c.reads_c0()) some.c0 = columns_of(rows_of(c.c0, row_step), column_step);
  const auto pieces = static_cast<int>(models::cublas_pieces(m, n, c.a.cols()).size());
  const CublasProduct expected({.mantissa_bits = bits, .pieces = pieces}, some.operands());
  for (Index i = 0; i < expected.rows(); ++i)
    for (Index j = 0; j < expected.cols(); ++j) {
      const double x = expected.entry(i, j), y = actual(i * row_step, j * column_step);
      section.expect(same(x, y), [&] {
        return hex(x) + " expected, " + hex(y) + " at (" + std::to_string(i * row_step) + ", " +
               std::to_string(j * column_step) + "), " + std::to_string(bits) + " bits, " + origin;
      });
    }
}

vectors::Case problem_case(const Recipe& recipe) {
  auto problem = generate(recipe);
  return {.name = generate_command(recipe), .why = {}, .a = std::move(problem.a), .b = std::move(problem.b), .plan = {}};
}

bool compare_vectors(const Emulation& emulation) {
  Section section("conformance vectors");
  for (const auto& c : vectors::cublas_cases()) compare(emulation, test::cublas_bits(c.plan), c, c.name, section);
  for (const auto& c : vectors::cublas_family_cases())
    compare(emulation, test::cublas_bits(c.plan), problem_case(c.recipe), generate_command(c.recipe), section);
  return section.report();
}

bool compare_families(const Emulation& emulation) {
  Section section("families, 8 to 64 bits");
  for (const auto family : all_families())
    for (int bits = 8; bits <= 64; ++bits) {
      const Recipe recipe{family, 17, 33, 1 + (bits * 37) % 300, 0.5, static_cast<std::uint64_t>(bits)};
      compare(emulation, bits, problem_case(recipe), generate_command(recipe), section);
    }
  return section.report();
}

/// Compares C of one tile and of several, in squares, rows and columns of tiles.
bool compare_pieces(const Emulation& emulation) {
  Section section("inner dimensions that are cut");
  const std::pair<Index, Index> sizes[] = {{1, 1},     {5, 128},    {128, 128}, {256, 256}, {300, 290},   {512, 512},
                                           {256, 128}, {128, 256},  {128, 384}, {640, 64},  {64, 640},    {257, 129},
                                           {384, 256}, {1000, 100}, {768, 512}, {100, 900}, {128, 4096},  {2048, 128},
                                           {385, 600}, {1, 3000},   {2500, 3},  {896, 640}, {1024, 1024}, {2000, 2000}};
  for (const auto& [m, n] : sizes)
    for (const Index k : {300, 1000, 1023, 1024, 1025, 1500, 2048, 4096, 5000, 16383, 20000, 24576, 40000})
      for (const int bits : {15, 55}) {
        if (m * n * k > Index{1} << 32 || (m + n) * k > Index{1} << 25) continue;
        const Recipe recipe{Family::graded_inner, m, n, k, 0.5, static_cast<std::uint64_t>(k + bits)};
        auto c = problem_case(recipe);
        compare(emulation, bits, c, generate_command(recipe), section, 6);
        if (k != 4096) continue;
        c.alpha = 0.1, c.beta = -0.7, c.c0 = Matrix<double>(m, n);
        for (Index t = 0; t < m * n; ++t) c.c0.data()[t] = static_cast<double>(t % 1009) / 7;
        compare(emulation, bits, c, generate_command(recipe) + ", alpha 0.1, beta -0.7", section, 6);
      }
  return section.report();
}

/// Compares pieces so long that a diagonal's pairs are summed in groups. Elements have one sign, so sums round.
bool compare_groups(const Emulation& emulation) {
  Section section("diagonals that are cut");
  for (const Index k : {4608, 4609, 5500, 8192, 8193, 10922, 11009, 16383, 20000})
    for (const int bits : {55, 64}) {
      const Recipe recipe{Family::uniform_positive, 1, 4096, k, 0, static_cast<std::uint64_t>(k + bits)};
      compare(emulation, bits, problem_case(recipe), generate_command(recipe), section, 64);
    }
  return section.report();
}

/// Compares inner dimensions up to k = 300000, which have many long pieces.
bool compare_long(const Emulation& emulation) {
  Section section("long inner dimensions");
  for (const Index k : {65536, 100000, 262144, 270000, 300000})
    for (const auto family : {Family::uniform, Family::graded_inner})
      for (const int bits : {15, 55, 64}) {
        const Recipe recipe{family, 64, 64, k, 0.5, 2};
        compare(emulation, bits, problem_case(recipe), generate_command(recipe), section, 6);
      }
  return section.report();
}

bool compare_all() {
  const Emulation emulation;
  bool good = compare_vectors(emulation);
  good = compare_families(emulation) && good;
  good = compare_pieces(emulation) && good;
  good = compare_groups(emulation) && good;
  return compare_long(emulation) && good;
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  if (gpu::device_count() == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  const int major = mirror::library_property(MAJOR_VERSION), minor = mirror::library_property(MINOR_VERSION);
  std::printf("cuBLAS %d.%d.%d\n", major, minor, mirror::library_property(PATCH_LEVEL));
  if (major != 13 || minor > 1) {
    std::printf("SKIPPED: the model is of cuBLAS 13.0 and 13.1, and says nothing of this one\n");
    return 77;
  }
  return mirror::holds([] { return mirror::compare_all(); }) ? 0 : 1;
}
