// SPDX-License-Identifier: BSD-3-Clause
#include "edge_cases.hpp"

#include <array>
#include <vector>

#include "ozbound/verify/problem.hpp"

namespace ozbound::grading {
namespace {

constexpr Index largest = 129;

std::vector<Index> sizes(bool quick) {
  if (quick) return {1, 2, 3, 5, 8, 17};
  std::vector<Index> all;
  for (Index size = 1; size <= 17; ++size) all.push_back(size);
  all.insert(all.end(), {31, 32, 33, 63, 64, 65, largest});
  return all;
}

}  // namespace

void each_edge_case(const GradeOptions& options, bool row_major_too,
                    const std::function<void(const Operands&, const Storage&)>& visit) {
  constexpr std::array<Index, 7> inner{1, 2, 3, 8, 17, 33, 4};
  constexpr std::array<Index, 5> paddings{1, 0, 3, 13, 97};
  const auto pool = generate({.family = Family::uniform, .m = largest, .n = largest, .k = largest, .seed = options.seed});
  std::size_t turn = 0;
  for (const auto m : sizes(options.quick))
    for (const auto n : sizes(options.quick))
      for (const bool row_major : {false, true})
        for (const bool transpose_a : {false, true})
          for (const bool transpose_b : {false, true}) {
            if (row_major && !row_major_too) continue;
            const Index k = inner[turn % inner.size()];
            const bool plain = turn % 2 == 0;
            const Operands operands{.a = pool.a.view().block(0, 0, m, k),
                                    .b = pool.b.view().block(0, 0, k, n),
                                    .alpha = plain ? 1 : -1.5,
                                    .beta = plain ? 0 : 0.5,
                                    .c0 = pool.b.view().block(0, 0, m, n)};
            visit(operands, {row_major, transpose_a, transpose_b, paddings[turn % paddings.size()]});
            ++turn;
          }
}

}  // namespace ozbound::grading
