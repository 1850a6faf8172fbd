// SPDX-License-Identifier: BSD-3-Clause
#include "bare_kernel.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

namespace ozbound::bench {
namespace {

constexpr Index chunk = 16;  // panels of A that one thread multiplies with a panel of B

}  // namespace

BareKernel::Panels::Panels(Index all_vectors, const PanelLayout& layout, Index inner, std::uint64_t seed)
    : vectors(all_vectors), width(layout.vectors), length(layout.filled_up(inner)) {
  digits.resize(static_cast<std::size_t>(vectors * length) + Kernel::panel_slack);
  std::mt19937_64 random(seed);
  for (auto& digit : digits) digit = static_cast<std::int8_t>(random() & 0xff);
}

BareKernel::BareKernel(const std::string& kernel, const Shape& shape)
    : kernel_(find_kernel(kernel)),
      a_(shape.m, kernel_.layout(Side::rows_of_a), shape.k, 1),
      b_(shape.n, kernel_.layout(Side::columns_of_b), shape.k, 2) {}

void BareKernel::multiply(int threads) const {
#pragma omp parallel num_threads(threads)
  {
    const KernelScope scope(kernel_);
    std::vector<std::int32_t> products(static_cast<std::size_t>(kernel_.rows() * kernel_.columns()));
#pragma omp for collapse(2) schedule(static)
    for (Index j = 0; j < b_.count(); ++j)
      for (Index first = 0; first < a_.count(); first += chunk)
        for (Index i = first; i < std::min(first + chunk, a_.count()); ++i) {
          kernel_.multiply(a_.panel(i), a_.in_panel(i), b_.panel(j), b_.in_panel(j), a_.length, products.data());
          benchmark::DoNotOptimize(products.data());
          benchmark::ClobberMemory();
        }
  }
}

}  // namespace ozbound::bench
