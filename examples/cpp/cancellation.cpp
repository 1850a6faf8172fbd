// SPDX-License-Identifier: BSD-3-Clause
// A product whose terms cancel, A = (X Y -X) times B = (Z; W; Z), which is Y W. For each target it shows the chosen way, the
// error of C compared with the correctly rounded product, and the proven bound.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <ozbound/ozbound.hpp>

int main() {
  using namespace ozbound;
  constexpr Index n = 100;
  Matrix<double> a(n, 3 * n), b(3 * n, n);
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < n; ++l) {
      a(i, l) = 1e6 / static_cast<double>(i + l + 1), a(i, n + l) = 1.0 / static_cast<double>(i + 2 * l + 3);
      b(l, i) = 1.0 / static_cast<double>(i + 3 * l + 2), b(n + l, i) = 1.0 / static_cast<double>(i + 5 * l + 7);
      a(i, 2 * n + l) = -a(i, l), b(2 * n + l, i) = b(l, i);
    }

  // Counts integer products, so that every machine prints the same. The default compares predicted seconds, including native
  // DGEMM.
  const ProductCount products;
  const Choices choices{.native = false, .costs = &products};
  const auto machine = Machine::cpu();
  const auto rounded = multiply(a, b, Target::correctly_rounded(), machine, choices);
  for (const char* target : {"normwise:1e-6", "componentwise:1e-12", "dgemm", "cr"}) {
    const auto [c, decision, certificate] = multiply(a, b, parse_target(target), machine, choices);
    double error = 0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) error = std::max(error, std::abs(c(i, j) - rounded.c(i, j)));
    std::cout << target << ", by " << (decision.plan ? to_string(*decision.plan) : to_string(decision.method)) << ": error "
              << error << (certificate.holds ? ", proven at most " : ", not proven: ") << certificate.largest_bound << '\n';
  }
}
