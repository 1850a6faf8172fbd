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

/// The product that a certificate claims to be about.
struct Subject {
  Subject(const Operands& given, const ResultView& c);

  /// Rows and columns of the real product. For a complex C it has the parts of each row one above the other.
  [[nodiscard]] Index m() const { return operands.a.rows(); }
  [[nodiscard]] Index n() const { return operands.b.cols(); }

  [[nodiscard]] bool is_finite(Index i, Index j) const { return finite[static_cast<std::size_t>(i * n() + j)] != 0; }

  /// The error that a certificate's target allows, rounded down: k u, gamma_{k+3} with scalars or a C0, their roots, or the
  /// stated tau.
  [[nodiscard]] double tau(const Claims& claims) const;

  Operands given;
  Operands operands;  ///< as read: without A and B if alpha = 0 or C has no entries, without scalars if there are no products
  ResultView c;
  ExactOracle oracle;
  double u;              ///< of C's format
  bool complex;          ///< the product is complex
  bool complex_scalars;  ///< a scalar is complex: a certificate is then about A B, and counts both parts of an entry if one is
                         ///< open
  bool all_special;      ///< a scalar leaves no entry finite
  std::vector<std::uint8_t> finite_product, finite;  ///< true if NaN and infinities do not decide an entry of A B, and of C
  Index finite_entries;
};

/// Stores in `first` a text about an entry, unless it holds one already.
void note(std::string& first, const Subject& subject, Index i, Index j, const std::string& what);

/// Checks that the certificate is about this product. Returns false if sizes or scalars differ: nothing else can then be
/// recomputed.
bool check_subject(Findings& findings, const Claims& claims, const Subject& subject);

}  // namespace ozbound::checking
