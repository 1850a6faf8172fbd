// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "conventional.hpp"
#include "edge_cases.hpp"
#include "parts.hpp"
#include "snippet.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

/// The place of an element, in terms of a call's arguments.
std::string place(char operand, std::ptrdiff_t offset, Index ld) {
  if (offset < 0) return fmt::format("{} elements before {}", -offset, operand);
  return fmt::format("element {} + {} ld of {}", offset % ld, offset / ld, operand);
}

struct Tallies {
  Tally around_c{{"memory.canaries",
                  "dgemm changes C(i, j), 0 <= i < m, 0 <= j < n, and nothing else: nothing between the columns where ldc > m, "
                  "nothing before or after C",
                  level3_blas}};
  Tally operands{{"memory.operands-unchanged", "A and B, and what lies between and around their columns, keep their bits",
                  fmt::format("{}: unchanged on exit", level3_blas)}};

  void run(const ForeignGemm& gemm, const Operands& in, const Storage& storage) {
    StoredCall call(in, storage);
    const auto a = call.a;
    const auto b = call.b;
    call.run(gemm);
    const auto& made = call.call();
    const auto snippet = [&](const std::string& test) { return memory_snippet(gemm, test, in, storage); };
    const auto outside_c = call.c.overwritten_canary();
    around_c.expect(
        !outside_c, [&] { return fmt::format("{} writes {}", describe(made), place('C', *outside_c, made.ldc)); }, snippet);
    const auto in_a = call.a.first_difference(a);
    operands.expect(!in_a, [&] { return fmt::format("{} changes {}", describe(made), place('A', *in_a, made.lda)); }, snippet);
    const auto in_b = call.b.first_difference(b);
    operands.expect(!in_b, [&] { return fmt::format("{} changes {}", describe(made), place('B', *in_b, made.ldb)); }, snippet);
  }
};

}  // namespace

Findings grade_memory(const ForeignGemm& gemm, const GradeOptions& options) {
  Tallies tallies;
  each_edge_case(options, gemm.takes_row_major(),
                 [&](const Operands& in, const Storage& storage) { tallies.run(gemm, in, storage); });
  return {{tallies.around_c.finding(), tallies.operands.finding()}, {}};
}

}  // namespace ozbound::grading
