#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "conventional.hpp"
#include "ozbound/verify/problem.hpp"
#include "parts.hpp"
#include "same_bits.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound {
namespace grading {
namespace {

const char* const reproducible_summation =
    "J. Demmel, H. D. Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64 (2015)";

/// Small, awkward, and large enough for several threads.
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

Finding run_to_run(const ForeignGemm& gemm, const GradeOptions& options) {
  const int runs = options.quick ? 20 : 30;
  Tally tally({"reproducibility.run-to-run",
               "the same call on the same memory, in one process with its threads: the same bits every time",
               reproducible_summation});
  for (const auto& problem : problems(options)) {
    StoredCall call(operands(problem));
    call.run(gemm);
    const auto first = call.result();
    for (int t = 1; t < runs; ++t) {
      call.run(gemm);
      const auto different = first_difference(first, call.result());
      tally.expect(!different,
                   [&] { return fmt::format("{}, run {}: {} in the first run", describe(call.call()), t + 1, *different); });
    }
  }
  return tally.finding();
}

Finding alignment(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally tally({"reproducibility.alignment",
               "A, B and C moved by 8, 16, ..., 56 bytes from a multiple of 64: the same bits. Left open: the order of "
               "summation may depend on addresses",
               reproducible_summation},
              Outcome::differs);
  for (const auto& problem : problems(options)) {
    const auto aligned = product(gemm, operands(problem));
    for (Index shift = 1; shift < 8; ++shift) {
      const auto different = first_difference(aligned, product(gemm, operands(problem), {.shift = shift}));
      tally.expect(!different, [&] {
        return fmt::format("{}, shifted by {} bytes: {} when aligned", generate_command(problem.recipe), 8 * shift, *different);
      });
    }
  }
  return tally.finding();
}

Matrix<double> copy(MatrixView<const double> x) {
  Matrix<double> result(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) result(i, j) = x(i, j);
  return result;
}

/// c_ij does not depend on what other rows and columns there are.
Finding position(const ForeignGemm& gemm, const GradeOptions& options) {
  Tally tally({"reproducibility.position",
               "entry (i, j) has the same bits when A loses its first row and B its first column. Left open: the order of "
               "summation may depend on the place in C and on its size",
               reproducible_summation},
              Outcome::differs);
  for (const auto& problem : problems(options)) {
    const auto& [m, n, k] = std::tuple{problem.a.rows(), problem.b.cols(), problem.a.cols()};
    const auto whole = product(gemm, operands(problem));
    const auto part = product(gemm, {.a = problem.a.view().block(1, 0, m - 1, k), .b = problem.b.view().block(0, 1, k, n - 1)});
    const auto different = first_difference(copy(whole.view().block(1, 1, m - 1, n - 1)), part);
    tally.expect(!different,
                 [&] { return fmt::format("{}: {} in the whole product", generate_command(problem.recipe), *different); });
  }
  return tally.finding();
}

}  // namespace

Findings grade_reproducibility(const ForeignGemm& gemm, const GradeOptions& options) {
  return {{run_to_run(gemm, options), alignment(gemm, options), position(gemm, options)}, {}};
}

}  // namespace grading

std::uint64_t fingerprint(const ForeignGemm& gemm, const GradeOptions& options) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits, over 64-bit words
  for (const auto& problem : grading::problems({.seed = options.seed, .quick = false})) {
    const auto c = grading::product(gemm, operands(problem));
    for (Index t = 0; t < c.rows() * c.cols(); ++t) hash = (hash ^ std::bit_cast<std::uint64_t>(c.data()[t])) * 0x100000001b3;
  }
  return hash;
}

}  // namespace ozbound
