// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "conventional.hpp"
#include "conventional_products.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"
#include "parts.hpp"
#include "snippet.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

const char* const conventional_bound =
    "|C^ - AB| <= k u |A||B|, and |C^ - (alpha AB + beta C0)| <= gamma_{k+3} (|alpha||A||B| + |beta||C0|)";

/// Judges AB, and alpha AB + beta C0 with C0 made from B or A.
void judge(const ForeignGemm& gemm, const CaseShape& shape, std::uint64_t seed, Tally& tally) {
  const auto [m, n, k] = shape;
  const auto problem = generate({.family = Family::wide_exponents, .m = m, .n = n, .k = k, .phi = 1, .seed = seed});
  const auto c0 = generate({.family = Family::uniform, .m = m, .n = 1, .k = n, .seed = seed});
  for (const bool plain : {true, false}) {
    const Operands in{
        .a = problem.a.view(), .b = problem.b.view(), .alpha = plain ? 1 : -1.5, .beta = plain ? 0 : 0.75, .c0 = c0.a.view()};
    expect_conventional(gemm, in, generate_command(problem.recipe), tally);
  }
}

Finding small(const ForeignGemm& gemm, const GradeOptions& options) {
  const Index largest = options.quick ? 5 : 12;
  Tally tally({"shapes.small", fmt::format("all 1 <= m, n, k <= {}: {}", largest, conventional_bound),
               fmt::format("{}; {}", jeannerod_rump, higham)});
  for (Index m = 1; m <= largest; ++m)
    for (Index n = 1; n <= largest; ++n)
      for (Index k = 1; k <= largest; ++k) judge(gemm, {m, n, k}, options.seed, tally);
  return tally.finding();
}

Finding awkward(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally tally({"shapes.awkward", fmt::format("7 x 61 x 68, primes, skinny and long ones: {}", conventional_bound),
               fmt::format("{}; {}", jeannerod_rump, higham)});
  for (const auto& shape : {CaseShape{7, 61, 68},
                            {61, 7, 68},
                            {68, 61, 7},
                            {1, 1, 1009},
                            {1, 257, 1},
                            {257, 1, 1},
                            {1, 127, 63},
                            {127, 1, 63},
                            {2, 331, 3},
                            {331, 2, 3},
                            {3, 2, 4099},
                            {67, 71, 1},
                            {31, 1, 31},
                            {101, 103, 107}})
    judge(gemm, shape, options.seed, tally);
  if (!options.quick)
    for (const auto& shape :
         {CaseShape{2, 3, 100003}, {1, 5003, 17}, {5003, 1, 17}, {4099, 3, 5}, {3, 4099, 5}, {101, 103, 107}, {257, 263, 521}})
      judge(gemm, shape, options.seed, tally);
  return tally.finding();
}

/// Inner dimensions that exceed the blocks of all kernels, with C of one entry, of a corner and of several kernels.
Finding long_inner(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally tally({"shapes.long", fmt::format("k from 4097 on, m and n from 1 to 129: {}", conventional_bound),
               fmt::format("{}; {}", jeannerod_rump, higham)});
  for (const auto& shape :
       {CaseShape{1, 1, 16411}, {5, 7, 4097}, {33, 17, 5003}, {1, 65, 8209}, {65, 33, 4099}, {2, 3, 131101}})
    judge(gemm, shape, options.seed, tally);
  if (!options.quick)
    for (const auto& shape :
         {CaseShape{1, 129, 32771}, {33, 17, 70001}, {129, 65, 4099}, {129, 65, 16411}, {257, 130, 8209}, {4, 4, 262147}})
      judge(gemm, shape, options.seed, tally);
  return tally.finding();
}

/// C has no elements. Nothing may be written, for any leading dimension.
Finding empty(const ForeignGemm& gemm) {
  Tally tally(
      {"shapes.empty", "m = 0 or n = 0: dgemm returns and writes nothing", fmt::format("{}: quick return", level3_blas)});
  for (const auto& [m, n, k] : {CaseShape{0, 3, 2}, {3, 0, 2}, {0, 0, 2}, {0, 3, 0}, {3, 0, 0}, {0, 0, 0}})
    for (const double beta : {0.0, 1.0, 0.5}) {
      const Matrix<double> a(m, k), b(k, n), c0(m, n);
      const Operands in{.a = a.view(), .b = b.view(), .alpha = 1, .beta = beta, .c0 = c0.view()};
      for (const auto& storage : layouts_of(gemm)) {
        StoredCall call(in, storage);
        call.run(gemm);
        tally.expect(
            !call.c.overwritten_canary(), [&] { return fmt::format("{} writes to C", describe(call.call())); },
            [&](const std::string& test) { return memory_snippet(gemm, test, in, storage); });
      }
    }
  return tally.finding();
}

}  // namespace

Findings grade_shapes(const ForeignGemm& gemm, const GradeOptions& options) {
  return {{small(gemm, options), awkward(gemm, options), long_inner(gemm, options), empty(gemm)}, {}};
}

}  // namespace ozbound::grading
