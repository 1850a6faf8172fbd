// SPDX-License-Identifier: BSD-3-Clause
#include "callers.hpp"

#include <fmt/format.h>

#include <array>
#include <barrier>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"
#include "parts.hpp"
#include "same_bits.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

constexpr int callers = 4;
constexpr std::size_t most_results = 8;  // of one caller, kept for judging

/// One caller's product: the result of the caller alone, and all other results in the presence of other callers, each kept
/// once.
class Caller {
 public:
  Caller(const ForeignGemm& gemm, const CaseShape& shape, std::uint64_t seed, const Storage& storage)
      : gemm_(gemm),
        problem_(generate({.family = Family::uniform, .m = shape.m, .n = shape.n, .k = shape.k, .seed = seed})),
        call_(operands(problem_), storage) {
    call_.run(gemm_);
    results_.push_back(call_.result());
  }

  void call() {
    call_.run(gemm_);
    auto c = call_.result();
    for (const auto& known : results_)
      if (!first_difference(known, c)) return;
    if (results_.size() < most_results) results_.push_back(std::move(c));
  }

  /// Judges the results. If the product is wrong alone, other results tell nothing about several callers.
  void judge(Tally& tally) const {
    const ExactOracle oracle(problem_);
    tally.holds();
    if (results_.size() == 1 || !judge_conventional(results_.front(), oracle).holds()) return;
    for (const auto& c : results_) {
      const auto judged = judge_conventional(c, oracle);
      tally.expect(judged.holds(), [&] { return fmt::format("{}: {}", describe(call_.call()), explain(judged)); });
    }
  }

 private:
  const ForeignGemm& gemm_;
  Problem problem_;
  StoredCall call_;
  std::vector<Matrix<double>> results_;
};

/// Calls from several threads at once, `rounds` calls from each. Odd callers are row-major if the library takes such calls.
void call_at_once(const ForeignGemm& gemm, const CaseShape& shape, const GradeOptions& options, int rounds, Tally& tally) {
  std::list<Caller> all;
  for (int t = 0; t < callers; ++t)
    all.emplace_back(gemm, shape, options.seed + static_cast<std::uint64_t>(t),
                     Storage{.row_major = t % 2 == 1 && gemm.takes_row_major()});
  std::barrier start(callers);
  std::vector<std::jthread> threads;
  for (auto& caller : all)
    threads.emplace_back([&caller, &start, rounds] {
      start.arrive_and_wait();
      for (int round = 0; round < rounds; ++round) caller.call();
    });
  threads.clear();  // joins
  for (const auto& caller : all) caller.judge(tally);
}

}  // namespace

Finding callers_at_once(const ForeignGemm& gemm, const GradeOptions& options, std::string test) {
  Tally tally({std::move(test),
               fmt::format("{} threads call at the same time, each with operands of its own: |C^ - AB| <= k u |A||B|, as alone",
                           callers),
               fmt::format("{}; the interface has no state", jeannerod_rump)});
  const int rounds = options.quick ? 30 : 500;
  call_at_once(gemm, {5, 7, 3}, options, 10 * rounds, tally);
  call_at_once(gemm, {33, 17, 65}, options, rounds, tally);
  call_at_once(gemm, {40, 50, 300}, options, rounds, tally);
  if (!options.quick) call_at_once(gemm, {129, 130, 64}, options, rounds, tally);
  return tally.finding();
}

Findings grade_callers(const ForeignGemm& gemm, const GradeOptions& options) {
  return {{callers_at_once(gemm, options, "callers.at-once")}, {}};
}

}  // namespace ozbound::grading
