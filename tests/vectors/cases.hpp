// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound::vectors {

/// One conformance vector before anything is computed: the inputs, and why they are hard.
struct Case {
  std::string name, why;
  Matrix<double> a, b;
  std::string plan;
  double alpha = 1;
  double beta = 0;
  Matrix<double> c0 = {};
  Index inner_repeat = 1;  ///< A's columns and B's rows stand there so many times
  bool complex = false;    ///< a, b, c0 are what stands for complex matrices (docs/adr/0012)
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

/// A problem by its recipe, of whose C only checksums are written; C0 is A, wrapped to C's shape.
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
