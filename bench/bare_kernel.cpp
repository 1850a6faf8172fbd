// SPDX-License-Identifier: BSD-3-Clause
#include "bare_kernel.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

namespace ozbound::bench {
namespace {

Index steps_of(Index k) { return (k + Kernel::step_digits - 1) / Kernel::step_digits; }

constexpr Index chunk = 16;  // panels of A that one thread multiplies with a panel of B

}  // namespace

template <class Digit>
BareKernel::Panels<Digit>::Panels(Index all_vectors, Index panel_width, Index inner_steps, std::uint64_t seed)
    : vectors(all_vectors), width(panel_width), steps(inner_steps) {
  digits.resize(static_cast<std::size_t>(vectors * steps * Kernel::step_digits) + Kernel::panel_slack);
  std::mt19937_64 random(seed);
  for (auto& digit : digits) digit = static_cast<Digit>(random() & 0xff);
}

BareKernel::BareKernel(const std::string& kernel, const Shape& shape)
    : kernel_(find_kernel(kernel)),
      a_(shape.m, kernel_.rows(), steps_of(shape.k), 1),
      b_(shape.n, kernel_.columns(), steps_of(shape.k), 2) {}

void BareKernel::multiply(int threads) const {
#pragma omp parallel num_threads(threads)
  {
    std::vector<std::int32_t> products(static_cast<std::size_t>(kernel_.rows() * kernel_.columns()));
#pragma omp for collapse(2) schedule(static)
    for (Index j = 0; j < b_.count(); ++j)
      for (Index first = 0; first < a_.count(); first += chunk)
        for (Index i = first; i < std::min(first + chunk, a_.count()); ++i) {
          kernel_.multiply(a_.panel(i), a_.in_panel(i), b_.panel(j), b_.in_panel(j), a_.steps, products.data());
          benchmark::DoNotOptimize(products.data());
          benchmark::ClobberMemory();
        }
  }
}

}  // namespace ozbound::bench
