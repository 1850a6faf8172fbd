// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "conventional.hpp"
#include "conventional_products.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/measurement.hpp"
#include "ozbound/verify/problem.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "parts.hpp"
#include "snippet.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

/// The shapes. `cancellation` and `fem` have their named properties only for square shapes.
std::vector<CaseShape> shapes(const GradeOptions& options) {
  if (options.quick) return {{12, 12, 12}, {5, 7, 33}};
  return {{96, 96, 96}, {31, 40, 700}};
}

bool widens(Family family) {
  constexpr std::array fixed{Family::uniform, Family::uniform_positive, Family::subnormal, Family::full_range,
                             Family::integers};
  return std::find(fixed.begin(), fixed.end(), family) == fixed.end();
}

std::vector<double> widths(Family family, const GradeOptions& options) {
  if (!widens(family)) return {0};
  return options.quick ? std::vector<double>{0, 4} : std::vector<double>{0, 0.5, 1, 2, 4};
}

/// Families whose products underflow. A library without gradual underflow fails them, however accurate it is.
bool underflows(Family family) { return family == Family::subnormal || family == Family::full_range; }

/// The odd columns, which cannot overflow in `full_range`.
MatrixView<const double> odd_columns(MatrixView<const double> x) {
  return {x.data() + x.col_stride(), x.rows(), x.cols() / 2, x.row_stride(), 2 * x.col_stride()};
}

Measurement measured(const Problem& problem, const Matrix<double>& c) {
  if (problem.recipe.family != Family::full_range) return measure(c, ExactOracle(problem));
  const ExactOracle oracle({.a = problem.a.view(), .b = odd_columns(problem.b.view())});
  return measure(odd_columns(c.view()), oracle);
}

/// Verdicts on the cases of all families together.
struct Verdicts {
  Tally bound{{"accuracy.conventional-bound",
               "|C^ - AB| <= k u |A||B| entry by entry, over all families of problems whose products do not underflow",
               jeannerod_rump}};
  Tally underflow{{"accuracy.gradual-underflow",
                   "|C^ - AB| <= k u |A||B| + k eta/2 entry by entry, over families of subnormals and of every exponent",
                   fmt::format("{}; {}, 7.5 (gradual underflow)", jeannerod_rump, ieee754)}};
  Tally overflow{{"accuracy.intermediate-overflow",
                  "an entry of AB that is finite is computed finite, although partial sums may pass 2^1023. No standard asks "
                  "for it: the order of summation is free",
                  fmt::format("{}, 7.4; {}", ieee754, level3_blas)},
                 Outcome::differs};

  void judge(const ForeignGemm& gemm, const Problem& problem, const Storage& storage, const Conventional& judged) {
    const auto& recipe = problem.recipe;
    auto& tally = underflows(recipe.family) ? underflow : bound;
    tally.expect(
        judged.holds(),
        [&] { return fmt::format("{}, {}: {}", generate_command(recipe), to_string(storage), explain(judged)); },
        [&](const std::string& test) { return entry_snippet(gemm, test, operands(problem), storage); });
    if (recipe.family != Family::full_range) return;
    overflow.expect(judged.overflowed == 0, [&] {
      return fmt::format("{}: {} of {} entries", generate_command(recipe), judged.overflowed, judged.entries);
    });
  }
};

/// The largest errors of a family for one width of its exponents.
struct Row {
  double phi = 0, componentwise = 0, normwise = 0, dgemm = 0;
  Index entries = 0, not_correctly_rounded = 0, mismatches = 0;

  void add(const Row& other) {
    componentwise = std::max(componentwise, other.componentwise);
    normwise = std::max(normwise, other.normwise);
    dgemm = std::max(dgemm, other.dgemm);
    entries += other.entries;
    not_correctly_rounded += other.not_correctly_rounded;
    mismatches += other.mismatches;
  }
};

std::vector<Row> rows_of(const ForeignGemm& gemm, const GradeOptions& options, Family family, Verdicts& verdicts) {
  std::vector<Row> rows;
  for (const double phi : widths(family, options)) {
    rows.push_back({.phi = phi});
    for (const auto& [m, n, k] : shapes(options)) {
      const auto problem = generate({.family = family, .m = m, .n = n, .k = k, .phi = phi, .seed = options.seed});
      const ExactOracle oracle(problem);
      for (const auto& [storage, c] : products(gemm, operands(problem))) {
        const auto measurement = measured(problem, c);
        rows.back().add({phi, measurement.componentwise_upper, measurement.normwise_upper, measurement.dgemm_upper,
                         measurement.entries, measurement.not_correctly_rounded, measurement.special_mismatches});
        verdicts.judge(gemm, problem, storage, judge_conventional(c, oracle));
      }
    }
  }
  return rows;
}

Finding family_finding(Family family, const std::vector<Row>& rows) {
  Finding finding{.test = fmt::format("accuracy.{}", name(family)),
                  .statement =
                      "the largest |C^ - AB| / (|A||B|) (componentwise), ||C^ - AB||_F / || |A||B| ||_F (normwise) and "
                      "|C^ - AB| / (k u |A||B|) (dgemm)",
                  .source = higham,
                  .outcome = Outcome::measured,
                  .detail = {},
                  .values = {}};
  Row worst;
  for (const auto& row : rows) worst.add(row);
  finding.values = {{"componentwise", worst.componentwise}, {"normwise", worst.normwise}, {"dgemm", worst.dgemm}};
  finding.detail =
      fmt::format("componentwise {:.3g}, normwise {:.3g}, dgemm {:.3g}; {} of {} entries are not rounded correctly",
                  worst.componentwise, worst.normwise, worst.dgemm, worst.not_correctly_rounded, worst.entries);
  if (worst.mismatches > 0) finding.detail += fmt::format("; {} NaNs where the product is finite", worst.mismatches);
  if (underflows(family)) finding.detail += "; underflow, for which no allowance is made, dominates the ratios by entry";
  return finding;
}

/// Adds the growth of the errors with the width of the exponents.
void add_series(Family family, const std::vector<Row>& rows, Findings& found) {
  const auto add = [&](const char* plot, const char* axis, double Row::* error) {
    found.series.push_back({plot, std::string(name(family)), "phi", axis, false, true, {}});
    for (const auto& row : rows) found.series.back().points.emplace_back(row.phi, row.*error);
  };
  add("Largest error over the width of the exponents", "max |C^ - AB| / (k u |A||B|)", &Row::dgemm);
  add("Normwise error over the width of the exponents", "||C^ - AB||_F / || |A||B| ||_F", &Row::normwise);
}

Matrix<double> uniform(Index rows, Index cols, std::uint64_t seed) {
  RandomStream random(seed);
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) matrix(i, j) = random.signed_unit();
  return matrix;
}

/// Exponents of all families here stay within +-100, so that no way to the result underflows or overflows.
Finding scaled(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally tally(
      {"accuracy.scaled",
       "|C^ - (alpha AB + beta C0)| <= gamma_{k+3} (|alpha||A||B| + |beta||C0|), gamma_n = n u/(1 - n u): at most k + 3 "
       "roundings meet a term, in whatever order, alpha on A, B or AB",
       higham});
  for (const auto family : {Family::uniform, Family::wide_exponents, Family::cancellation, Family::maximal_digits})
    for (const auto& [m, n, k] : shapes(options)) {
      const auto problem = generate({.family = family, .m = m, .n = n, .k = k, .phi = 1, .seed = options.seed});
      const auto c0 = uniform(m, n, options.seed + 1);
      for (const double alpha : {1.0, -1.0, -0x1.8p0, 0x1.921fb54442d18p1, 0x1.5555555555555p-30, 0.0})
        for (const double beta : {0.0, 1.0, -1.0, 0x1.5bf0a8b145769p1, -0x1.999999999999ap-4}) {
          const Operands in{.a = problem.a.view(), .b = problem.b.view(), .alpha = alpha, .beta = beta, .c0 = c0.view()};
          expect_conventional(gemm, in, "C0 uniform in (-1, 1), " + generate_command(problem.recipe), tally);
        }
    }
  return tally.finding();
}

/// One scalar is far above the other, and C is longer and wider than any block of columns or rows.
Finding extreme_scalars(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally tally({"accuracy.extreme-scalars",
               "|C^ - (alpha AB + beta C0)| <= gamma_{k+3} (|alpha||A||B| + |beta||C0|) for alpha and beta from 2^-400 to "
               "2^400 and C of 20011 rows or columns; nothing underflows or overflows",
               higham});
  constexpr double large = 0x1.8p400, small = -0x1.4p-400;
  for (const auto& [m, n, k] : {CaseShape{5, 7, 33}, {37, 29, 600}, {3, 20011, 2}, {20011, 3, 2}}) {
    const auto problem = generate({.family = Family::uniform, .m = m, .n = n, .k = k, .seed = options.seed});
    const auto c0 = uniform(m, n, options.seed + 1);
    for (const auto& [alpha, beta] :
         {std::pair{large, small}, {small, large}, {large, large}, {small, small}, {small, 1.0}, {1.0, small}, {large, 0.0}})
      if (k > 2 || alpha == small || beta == small)
        expect_conventional(gemm, {.a = problem.a.view(), .b = problem.b.view(), .alpha = alpha, .beta = beta, .c0 = c0.view()},
                            "C0 uniform in (-1, 1), " + generate_command(problem.recipe), tally);
  }
  return tally.finding();
}

/// The ops of a call and their spellings: N, T and C on each side.
std::vector<Storage> storages_of_ops() {
  std::vector<Storage> all;
  for (const auto spelling : {OpSpelling::usual, OpSpelling::conjugate})
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        if (a || b || spelling == OpSpelling::usual) all.push_back({.transpose_a = a, .transpose_b = b, .spelling = spelling});
  return all;
}

/// Every op with every pair of scalars, on a C that has more rows and columns than a block of a kernel, of 64 or of 256. One
/// term at least is of ordinary size, so that the bound is far above what underflow of the other may cost.
Finding every_op(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally tally({"accuracy.every-op",
               "|C^ - (alpha AB + beta C0)| <= gamma_{k+3} (|alpha||A||B| + |beta||C0|) for N, T and C on either side, alpha "
               "and beta of either sign, subnormal and up to 2^1000, and a C beyond 64 and 256 rows and columns",
               higham});
  constexpr double ordinary = 0x1p-100;
  constexpr Index m = 263, n = 261, k = 7;
  const auto problem = generate({.family = Family::uniform, .m = m, .n = n, .k = k, .seed = options.seed});
  const auto c0 = uniform(m, n, options.seed + 1);
  for (const double alpha : {1.0, -0x1.8p0, 0x1p-60, 0x1p-1060, -0x1p-1074, -0x1.8p1000})
    for (const double beta : {0.0, 1.0, -0x1.5bf0a8b145769p1, -0x1p-1060, 0x1p1000}) {
      if (std::max(std::abs(alpha), std::abs(beta)) < ordinary) continue;
      const Operands in{.a = problem.a.view(), .b = problem.b.view(), .alpha = alpha, .beta = beta, .c0 = c0.view()};
      for (const auto& storage : storages_of_ops())
        expect_conventional(gemm, in, "C0 uniform in (-1, 1), " + generate_command(problem.recipe), tally, storage,
                            EntrySelection::one_of_each_block(64, options.seed));
    }
  return tally.finding();
}

}  // namespace

Findings grade_accuracy(const ForeignGemm& gemm, const GradeOptions& options) {
  Findings found;
  Verdicts verdicts;
  for (const auto family : all_families()) {
    const auto rows = rows_of(gemm, options, family, verdicts);
    found.findings.push_back(family_finding(family, rows));
    if (widens(family)) add_series(family, rows, found);
  }
  found.findings.push_back(verdicts.bound.finding());
  found.findings.push_back(verdicts.underflow.finding());
  found.findings.push_back(verdicts.overflow.finding());
  found.findings.push_back(scaled(gemm, options));
  found.findings.push_back(extreme_scalars(gemm, options));
  found.findings.push_back(every_op(gemm, options));
  return found;
}

}  // namespace ozbound::grading
