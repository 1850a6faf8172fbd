// SPDX-License-Identifier: BSD-3-Clause
#include "bound_members.hpp"

#include <string>
#include <vector>

namespace ozbound::checking {
namespace {

/// Checks `bound.norms`. The alternatives of each term are 2-norms, 1-norms of rows with maxima of columns, and vice versa.
void check_norms(Findings& findings, const RecordedNorms& claimed, const RelativeBound& found) {
  findings.expect("bound.norms.uniform", claimed.uniform, found.uniform);
  findings.expect_all("bound.norms.row_exponents", claimed.row_exponents, found.row_exponents);
  findings.expect_all("bound.norms.column_exponents", claimed.column_exponents, found.column_exponents);
  std::vector<double> rows, columns;
  for (const auto& term : found.terms) {
    for (const auto norm : {&Norms::two, &Norms::one, &Norms::max})
      for (const auto& of : term.rows) rows.push_back(of.*norm);
    for (const auto norm : {&Norms::two, &Norms::max, &Norms::one})
      for (const auto& of : term.columns) columns.push_back(of.*norm);
  }
  findings.expect_all("bound.norms.rows", claimed.rows, rows);
  findings.expect_all("bound.norms.columns", claimed.columns, columns);
}

void take_norms(Findings& findings, const RecordedNorms& claimed, RelativeBound& bound) {
  const auto terms = bound.terms.size(), rows = bound.row_exponents.size(), columns = bound.column_exponents.size();
  const bool fit = claimed.row_exponents.size() == rows && claimed.column_exponents.size() == columns &&
                   claimed.rows.size() == 3 * terms * rows && claimed.columns.size() == 3 * terms * columns;
  if (!findings.say("bound.norms", fit, "they are not of as many terms, rows and columns")) return;
  bound.uniform = claimed.uniform;
  bound.row_exponents = claimed.row_exponents;
  bound.column_exponents = claimed.column_exponents;
  for (std::size_t t = 0; t < terms; ++t) {
    auto& term = bound.terms[t];
    const auto* const x = claimed.rows.data() + 3 * t * rows;
    const auto* const y = claimed.columns.data() + 3 * t * columns;
    for (std::size_t i = 0; i < rows; ++i) term.rows[i] = {.one = x[rows + i], .two = x[i], .max = x[2 * rows + i]};
    for (std::size_t j = 0; j < columns; ++j) term.columns[j] = {.one = y[2 * columns + j], .two = y[j], .max = y[columns + j]};
  }
}

}  // namespace

void check_bound(Findings& findings, const Claims& claims, Expected& expected, bool takes_norms) {
  auto& bounds = expected.bounds;
  std::vector<std::string> terms;
  for (const auto& term : bounds.product.terms) terms.push_back(term.name);
  findings.expect("bound.source", claims.source, expected.source);
  findings.expect("bound.rigorous", claims.rigorous, expected.assumed.empty());
  findings.expect("bound.terms", claims.terms, terms);
  findings.expect("bound.alpha", claims.bound_alpha, bounds.alpha);
  findings.expect("bound.result_factor", claims.result_factor, bounds.result_factor);
  findings.expect("bound.underflow", claims.underflow, bounds.underflow);
  findings.expect("bound.rounded_once", claims.rounded_once, bounds.rounded_once);
  if (takes_norms) {
    take_norms(findings, claims.norms, bounds.product);
  } else {
    check_norms(findings, claims.norms, bounds.product);
  }
}

}  // namespace ozbound::checking
