// SPDX-License-Identifier: BSD-3-Clause
// One rotation of many clouds of points: a batch with stride 0 for A, which is sliced once. Every product has the same bits and
// certificate as in a call of its own.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <ozbound/batch.hpp>
#include <vector>

int main() {
  using namespace ozbound;
  constexpr Index clouds = 100, points = 50;
  const double h = std::sqrt(0.75);
  const double turn[] = {h, -0.5, 0, 0.5, h, 0, 0, 0, 1};  // 3 x 3, row-major, rotates by 30 degrees
  std::vector<double> from(clouds * 3 * points), to(from.size());
  for (std::size_t t = 0; t < from.size(); ++t) from[t] = 1.0 / static_cast<double>(t % 1009 + 1);

  const auto certificates =
      gemm_strided_batched(Layout::row_major, Op::none, Op::none, 3, points, 3, 1, turn, 3, 0, from.data(), points, 3 * points,
                           0, to.data(), points, 3 * points, clouds, Target::correctly_rounded());
  const auto proven = std::ranges::count_if(certificates, [](const auto& c) { return c.holds; });
  double bound = 0;
  for (const auto& c : certificates) bound = std::max(bound, c.largest_bound);
  std::cout << proven << " of " << clouds << " products are proven, every coordinate within " << bound << '\n';
}
