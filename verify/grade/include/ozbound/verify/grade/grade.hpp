// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/plot/plot.hpp"

namespace ozbound {

/// How a call spells op: no other result, as real numbers are their own conjugates. CBLAS knows no lower case.
enum class OpSpelling : std::uint8_t {
  usual,                ///< N, T
  lower_case,           ///< n, t
  conjugate,            ///< N, C
  lower_case_conjugate  ///< n, c
};

/// N, n, T, t, C or c.
char op_letter(bool transpose, OpSpelling spelling);

/// One call of a BLAS's dgemm: C = alpha op(A) op(B) + beta C, column-major unless `row_major`. op(A) is m x k, op(B) k x n;
/// leading dimensions in elements.
struct BlasCall {
  bool row_major = false;
  bool transpose_a = false;
  bool transpose_b = false;
  OpSpelling spelling = OpSpelling::usual;
  Index m = 0;
  Index n = 0;
  Index k = 0;
  double alpha = 1;
  const double* a = nullptr;
  Index lda = 1;
  const double* b = nullptr;
  Index ldb = 1;
  double beta = 0;
  double* c = nullptr;
  Index ldc = 1;
};

/// Where a dgemm is: a file, and the symbol that it is called by there.
struct GemmSymbol {
  std::string file, symbol;

  /// It is called by CBLAS's convention, as its name says: cblas_dgemm, scipy_cblas_dgemm64_; any other by Fortran's.
  [[nodiscard]] bool is_cblas() const { return symbol.find("cblas_") != std::string::npos; }
};

/// Somebody's dgemm. Nothing is known of it: it may be wrong, write where it must not, crash or never return.
class ForeignGemm {
 public:
  virtual ~ForeignGemm() = default;

  /// File and symbol, or whatever names it.
  [[nodiscard]] virtual std::string name() const = 0;

  /// Takes row-major calls (cblas_dgemm), not only column-major ones (dgemm_).
  [[nodiscard]] virtual bool takes_row_major() const = 0;

  virtual void dgemm(const BlasCall& call) const = 0;

  /// How a program of its own would call it.
  [[nodiscard]] virtual GemmSymbol where() const { return {"LIBRARY", takes_row_major() ? "cblas_dgemm" : "dgemm_"}; }
};

/// How one check ended.
enum class Outcome : std::uint8_t {
  pass,
  fail,
  differs,   ///< from what others do, where IEEE 754 and the BLAS standard leave it open: no fault
  measured,  ///< a number without a verdict
  skipped,   ///< does not apply, `detail` says why: row-major calls of dgemm_
  crashed,   ///< the library ended the process
  hung,      ///< the library did not return in time
};

std::string_view to_string(Outcome outcome);

/// What one check of a library found.
struct Finding {
  std::string test;       ///< `special.beta-zero-ignores-c`
  std::string statement;  ///< what is asked, in mathematics
  std::string source;     ///< who asks it: a paper, a standard
  Outcome outcome = Outcome::measured;
  std::string detail;                                  ///< for people: the worst entry, values in hex, what it means
  std::vector<std::pair<std::string, double>> values;  ///< what was measured, by name

  /// Of a fault: a program in C that ends with 1 if the library has it, with 0 if not. Empty where no call is small enough.
  std::string snippet = {};
};

struct Findings {
  std::vector<Finding> findings;
  std::vector<Series> series;
};

struct GradeOptions {
  std::uint64_t seed = 0;
  bool quick = false;  ///< smaller sizes: for tests of the grading itself
};

/// One part of a grade: it runs in a process of its own, so that a crash or a hang costs no other part.
struct GradePart {
  std::string name;   ///< `demmel`, `accuracy`, `special`, …
  std::string title;  ///< for the report's heading
  std::function<Findings(const ForeignGemm&, const GradeOptions&)> run;
};

/// All parts, in the order of the report.
std::span<const GradePart> grade_parts();

/// A hash of the bits of C over a fixed set of calls. Two environments (thread counts, machines) that agree in it compute the
/// same bits there. Depends on the seed alone of the options.
std::uint64_t fingerprint(const ForeignGemm& gemm, const GradeOptions& options);

/// Products large enough for several threads, each made many times in this process with the threads it has, compared in their
/// bits and judged against the exact ones: `reproducibility.threads-run-to-run` and `reproducibility.threads-accurate`.
Findings grade_threads(const ForeignGemm& gemm, const GradeOptions& options);

/// Lossless both ways: infinities and NaNs in values and points are strings.
nlohmann::json to_json(const Findings& findings);

/// @throws std::invalid_argument naming the member that is missing or wrong.
Findings findings_from_json(const nlohmann::json& json);

}  // namespace ozbound
