// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/oracle.hpp"

#include <algorithm>
#include <stdexcept>

#include "plain_environment.hpp"

namespace ozbound {
namespace {

double decided(const OracleEntry& entry) {
  if (!entry.rounding_known) throw std::domain_error("the oracle's precision does not decide how this entry rounds");
  return entry.rounded;
}

}  // namespace

namespace {

/// The terms with a scalar's real and imaginary part, for a row of real or of imaginary parts.
RowTerms terms_of(double real, double imaginary, Index i) {
  const checking::PlainEnvironment environment;
  RowTerms terms;
  if (real != 0) terms.terms[terms.count++] = {real, i};
  const bool real_row = i % 2 == 0;
  if (imaginary != 0) terms.terms[terms.count++] = {real_row ? -imaginary : imaginary, real_row ? i + 1 : i - 1};
  return terms;
}

}  // namespace

Magnitude error_beyond_upper(const OracleEntry& entry, std::uint64_t halves, ResultFormat format) {
  if (entry.error_upper.is_infinite()) return entry.error_upper;
  if (halves > entry.error_halves) return {};
  const auto whole = Magnitude::of(static_cast<double>(entry.error_halves - halves));
  const auto half = Magnitude::power_of_two(smallest_exponent(format) - 1);
  return std::min(entry.error_upper, add_upper(multiply_upper(whole, half), entry.error_rest_upper));
}

bool error_is_within(const OracleEntry& entry, const Magnitude& allowed, std::uint64_t halves, ResultFormat format) {
  const auto half = Magnitude::power_of_two(smallest_exponent(format) - 1);
  const auto underflow = multiply_lower(Magnitude::of(static_cast<double>(halves)), half);
  return entry.error_upper <= add_lower(allowed, underflow) || error_beyond_upper(entry, halves, format) <= allowed;
}

RowTerms product_terms(const Operands& operands, Index i) { return terms_of(operands.alpha, operands.imaginary_alpha, i); }
RowTerms c0_terms(const Operands& operands, Index i) { return terms_of(operands.beta, operands.imaginary_beta, i); }

Oracle::Oracle(const Operands& operands) : operands_(operands) {
  const checking::PlainEnvironment environment;
  if (operands.a.cols() != operands.b.rows()) throw std::invalid_argument("b must have as many rows as a has columns");
  if (operands.imaginary_alpha != 0 || operands.imaginary_beta != 0) operands_.complex = true;
  if (operands_.complex && rows() % 2 != 0)
    throw std::invalid_argument("a must have an even number of rows for a complex product");
  const bool reads_c0 = operands.beta != 0 || operands.imaginary_beta != 0;
  if (reads_c0 && (operands.c0.rows() != rows() || operands.c0.cols() != cols()))
    throw std::invalid_argument("c0 must be m x n where beta is not 0");
}

OracleEntry Oracle::evaluate(Index i, Index j, double computed, ResultFormat format) const {
  const checking::PlainEnvironment environment;
  return judge(i, j, computed, format);
}

double Oracle::rounded(Index i, Index j) const { return decided(evaluate(i, j, 0)); }

float Oracle::rounded_float(Index i, Index j) const {
  const checking::PlainEnvironment environment;
  return static_cast<float>(decided(evaluate(i, j, 0, ResultFormat::of_float)));
}

}  // namespace ozbound
