// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"
#include "parts.hpp"
#include "same_bits.hpp"
#include "snippet.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

/// Every layout and transposition with several leading dimensions, and with other letters for op.
std::vector<Storage> storages(bool row_major_too) {
  constexpr std::array others{OpSpelling::lower_case, OpSpelling::conjugate, OpSpelling::lower_case_conjugate};
  std::vector<Storage> all;
  for (const bool row_major : {false, true})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        if (row_major && !row_major_too) continue;
        const Storage storage{.row_major = row_major, .transpose_a = transpose_a, .transpose_b = transpose_b};
        for (const Index padding : {0, 3, 13, 1021}) {
          all.push_back(storage);
          all.back().padding = padding;
        }
        for (const auto spelling : others) {
          all.push_back(storage);
          all.back().spelling = spelling;
        }
      }
  return all;
}

/// One product, stored in all ways.
class Layouts {
 public:
  Layouts(const ForeignGemm& gemm, const GradeOptions& options)
      : gemm_(gemm), options_(options), storages_(storages(gemm.takes_row_major())) {}

  Findings run() {
    for (const auto& [m, n, k] : {CaseShape{5, 9, 7}, CaseShape{7, 61, 68}, CaseShape{37, 29, 53}, CaseShape{130, 70, 90}}) {
      if (options_.quick && m > 10) continue;
      const auto problem =
          generate({.family = Family::wide_exponents, .m = m, .n = n, .k = k, .phi = 1, .seed = options_.seed});
      const auto c0 = generate({.family = Family::uniform, .m = m, .n = 1, .k = n, .seed = options_.seed});
      for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {-1.5, 0.75}, {-1.0, 1.0}, {1.0, 1.0}})
        judge({.a = problem.a.view(), .b = problem.b.view(), .alpha = alpha, .beta = beta, .c0 = c0.a.view()}, problem.recipe);
    }
    for (const Index n : {9, 33}) judge_same_matrix(n);
    const auto by_rows = gemm_.takes_row_major() ? row_major_.finding() : skipped(row_major_claim, "dgemm_ is column-major");
    return {{transposition_.finding(), by_rows, agreement_.finding(), same_matrix_.finding(), far_columns(gemm_)}, {}};
  }

 private:
  void judge(const Operands& in, const Recipe& recipe) {
    const ExactOracle oracle(in);
    const auto plain = product(gemm_, in);
    const bool plain_holds = judge_conventional(plain, oracle).holds();
    for (const auto& storage : storages_) {
      const auto what =
          fmt::format("{}, alpha = {}, beta = {}, {}", generate_command(recipe), in.alpha, in.beta, to_string(storage));
      const auto c = product(gemm_, in, storage);
      const auto different = first_difference(plain, c);
      agreement_.expect(!different, [&] { return what + ": " + *different + " in column-major order without transposition"; });
      auto& tally = storage.row_major ? row_major_ : transposition_;
      if (plain_holds && !different)
        tally.holds();
      else
        judge(c, oracle, what, tally, [&](const std::string& test) { return entry_snippet(gemm_, test, in, storage); });
    }
  }

  template <class Snippet>
  static void judge(const Matrix<double>& c, const ExactOracle& oracle, const std::string& what, Tally& tally,
                    const Snippet& snippet) {
    const auto judged = judge_conventional(c, oracle);
    tally.expect(judged.holds(), [&] { return what + ": " + explain(judged); }, snippet);
  }

  /// Judges op(X) op(X), where the library gets the same X for both.
  void judge_same_matrix(Index n) {
    const auto x = generate({.family = Family::uniform, .m = n, .n = n, .k = n, .seed = options_.seed}).a;
    for (const auto& storage : storages_) {
      if (storage.padding != 0 || storage.spelling != OpSpelling::usual) continue;
      const Operands in{.a = storage.transpose_a ? x.view().transposed() : x.view(),
                        .b = storage.transpose_b ? x.view().transposed() : x.view()};
      StoredCall stored(in, storage);
      auto call = stored.call();
      call.b = call.a;
      gemm_.dgemm(call);
      judge(stored.result(), ExactOracle(in), fmt::format("{} with B = A", describe(call)), same_matrix_,
            [&](const std::string& test) { return entry_snippet(gemm_, test, in, storage, Judged::conventional, true); });
    }
  }

  const ForeignGemm& gemm_;
  const GradeOptions& options_;
  std::vector<Storage> storages_;
  const Claim row_major_claim{"layouts.row-major",
                              "row-major operands, all four transpositions, ld at and above its minimum: "
                              "|C^ - C| <= k u |A||B| or gamma_{k+3} (|alpha||A||B| + |beta||C0|)",
                              fmt::format("BLAS Technical Forum Standard, C interface; {}; {}", jeannerod_rump, higham)};
  Tally transposition_{{"layouts.transposition",
                        "op(A), op(B) stored plain and transposed, ld at and above its minimum: |C^ - C| <= k u |A||B| or "
                        "gamma_{k+3} (|alpha||A||B| + |beta||C0|)",
                        fmt::format("{}; {}; {}", level3_blas, jeannerod_rump, higham)}};
  Tally row_major_{row_major_claim};
  Tally agreement_{{"layouts.agreement",
                    "the same values give the same bits in every layout and transposition. Left open: the order of summation "
                    "may depend on them",
                    level3_blas},
                   Outcome::differs};
  Tally same_matrix_{{"layouts.same-matrix", "A and B are the same memory, in all transpositions: |C^ - AB| <= k u |A||B|",
                      fmt::format("{}: A and B are read only; {}", level3_blas, jeannerod_rump)}};
};

}  // namespace

Findings grade_layouts(const ForeignGemm& gemm, const GradeOptions& options) { return Layouts(gemm, options).run(); }

}  // namespace ozbound::grading
