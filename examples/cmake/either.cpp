// SPDX-License-Identifier: BSD-3-Clause
// The content of a decision before any product is made: the way chosen for a target, in integer products.

#include <iostream>
#include <ozbound/machine.hpp>

int main() {
  using namespace ozbound;
  Matrix<double> a(40, 60), b(60, 50);
  for (Index l = 0; l < 60; ++l) {
    for (Index i = 0; i < 40; ++i) a(i, l) = 1.0 / static_cast<double>(i + l + 1);
    for (Index j = 0; j < 50; ++j) b(l, j) = 1.0 / static_cast<double>(l + j + 2);
  }
  const ProductCount products;  // makes the same choice on every machine; the default compares predicted seconds
  for (const char* target : {"componentwise:1e-4", "componentwise:1e-8", "dgemm"}) {
    const auto decision = decide(Product(a, b), parse_target(target), Machine::cpu(), {.native = false, .costs = &products});
    std::cout << target << ": " << to_string(*decision.plan) << '\n';
  }
}
