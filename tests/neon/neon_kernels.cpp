// SPDX-License-Identifier: BSD-3-Clause
// The NEON kernel and the portable one give the same integers and the same C. Exits with 1 at the first difference.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"

namespace {

using namespace ozbound;

std::mt19937_64 generator{1};

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s\n", what);
  std::exit(1);
}

void compare_products(const Kernel& kernel, Index rows, Index columns, Index steps, bool full) {
  std::vector<std::int8_t> a(static_cast<std::size_t>(rows * steps * 4) + Kernel::panel_slack, 77);
  std::vector<std::int8_t> b(static_cast<std::size_t>(columns * steps * 4) + Kernel::panel_slack, 77);
  for (auto& digit : a) digit = full ? std::int8_t{-128} : static_cast<std::int8_t>(generator());
  for (auto& digit : b) digit = full ? std::int8_t{127} : static_cast<std::int8_t>(generator());
  std::vector<std::int32_t> products(static_cast<std::size_t>(kernel.rows() * kernel.columns()));
  const KernelScope scope(kernel);
  kernel.multiply(a.data(), rows, b.data(), columns, 4 * steps, products.data());
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) {
      std::uint32_t sum = 0;
      for (Index l = 0; l < 4 * steps; ++l)
        sum += static_cast<std::uint32_t>(a[static_cast<std::size_t>((l / 4 * rows + i) * 4 + l % 4)] *
                                          b[static_cast<std::size_t>((l / 4 * columns + j) * 4 + l % 4)]);
      require(static_cast<std::uint32_t>(products[static_cast<std::size_t>(i * kernel.columns() + j)]) == sum,
              "a product differs");
    }
}

template <class T>
void compare_gemm(const Kernel& kernel, const char* text, Index m, Index n, Index k) {
  std::normal_distribution<double> normal;
  Matrix<double> a(m, k), b(k, n);
  for (Index i = 0; i < m * k; ++i) a.data()[i] = std::ldexp(normal(generator), static_cast<int>(generator() % 60) - 30);
  for (Index i = 0; i < k * n; ++i) b.data()[i] = normal(generator);
  Matrix<T> c(m, n), expected(m, n);
  multiply_unproven({a, b, c, -2.0}, parse_plan(text), CpuEngine({.threads = 2, .kernel = &kernel}));
  multiply_unproven({a, b, expected, -2.0}, parse_plan(text), CpuEngine({.threads = 1, .kernel = kernels().back()}));
  require(std::memcmp(c.data(), expected.data(), sizeof(T) * static_cast<std::size_t>(m * n)) == 0, text);
}

}  // namespace

int main() {
  const auto& kernel = find_kernel("neon_dotprod");
  require(kernels().front() == &kernel, "the NEON kernel is not the first choice");
  for (Index rows = 1; rows <= kernel.rows(); ++rows)
    for (Index columns = 1; columns <= kernel.columns(); ++columns)
      for (const Index steps : {0, 1, 65}) compare_products(kernel, rows, columns, steps, false);
  for (const Index steps : {33026 / 4, 131072 / 4 - 1, 131072 / 4, 2 * 131072 / 4})
    compare_products(kernel, kernel.rows(), kernel.columns(), steps, true);
  for (const char* plan : {"balanced:7x7:cut=8:exact", "balanced:3x9:full:exact", "truncated7:8x8:cut=9:per_product",
                           "nearest7:5x6:cut=7:per_diagonal", "unsigned8:7x7:cut=8:exact"}) {
    compare_gemm<double>(kernel, plan, 19, 37, 53);
    compare_gemm<float>(kernel, plan, 8, 12, 1100);
  }
}
