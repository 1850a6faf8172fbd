// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>
#include <ozbound/bounds/published/named_bound.hpp>
#include <ozbound/ozbound.hpp>

#ifdef WITH_VERIFY
#include <ozbound/verify/grade/grade.hpp>
#include <ozbound/verify/literature/models/model.hpp>
#include <ozbound/verify/problem.hpp>
#endif

int main() {
  const double a[] = {1, 2, 3, 4};
  const double b[] = {5, 6, 7, 8};
  double c[4] = {};
  const auto certificate = ozbound::gemm(ozbound::Layout::row_major, ozbound::Op::none, ozbound::Op::transpose, 2, 2, 2, 1, a,
                                         2, b, 2, 0, c, 2, ozbound::parse_target("dgemm"));
  std::cout << c[0] << ' ' << c[1] << ' ' << c[2] << ' ' << c[3] << ", by " << to_string(certificate.method) << '\n';
  const bool correct = c[0] == 17 && c[1] == 23 && c[2] == 39 && c[3] == 53;
  if (ozbound::all_bounds().empty()) return 1;
#ifdef WITH_VERIFY
  if (ozbound::grade_parts().empty() || ozbound::all_models().empty()) return 1;
  if (ozbound::generate({.m = 3, .n = 4, .k = 5}).a.rows() != 3) return 1;
#endif
  return correct && certificate.holds ? 0 : 1;
}
