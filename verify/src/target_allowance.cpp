// SPDX-License-Identifier: BSD-3-Clause
#include "target_allowance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "certificate/outward.hpp"
#include "judge.hpp"
#include "ozbound/core/detail/first_exception.hpp"
#include "plain_environment.hpp"

namespace ozbound::judging {
namespace {

/// The 2-norms of the rows, rounded down. A row that is not finite gets 0, because its entries are judged by class.
std::vector<Magnitude> row_norms_lower(const MatrixView<const double>& matrix) {
  std::vector<Magnitude> norms(static_cast<std::size_t>(matrix.rows()));
  FirstException failure;
#pragma omp parallel for if (matrix.rows() * matrix.cols() > 10000)
  for (Index i = 0; i < matrix.rows(); ++i)
    failure.run([&] {
      const checking::PlainEnvironment environment;
      SquareSum squares;
      bool finite = true;
      for (Index l = 0; finite && l < matrix.cols(); ++l) {
        finite = std::isfinite(matrix(i, l));
        if (finite) squares.add_lower(Magnitude::of(matrix(i, l)));
      }
      if (finite) norms[static_cast<std::size_t>(i)] = squares.root_lower();
    });
  failure.rethrow();
  return norms;
}

}  // namespace

TargetAllowance::TargetAllowance(const Target& target, const Oracle& oracle, ResultFormat format)
    : kind_(target.kind), oracle_(oracle), tau_(Magnitude::of(target.tau)) {
  underflow_ = Magnitude::power_of_two(smallest_exponent(format) - 1);
  const auto& in = oracle.operands();
  const bool with_scalars =
      in.imaginary_alpha == 0 && in.imaginary_beta == 0 && !(checking::unit(in.alpha) && in.beta == 0);  // targets.md, T0
  const Index terms = std::max<Index>(oracle.inner(), 1), roundings = with_scalars ? oracle.inner() + 3 : terms;
  const double u = unit_roundoff(format);
  const auto some = Magnitude::of(static_cast<double>(roundings));
  if (kind_ == Target::Kind::dgemm) {
    tau_ = with_scalars ? Magnitude::of(checking::gamma_down(static_cast<std::uint64_t>(roundings), u))
                        : multiply_lower(some, Magnitude::of(u));
    halves_ = static_cast<std::uint64_t>(terms);
    underflow_ = multiply_lower(Magnitude::of(static_cast<double>(terms)), underflow_);
  }
  if (kind_ == Target::Kind::dgemm_typical) tau_ = multiply_lower(sqrt_lower(some), Magnitude::of(u));
  if (kind_ == Target::Kind::rowcol && (in.alpha != 0 || in.imaginary_alpha != 0)) {
    row_norms_ = row_norms_lower(in.a);
    column_norms_ = row_norms_lower(in.b.transposed());
  }
}

Magnitude TargetAllowance::rowcol_lower(Index i, Index j) const {
  const auto& in = oracle_.operands();
  Magnitude sum;
  for (const auto& [alpha, row] : product_terms(in, i)) {
    if (!std::isfinite(alpha)) continue;
    const auto norms = multiply_lower(row_norms_[static_cast<std::size_t>(row)], column_norms_[static_cast<std::size_t>(j)]);
    sum = add_lower(sum, multiply_lower(Magnitude::of(alpha), norms));
  }
  for (const auto& [beta, row] : c0_terms(in, i))
    sum = add_lower(sum, multiply_lower(Magnitude::of(beta), Magnitude::of(in.c0(row, j))));
  return sum;
}

Magnitude TargetAllowance::lower(Index i, Index j, const OracleEntry& entry) const {
  switch (kind_) {
    case Target::Kind::dgemm:
    case Target::Kind::dgemm_typical:
    case Target::Kind::componentwise:
    case Target::Kind::normwise: return multiply_lower(tau_, entry.scale_lower);
    case Target::Kind::rowcol: return multiply_lower(tau_, rowcol_lower(i, j));
    case Target::Kind::relative: return multiply_lower(tau_, entry.value_lower);
    case Target::Kind::correctly_rounded: break;
  }
  throw std::invalid_argument("target allows no error");
}

}  // namespace ozbound::judging
