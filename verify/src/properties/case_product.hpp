// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "ozbound/bounds/certificate.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/verify/gemm_case.hpp"
#include "properties/stored_matrix.hpp"

// Helpers of properties: store a case in memory, multiply, compare.

namespace ozbound::properties {

/// The result of a property: empty if it holds, otherwise the reason why it does not.
using Finding = std::optional<std::string>;

/// The matrices of a case in memory, A and B in full.
struct CaseMemory {
  StoredMatrix a, b, c0, c;
  double alpha, beta;

  explicit CaseMemory(const GemmCase& gemm_case);
  [[nodiscard]] RealProduct product();
};

/// The values in another storage. @pre its format holds them.
StoredMatrix stored_values(const Matrix<double>& values, const Storage& storage);

/// The values of a matrix in memory.
Matrix<double> values_of(const StoredMatrix& matrix);

/// C under the plan of the case.
StoredMatrix multiplied(const GemmCase& gemm_case, const Engine& engine, double workspace = unlimited_workspace);

struct CertifiedCase {
  StoredMatrix c;
  Certificate certificate;
};

/// C by a decision for the case, with its certificate.
CertifiedCase multiplied(const GemmCase& gemm_case, Decision decision, const Engine& engine,
                         double workspace = unlimited_workspace);

/// C correctly rounded, beginning with the plan of the case.
CertifiedCase multiplied_by_cr(const GemmCase& gemm_case, const Engine& engine, double workspace = unlimited_workspace);

/// The case with zeros in place of NaNs and infinities, and with alpha = 1, beta = 0 if these are not finite.
GemmCase finite(GemmCase gemm_case);

/// The encoding for deciding on a target: the plan's encoding; for residues the default.
Encoding encoding_of(const GemmCase& gemm_case);

/// The target of the case; dgemm if it has none.
Target target_of(const GemmCase& gemm_case);

/// The case with beta = 0.
GemmCase without_c0(GemmCase gemm_case);

/// `0x1.8p+1 (0x4008000000000000)`.
std::string in_hex(double value, std::uint64_t bits);

/// The number of entries of C whose bits differ from `expected`, and the first of them.
Finding differing(const StoredMatrix& c, const StoredMatrix& expected, const std::string& what);

/// A text for entry (i, j), which differs from the expected bits in C's format.
std::string wrong_entry(const StoredMatrix& c, Index i, Index j, std::uint64_t expected_bits, const std::string& what);

}  // namespace ozbound::properties
