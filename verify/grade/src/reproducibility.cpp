// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "callers.hpp"
#include "conventional.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"
#include "parts.hpp"
#include "same_bits.hpp"
#include "snippet.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound {
namespace grading {
namespace {

const char* const reproducible_summation =
    "J. Demmel, H. D. Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64 (2015)";

/// Problems that are small, awkward, or large enough for several threads.
std::vector<Problem> problems(const GradeOptions& options) {
  std::vector<Problem> all;
  const auto add = [&](Index m, Index n, Index k) {
    all.push_back(generate({.family = Family::uniform, .m = m, .n = n, .k = k, .seed = options.seed}));
  };
  add(7, 61, 68);
  add(64, 64, 64);
  if (options.quick) return all;
  add(5, 3, 5000);
  add(300, 300, 300);
  add(513, 70, 129);
  return all;
}

Claim accurate_claim(std::string test, const char* statement) { return {std::move(test), statement, jeannerod_rump}; }

/// Judges the products of one problem by the exact product. If the bits of a product were judged before, only compares them.
class Judge {
 public:
  Judge(const ForeignGemm& gemm, const Problem& problem, Tally& accurate)
      : gemm_(gemm), problem_(problem), oracle_(problem), accurate_(accurate) {}

  void expect_accurate(const Matrix<double>& c, const std::string& how, const Storage& storage = {}) {
    if (judged_ && !first_difference(*judged_, c)) return accurate_.holds();
    const auto judged = judge_conventional(c, oracle_);
    accurate_.expect(
        judged.holds(), [&] { return fmt::format("{}, {}: {}", generate_command(problem_.recipe), how, explain(judged)); },
        [&](const std::string& test) { return entry_snippet(gemm_, test, operands(problem_), storage); });
    if (judged.holds()) judged_ = c;
  }

 private:
  const ForeignGemm& gemm_;
  const Problem& problem_;
  ExactOracle oracle_;
  Tally& accurate_;
  std::optional<Matrix<double>> judged_;  ///< the last product that passed
};

void run_to_run(const ForeignGemm& gemm, const Problem& problem, const Storage& storage, int runs, Tally& same, Judge& judge) {
  StoredCall call(operands(problem), storage);
  call.run(gemm);
  const auto first = call.result();
  judge.expect_accurate(first, "run 1", storage);
  for (int t = 2; t <= runs; ++t) {
    call.run(gemm);
    const auto again = call.result();
    const auto different = first_difference(first, again);
    same.expect(
        !different, [&] { return fmt::format("{}, run {}: {} in the first run", describe(call.call()), t, *different); },
        [&](const std::string& test) { return repetition_snippet(gemm, test, operands(problem), storage); });
    judge.expect_accurate(again, fmt::format("run {}", t), storage);
  }
}

void alignment(const ForeignGemm& gemm, const Problem& problem, Tally& same, Judge& judge) {
  const auto aligned = product(gemm, operands(problem));
  judge.expect_accurate(aligned, "aligned");
  for (Index shift = 1; shift < 8; ++shift) {
    const auto shifted = product(gemm, operands(problem), {.shift = shift});
    const auto different = first_difference(aligned, shifted);
    const auto how = fmt::format("shifted by {} bytes", 8 * shift);
    same.expect(!different,
                [&] { return fmt::format("{}, {}: {} when aligned", generate_command(problem.recipe), how, *different); });
    judge.expect_accurate(shifted, how);
  }
}

/// Checks that c_ij does not depend on other rows and columns.
void position(const ForeignGemm& gemm, const Problem& problem, Tally& same, Judge& judge) {
  const Index m = problem.a.rows(), n = problem.b.cols(), k = problem.a.cols();
  const auto whole = product(gemm, operands(problem));
  judge.expect_accurate(whole, "whole");
  const auto part = product(gemm, {.a = problem.a.view().block(1, 0, m - 1, k), .b = problem.b.view().block(0, 1, k, n - 1)});
  auto joined = whole;
  for (Index i = 1; i < m; ++i)
    for (Index j = 1; j < n; ++j) joined(i, j) = part(i - 1, j - 1);
  const auto different = first_difference(whole, joined);
  same.expect(!different,
              [&] { return fmt::format("{}: {} in the whole product", generate_command(problem.recipe), *different); });
  judge.expect_accurate(joined, "without A's first row and B's first column");
}

/// Problems for several threads, which small products do not use.
std::vector<Problem> threaded_problems(const GradeOptions& options) {
  auto all = problems(options);
  if (options.quick) all.push_back(generate({.family = Family::uniform, .m = 104, .n = 96, .k = 130, .seed = options.seed}));
  return all;
}

}  // namespace

Findings grade_reproducibility(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally runs({"reproducibility.run-to-run",
              "the same call on the same memory, in one process with its threads: the same bits every time",
              reproducible_summation});
  Tally shifts({"reproducibility.alignment",
                "A, B and C moved by 8, 16, ..., 56 bytes from a multiple of 64: the same bits. Left open: the order of "
                "summation may depend on addresses",
                reproducible_summation},
               Outcome::differs);
  Tally places({"reproducibility.position",
                "entry (i, j) has the same bits when A loses its first row and B its first column. Left open: the order of "
                "summation may depend on the place in C and on its size",
                reproducible_summation},
               Outcome::differs);
  Tally accurate(accurate_claim("reproducibility.accurate",
                                "in every run, at every address and place: |C^ - AB| <= k u |A||B|, whatever bits it has"));
  for (const auto& problem : problems(options)) {
    Judge judge(gemm, problem, accurate);
    for (const auto& storage : layouts_of(gemm)) run_to_run(gemm, problem, storage, options.quick ? 20 : 30, runs, judge);
    alignment(gemm, problem, shifts, judge);
    position(gemm, problem, places, judge);
  }
  return {{runs.finding(), shifts.finding(), places.finding(), accurate.finding()}, {}};
}

}  // namespace grading

std::uint64_t fingerprint(const ForeignGemm& gemm, const GradeOptions& options) {
  const FloatEnvironment environment;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits, over 64-bit words
  for (const auto& problem : grading::problems({.seed = options.seed, .quick = false})) {
    const auto c = grading::product(gemm, operands(problem));
    for (Index t = 0; t < c.rows() * c.cols(); ++t) hash = (hash ^ std::bit_cast<std::uint64_t>(c.data()[t])) * 0x100000001b3;
  }
  return hash;
}

Findings grade_threads(const ForeignGemm& gemm, const GradeOptions& options) {
  const FloatEnvironment environment;
  using namespace grading;
  Tally runs({"reproducibility.threads-run-to-run",
              "the same call on the same memory, with one or more threads: the same bits every time", reproducible_summation});
  Tally accurate(accurate_claim("reproducibility.threads-accurate",
                                "with one or more threads: |C^ - AB| <= k u |A||B|, whatever bits it has"));
  for (const auto& problem : threaded_problems(options)) {
    Judge judge(gemm, problem, accurate);
    for (const auto& storage : layouts_of(gemm)) run_to_run(gemm, problem, storage, options.quick ? 5 : 30, runs, judge);
  }
  return {{runs.finding(), accurate.finding(), callers_at_once(gemm, options, "reproducibility.threads-callers")}, {}};
}

}  // namespace ozbound
