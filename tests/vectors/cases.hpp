// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::vectors {

/// One conformance vector before the computation: the inputs, and the reason why they are difficult.
struct Case {
  std::string name, why;
  Matrix<double> a, b;
  std::string plan;
  double alpha = 1;
  double beta = 0;
  Matrix<double> c0 = {};
  Index inner_repeat = 1;  ///< number of copies of A's columns and B's rows
  bool complex = false;    ///< a, b, c0 represent complex matrices (docs/adr/0012)
  double imaginary_alpha = 0;
  double imaginary_beta = 0;

  [[nodiscard]] bool reads_c0() const { return beta != 0 || imaginary_beta != 0; }
  [[nodiscard]] Operands operands() const {
    return {a.view(), b.view(), alpha, beta, c0.view(), imaginary_alpha, imaginary_beta};
  }
};

/// The cases of one file, written in full.
struct CaseFile {
  std::string name, about;
  std::vector<Case> cases;
};

std::vector<CaseFile> case_files();

/// A problem by its recipe; only checksums of its C are written. C0 is A, wrapped to C's shape.
struct FamilyCase {
  Recipe recipe;
  std::string plan;
  double alpha = 1;
  double beta = 0;
};

std::vector<FamilyCase> family_cases();

/// C0 of a family case: column j is A's column j mod k.
Matrix<double> wrapped(const Matrix<double>& a, Index columns);

}  // namespace ozbound::vectors
