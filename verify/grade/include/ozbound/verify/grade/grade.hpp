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

/// The letters by which a call names op. The result is the same, since real numbers are their own conjugates. CBLAS has no
/// lower case.
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

/// The place of a dgemm: a file, and the symbol to call in it.
struct GemmSymbol {
  std::string file, symbol;

  /// True if it is called by CBLAS's convention, as its name says: cblas_dgemm, scipy_cblas_dgemm64_. Any other uses Fortran's.
  [[nodiscard]] bool is_cblas() const { return symbol.find("cblas_") != std::string::npos; }
};

/// A dgemm of unknown quality. It may be wrong, write outside C, crash or never return.
class ForeignGemm {
 public:
  virtual ~ForeignGemm() = default;

  /// File and symbol, or another name for it.
  [[nodiscard]] virtual std::string name() const = 0;

  /// True if it takes row-major calls (cblas_dgemm), not only column-major ones (dgemm_).
  [[nodiscard]] virtual bool takes_row_major() const = 0;

  virtual void dgemm(const BlasCall& call) const = 0;

  /// The symbol as a stand-alone program would call it.
  [[nodiscard]] virtual GemmSymbol where() const { return {"LIBRARY", takes_row_major() ? "cblas_dgemm" : "dgemm_"}; }
};

/// The outcome of one check.
enum class Outcome : std::uint8_t {
  pass,
  fail,
  differs,   ///< differs from other libraries, in a case that IEEE 754 and the BLAS standard leave open: no fault
  measured,  ///< a number without a verdict
  skipped,   ///< does not apply; `detail` says why: row-major calls of dgemm_
  crashed,   ///< the library ended the process
  hung,      ///< the library did not return in time
};

std::string_view to_string(Outcome outcome);

/// The result of one check of a library.
struct Finding {
  std::string test;       ///< `special.beta-zero-ignores-c`
  std::string statement;  ///< the requirement, in mathematics
  std::string source;     ///< the paper or standard that states the requirement
  Outcome outcome = Outcome::measured;
  std::string detail;                                  ///< for people: the worst entry, values in hex, their meaning
  std::vector<std::pair<std::string, double>> values;  ///< measured numbers, by name

  /// For a fault, a C program that ends with 1 if the library has the fault, with 0 if not. Empty if no call is small enough.
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

/// One part of a grade. It runs in a process of its own: a crash or a hang then affects no other part.
struct GradePart {
  std::string name;   ///< `demmel`, `accuracy`, `special`, …
  std::string title;  ///< for the report's heading
  std::function<Findings(const ForeignGemm&, const GradeOptions&)> run;
};

/// All parts, in the order of the report.
std::span<const GradePart> grade_parts();

/// A hash of the bits of C over a fixed set of calls. Two environments (thread counts, machines) with equal hashes compute the
/// same bits in these calls. Among the options, only the seed matters.
std::uint64_t fingerprint(const ForeignGemm& gemm, const GradeOptions& options);

/// Makes products large enough for several threads many times in this process, with its thread count. Compares their bits and
/// judges them against the exact ones: `reproducibility.threads-run-to-run` and `reproducibility.threads-accurate`.
Findings grade_threads(const ForeignGemm& gemm, const GradeOptions& options);

/// Lossless in both directions: infinities and NaNs in values and points are strings.
nlohmann::json to_json(const Findings& findings);

/// @throws std::invalid_argument naming the member that is missing or wrong.
Findings findings_from_json(const nlohmann::json& json);

}  // namespace ozbound
