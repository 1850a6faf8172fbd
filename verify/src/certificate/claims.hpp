// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/reference_product.hpp"

namespace ozbound::checking {

enum class Method : std::uint8_t { slices, correctly_rounded, native, exact };

struct Target {
  enum class Kind : std::uint8_t { cr, dgemm, dgemm_typical, componentwise, rowcol, normwise, relative };
  Kind kind = Kind::dgemm;
  double tau = 0;
};

struct Plan {
  std::string text;
  reference::Plan plan;
};

/// `bound.norms`: rows, term by term and in a term alternative by alternative, and columns likewise.
struct RecordedNorms {
  double uniform = 0;
  std::vector<std::int32_t> row_exponents, column_exponents;
  std::vector<double> rows, columns;
};

/// An entry of C, of a complex one its real or its imaginary part.
struct Entry {
  Index i = 0, j = 0;
  std::string part;  ///< `real` or `imaginary`; empty of a real C

  bool operator==(const Entry&) const = default;
};

/// The entry in row i of C as it is multiplied: of a complex one the parts of each row, one above the other.
Entry entry_of(Index i, Index j, bool complex);

/// The members of a certificate, as they stand there.
struct Claims {
  int schema = 5;            ///< ozbound-certificate-N
  std::string seal, sealed;  ///< as claimed, and of the other members
  std::string target_text;
  Target target;
  Method method = Method::slices;
  std::vector<Plan> plans;
  bool complex = false;
  Index m = 0, n = 0, k = 0;  ///< of complex matrices, if it is
  double alpha = 1, beta = 0;
  std::optional<std::pair<double, double>> imaginary;  ///< parts of alpha and beta, where one is claimed not to be zero
  bool narrow = false;
  std::optional<std::string> a_print, b_print, c0_print;
  std::string c_print;
  bool holds = false;
  double ratio = 0;
  Entry worst;
  double largest_bound = 0;
  Index undecided = 0, exact = 0;
  std::string native;
  std::string source;
  bool rigorous = true;
  std::vector<std::string> terms;
  double bound_alpha = 1, result_factor = 0, underflow = 0;
  bool rounded_once = true;
  RecordedNorms norms;
  std::vector<std::string> assumptions;
  std::vector<std::string> beside;  ///< members of the report around it, which nobody checks
};

/// The claims of a certificate, or of the one in a report: the schema says which, and nothing else does.
/// @throws std::invalid_argument as check_certificate.
Claims read_claims(std::string_view json);

/// As a certificate spells a fingerprint or its seal.
std::string spelling(std::uint64_t hash);

}  // namespace ozbound::checking
