#include <fmt/format.h>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"
#include "parts.hpp"
#include "same_bits.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

/// One product, stored in every way.
class Layouts {
 public:
  Layouts(const ForeignGemm& gemm, const GradeOptions& options) : gemm_(gemm), options_(options) {}

  Findings run() {
    for (const auto& [m, n, k] : {Shape{5, 9, 7}, Shape{7, 61, 68}, Shape{37, 29, 53}, Shape{130, 70, 90}}) {
      if (options_.quick && m > 10) continue;
      const auto problem =
          generate({.family = Family::wide_exponents, .m = m, .n = n, .k = k, .phi = 1, .seed = options_.seed});
      const auto c0 = generate({.family = Family::uniform, .m = m, .n = 1, .k = n, .seed = options_.seed});
      judge({.a = problem.a.view(), .b = problem.b.view()}, problem.recipe);
      judge({.a = problem.a.view(), .b = problem.b.view(), .alpha = -1.5, .beta = 0.75, .c0 = c0.a.view()}, problem.recipe);
    }
    const auto by_rows = gemm_.takes_row_major() ? row_major_.finding() : skipped(row_major_claim, "dgemm_ is column-major");
    return {{transposition_.finding(), by_rows, agreement_.finding()}, {}};
  }

 private:
  struct Shape {
    Index m, n, k;
  };

  void judge(const Operands& in, const Recipe& recipe) {
    const ExactOracle oracle(in);
    const auto plain = product(gemm_, in);
    for (const bool row_major : {false, true})
      for (const bool transpose_a : {false, true})
        for (const bool transpose_b : {false, true})
          for (const Index padding : {0, 3}) {
            if (row_major && !gemm_.takes_row_major()) continue;
            const Storage storage{row_major, transpose_a, transpose_b, padding, 0};
            judge(product(gemm_, in, storage), plain, oracle,
                  fmt::format("{}, alpha = {}, beta = {}, {}", generate_command(recipe), in.alpha, in.beta, to_string(storage)),
                  row_major);
          }
  }

  void judge(const Matrix<double>& c, const Matrix<double>& plain, const ExactOracle& oracle, const std::string& what,
             bool row_major) {
    const auto judged = judge_conventional(c, oracle);
    (row_major ? row_major_ : transposition_).expect(judged.holds(), [&] { return what + ": " + explain(judged); });
    const auto different = first_difference(plain, c);
    agreement_.expect(!different, [&] { return what + ": " + *different + " in column-major order without transposition"; });
  }

  const ForeignGemm& gemm_;
  const GradeOptions& options_;
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
};

}  // namespace

Findings grade_layouts(const ForeignGemm& gemm, const GradeOptions& options) { return Layouts(gemm, options).run(); }

}  // namespace ozbound::grading
