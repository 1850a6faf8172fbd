// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "claims.hpp"
#include "findings.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/result_view.hpp"

namespace ozbound::checking {

/// The product that a certificate is said to be about.
struct Subject {
  Subject(const Operands& given, const ResultView& c);

  /// Rows and columns of C as it is multiplied, of a complex one the parts of each row one above the other.
  [[nodiscard]] Index m() const { return operands.a.rows(); }
  [[nodiscard]] Index n() const { return operands.b.cols(); }

  [[nodiscard]] bool is_finite(Index i, Index j) const { return finite[static_cast<std::size_t>(i * n() + j)] != 0; }

  /// What a certificate's target allows of error, from below: k u, gamma_{k+3} with scalars or a C0, their roots, or what it
  /// says.
  [[nodiscard]] double tau(const Claims& claims) const;

  Operands given;
  Operands operands;  ///< what is read: nothing of A and B where alpha = 0 or C has no entries, no scalar without products
  ResultView c;
  ExactOracle oracle;
  double u;          ///< of C's format
  bool complex;      ///< the product is
  bool scaled;       ///< a scalar is: then a certificate is about A B, and counts both parts of an entry where one is open
  bool all_special;  ///< a scalar leaves no entry finite
  std::vector<std::uint8_t> finite_product, finite;  ///< whether NaN and infinities leave an entry of A B, and of C, finite
  Index finite_entries;
};

/// Says in `first` what is wrong at an entry, unless something stands there.
void note(std::string& first, const Subject& subject, Index i, Index j, const std::string& what);

/// Whether the certificate is about this product. Without the same sizes and scalars nothing else can be recomputed: false.
bool check_subject(Findings& findings, const Claims& claims, const Subject& subject);

}  // namespace ozbound::checking
