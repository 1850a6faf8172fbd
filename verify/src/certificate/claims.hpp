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

/// `bound.norms`: the rows' norms, term by term and within a term alternative by alternative, and the columns' likewise.
struct RecordedNorms {
  double uniform = 0;
  std::vector<std::int32_t> row_exponents, column_exponents;
  std::vector<double> rows, columns;
};

/// An entry of C; for a complex C the real or the imaginary part of an entry.
struct Entry {
  Index i = 0, j = 0;
  std::string part;  ///< `real` or `imaginary`; empty for a real C

  bool operator==(const Entry&) const = default;
};

/// The entry in row i of the real product. For a complex C, the real product has the parts of each row one above the other.
Entry entry_of(Index i, Index j, bool complex);

/// The members of a certificate, as written.
struct Claims {
  int schema = 5;            ///< ozbound-certificate-N
  std::string seal, sealed;  ///< the claimed seal, and the seal of the other members
  std::string target_text;
  Target target;
  Method method = Method::slices;
  std::vector<Plan> plans;
  bool complex = false;
  Index m = 0, n = 0, k = 0;  ///< of the complex matrices, if the product is complex
  double alpha = 1, beta = 0;
  std::optional<std::pair<double, double>> imaginary;  ///< imaginary parts of alpha and beta, if one is claimed to be non-zero
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
  std::vector<std::string> beside;  ///< unchecked members of the report around the certificate
};

/// The claims of a certificate, or of the certificate in a report. Only the schema tells which of the two it is.
/// @throws std::invalid_argument as check_certificate.
Claims read_claims(std::string_view json);

/// A fingerprint or a seal, spelled as in a certificate.
std::string spelling(std::uint64_t hash);

}  // namespace ozbound::checking
