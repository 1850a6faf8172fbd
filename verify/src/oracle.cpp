#include "ozbound/verify/oracle.hpp"

#include <stdexcept>

namespace ozbound {
namespace {

double decided(const OracleEntry& entry) {
  if (!entry.rounding_known) throw std::domain_error("the oracle's precision does not decide how this entry rounds");
  return entry.rounded;
}

}  // namespace

Oracle::Oracle(const Operands& operands) : operands_(operands) {
  if (operands.a.cols() != operands.b.rows()) throw std::invalid_argument("b must have as many rows as a has columns");
  if (operands.beta != 0 && (operands.c0.rows() != rows() || operands.c0.cols() != cols()))
    throw std::invalid_argument("c0 must be m x n where beta is not 0");
}

double Oracle::rounded(Index i, Index j) const { return decided(evaluate(i, j, 0)); }

float Oracle::rounded_float(Index i, Index j) const {
  return static_cast<float>(decided(evaluate(i, j, 0, ResultFormat::binary32)));
}

}  // namespace ozbound
