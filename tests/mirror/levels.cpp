// What the device finds out about operands for deciding and certifying, step by step, against the CPU: fingerprints, and the
// first level of the enclosure of |A||B|.
//
// Usage: levels. Exits with 0 if all agree, 1 if some do not, 77 without a device.

#include <cuda_runtime_api.h>

#include <cmath>

#include "device_fingerprint.hpp"
#include "level_one.hpp"
#include "mirror/problems.hpp"
#include "mirror/products.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/gpu/cuda_engine.hpp"
#include "transfer.hpp"

namespace ozbound::mirror {
namespace {

const cudaStream_t stream = cudaStreamPerThread;

void compare_fingerprint(const InputView& matrix, const std::string& origin, Section& section) {
  const gpu::DeviceCopy copy(matrix, stream);
  const gpu::DeviceArray<std::uint64_t> sum(1, stream);
  gpu::launch_fingerprint(copy.matrix(), matrix.rows(), matrix.cols(), sum.data(), stream);
  const auto actual = gpu::copy_to_host(sum.data(), 1, stream)[0], expected = fingerprint(matrix, 1);
  section.expect(actual == expected, [&] { return hex(expected) + ", " + hex(actual) + ", " + origin; });
}

/// floor(2^7 |x| / 2^e) of every element of every vector, by the definition; 0 where the vector is special.
Matrix<double> first_digits(const InputView& vectors, const std::vector<VectorScale>& scales) {
  Matrix<double> digits(vectors.rows(), vectors.cols());
  for (Index i = 0; i < vectors.rows(); ++i)
    for (Index l = 0; l < vectors.cols(); ++l) {
      const auto& scale = scales[static_cast<std::size_t>(i)];
      const double x = double_from_bits(vectors.bits(i, l));
      digits(i, l) = scale.special ? 0 : std::floor(std::ldexp(std::fabs(x), 7 - scale.exponent));
    }
  return digits;
}

double sum_of_row(const Matrix<double>& matrix, Index i) {
  double sum = 0;
  for (Index l = 0; l < matrix.cols(); ++l) sum += matrix(i, l);
  return sum;
}

double dot(const Matrix<double>& x, Index i, const Matrix<double>& y, Index j) {
  double sum = 0;
  for (Index l = 0; l < x.cols(); ++l) sum += x(i, l) * y(j, l);
  return sum;  // of integers far below 2^53
}

/// Level one on the device, its numbers copied to the host.
struct HostLevelOne {
  std::vector<std::int64_t> row_sums, column_sums;
  std::vector<std::int32_t> row_exponents, column_exponents;
  std::vector<std::uint8_t> row_special, column_special;
  Matrix<std::int64_t> sums;
  bool loose;

  HostLevelOne(const InputView& a, const InputView& b, gpu::Kernels& kernels) : sums(a.rows(), b.cols()) {
    const Index m = a.rows(), n = b.cols();
    const gpu::LevelOne level(m, n, a.cols(), kernels);
    level.prepare();
    const gpu::DeviceCopy copy_a(a, stream), copy_b(b, stream);
    gpu::Arena needed;
    level.launch(copy_a.matrix(), copy_b.matrix(), needed, stream);
    const gpu::DeviceArray<std::uint8_t> memory(static_cast<Index>(needed.used() + gpu::Arena::alignment), stream);
    gpu::check(cudaMemsetAsync(memory.data(), 0x5a, needed.used(), stream), "cudaMemsetAsync");
    auto arena = gpu::Arena::aligned(memory.data(), needed.used());
    const auto on_device = level.launch(copy_a.matrix(), copy_b.matrix(), arena, stream);
    row_sums = gpu::copy_to_host(on_device.row_sums, m, stream);
    column_sums = gpu::copy_to_host(on_device.column_sums, n, stream);
    row_exponents = gpu::copy_to_host(on_device.rows.exponents, m, stream);
    column_exponents = gpu::copy_to_host(on_device.columns.exponents, n, stream);
    row_special = gpu::copy_to_host(on_device.rows.special, m, stream);
    column_special = gpu::copy_to_host(on_device.columns.special, n, stream);
    loose = gpu::copy_to_host(on_device.loose, 1, stream)[0] != 0;
    if (m == 0 || n == 0) return;
    const Index extent = (m - 1) * on_device.row_stride + (n - 1) * on_device.col_stride + 1;
    if (on_device.narrow != nullptr)
      read(gpu::copy_to_host(on_device.narrow, extent, stream), on_device);
    else
      read(gpu::copy_to_host(on_device.wide, extent, stream), on_device);
  }

 private:
  template <class T>
  void read(const std::vector<T>& all, const gpu::LevelOneSums& from) {
    for (Index i = 0; i < sums.rows(); ++i)
      for (Index j = 0; j < sums.cols(); ++j)
        sums(i, j) = all[static_cast<std::size_t>(i * from.row_stride + j * from.col_stride)];
  }
};

void compare_level_one(const InputView& a, const InputView& b, const std::string& origin, gpu::Kernels& kernels,
                       Section& section) {
  const Encoding truncated{Encoding::Kind::truncated, 7};
  const auto rows = vector_scales(a, Side::rows_of_a, truncated, 1),
             columns = vector_scales(b, Side::columns_of_b, truncated, 1);
  const auto x = first_digits(a, rows), y = first_digits(b.transposed(), columns);
  const HostLevelOne actual(a, b, kernels);
  const auto vectors = [&](const auto& scales, const Matrix<double>& digits, const auto& sums, const auto& exponents,
                           const auto& special) {
    for (std::size_t i = 0; i < scales.size(); ++i)
      section.expect(exponents[i] == scales[i].exponent && (special[i] != 0) == scales[i].special &&
                         static_cast<double>(sums[i]) == sum_of_row(digits, static_cast<Index>(i)),
                     [&] { return "vector " + std::to_string(i) + ", " + origin; });
  };
  vectors(rows, x, actual.row_sums, actual.row_exponents, actual.row_special);
  vectors(columns, y, actual.column_sums, actual.column_exponents, actual.column_special);
  bool loose = false;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) {
      const double expected = dot(x, i, y, j), row = sum_of_row(x, i), column = sum_of_row(y, j);
      loose = loose || (row > 0 && column > 0 && expected < row + column + static_cast<double>(a.cols()));
      section.expect(static_cast<double>(actual.sums(i, j)) == expected,
                     [&] { return "sum (" + std::to_string(i) + ", " + std::to_string(j) + "), " + origin; });
    }
  section.expect(loose == actual.loose, [&] { return std::string(loose ? "not loose" : "loose") + ", " + origin; });
}

Matrix<double> uniform(Index rows, Index cols, std::uint64_t seed) {
  Matrix<double> matrix(rows, cols);
  RandomBits random(seed);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = test::sample_below<double>(0, 2, random);
  return matrix;
}

bool compare_all(gpu::Kernels& kernels) {
  Section fingerprints("fingerprints"), levels("level 1 of |A||B|");
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto product = sample_product(seed % 10 == 0 ? 300 : 60, seed);
    const auto origin = "seed " + std::to_string(seed);
    for (const auto* matrix : {&product.a, &product.b, &product.c0}) compare_fingerprint(matrix->input(), origin, fingerprints);
    compare_level_one(product.a.input(), product.b.input(), origin, kernels, levels);
  }
  for (const auto& inputs : family_inputs()) compare_level_one(inputs.a, inputs.b, inputs.origin, kernels, levels);
  const Matrix<double> large(1100, 900);
  compare_fingerprint(large, "zeros", fingerprints);
  for (const Index k : {133143, 133144, 300001}) {  // as long as 32 bits hold, and longer
    Matrix<double> a(5, k), b(k, 3);
    for (Index l = 0; l < k; ++l) {
      for (Index i = 0; i < 5; ++i) a(i, l) = i % 2 == 0 ? 0x1.fffp0 : -0x1.fep3;
      for (Index j = 0; j < 3; ++j) b(l, j) = 0x1.fep0;
    }
    compare_level_one(a, b, "k = " + std::to_string(k), kernels, levels);
  }
  compare_level_one(uniform(200, 700, 1), uniform(700, 300, 2), "uniform", kernels, levels);
  const bool good = fingerprints.report();
  return levels.report() && good;
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  if (gpu::device_count() == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  gpu::Kernels kernels(0);
  std::printf("%s\n", gpu::CudaEngine().device_name().c_str());
  const bool good = mirror::compare_all(kernels);
  std::printf(good ? "all agree in every bit\n" : "they DIFFER\n");
  return good ? 0 : 1;
}
