// SPDX-License-Identifier: BSD-3-Clause
#include "entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "../fold_entries.hpp"
#include "outward.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "parallel.hpp"

namespace ozbound::checking {
namespace {

using Kind = Target::Kind;

std::vector<Magnitude> euclidean(MatrixView<const double> vectors) {
  std::vector<Magnitude> norms;
  for (Index i = 0; i < vectors.rows(); ++i) {
    judging::SquareSum squares;
    for (Index l = 0; l < vectors.cols(); ++l)
      if (std::isfinite(vectors(i, l))) squares.add_lower(Magnitude::of(vectors(i, l)));
    norms.push_back(squares.root_lower());
  }
  return norms;
}

class Entries {
 public:
  Entries(const Claims& claims, const Subject& subject, const Expected& expected)
      : claims_(claims), subject_(subject), expected_(expected), tau_(subject.tau(claims)) {
    const auto& given = subject.given;
    if (claims.target.kind != Kind::rowcol || (given.alpha == 0 && given.imaginary_alpha == 0)) return;
    row_norms_ = euclidean(given.a);
    column_norms_ = euclidean(given.b.transposed());
  }

  void look_at(Gathered& part, Index i, Index j) const {
    const double c = subject_.c(i, j);
    const auto truth = subject_.oracle.evaluate(i, j, c, subject_.c.format());
    ++part.entries;
    const bool finite = subject_.is_finite(i, j);
    EntryProducts products(subject_, expected_.plans, j);
    if (finite) ++part.finite;
    const auto value = finite ? expected_.entry(part.tally, products, i, j, truth) : std::optional(truth.rounded);
    expected_.count_pair(part.tally, products, i, j);
    if (finite && subject_.operands.a.cols() > 0) expected_.look_at_identity(part.tally, products, i, j);
    if (finite) expected_.look_at_guard(part.tally, i, j);
    if (value && !same(c, *value))
      note(part.wrong_bits, subject_, i, j, fmt::format("C is {}, and the method gives {}", hex_text(c), hex_text(*value)));
    if (!finite) return;
    const double bound = expected_.bounds.at(i, j, c);
    if (truth.error_upper > Magnitude::of(bound))
      note(part.wrong_bound, subject_, i, j,
           "the error is " + to_string(truth.error_upper) + ", above its bound " + text(bound));
    judge_target(part, i, j, c, truth);
  }

 private:
  void judge_target(Gathered& part, Index i, Index j, double c, const OracleEntry& truth) const {
    if (!claims_.holds) return;
    if (claims_.target.kind == Kind::cr) {
      if (!same(c, truth.rounded))
        note(part.wrong_target, subject_, i, j,
             fmt::format("{} is not {}, the correct rounding", hex_text(c), hex_text(truth.rounded)));
      return;
    }
    const auto allowed = of_ratio(claims_.ratio, allowance(i, j, truth));
    const auto halves = allowed_halves(claims_.target, subject_);
    if (claims_.target.kind == Kind::normwise) {
      part.errors.add_upper(truth.error_upper);
      part.beyond.add_upper(error_beyond_upper(truth, halves, subject_.c.format()));
      part.allowed.add_lower(allowed);
    } else if (!error_is_within(truth, allowed, halves, subject_.c.format())) {
      note(part.wrong_target, subject_, i, j,
           fmt::format("the error is {}, and {:.6g} of what the target allows is {}", to_string(truth.error_upper),
                       claims_.ratio, to_string(allowed)));
    }
  }

  /// tau times M, or times the quantity that the target uses in place of M.
  [[nodiscard]] Magnitude allowance(Index i, Index j, const OracleEntry& truth) const {
    const auto tau = Magnitude::of(tau_);
    if (claims_.target.kind == Kind::relative) return multiply_lower(tau, truth.value_lower);
    if (claims_.target.kind != Kind::rowcol) return multiply_lower(tau, truth.scale_lower);
    const auto& given = subject_.given;
    Magnitude sum;
    for (const auto& [alpha, row] : product_terms(given, i))
      if (std::isfinite(alpha))
        sum = add_lower(sum, multiply_lower(Magnitude::of(alpha), multiply_lower(row_norms_[at(row)], column_norms_[at(j)])));
    for (const auto& [beta, row] : c0_terms(given, i))
      sum = add_lower(sum, multiply_lower(Magnitude::of(beta), Magnitude::of(given.c0(row, j))));
    return multiply_lower(tau, sum);
  }

  const Claims& claims_;
  const Subject& subject_;
  const Expected& expected_;
  double tau_;
  std::vector<Magnitude> row_norms_, column_norms_;  ///< only for rowcol
};

}  // namespace

void Gathered::merge(const Gathered& other) {
  entries += other.entries, finite += other.finite;
  tally.merge(other.tally);
  for (const auto part : {&Gathered::wrong_bits, &Gathered::wrong_bound, &Gathered::wrong_target})
    if ((this->*part).empty()) this->*part = other.*part;
  errors.merge_upper(other.errors);
  beyond.merge_upper(other.beyond);
  allowed.merge_lower(other.allowed);
}

Gathered look_at_entries(const Claims& claims, const Subject& subject, const Expected& expected,
                         const CertificateCheckOptions& options) {
  const Entries entries(claims, subject, expected);
  const Index m = subject.m(), n = subject.n();
  const Index total = options.selection.is_all() ? m * n : static_cast<Index>(options.selection.positions(m, n).size());
  std::atomic<Index> done = 0;
  return judging::fold_entries(options.selection, m, n, Gathered{}, [&](Gathered& part, Index i, Index j) {
    entries.look_at(part, i, j);
    if (options.progress) options.progress(static_cast<double>(++done) / static_cast<double>(total));
  });
}

std::uint64_t allowed_halves(const Target& target, const Subject& subject) {
  return target.kind == Kind::dgemm ? static_cast<std::uint64_t>(std::max<Index>(subject.given.a.cols(), 1)) : 1;
}

/// The ratio is rounded down in at most three operations of 2^-52 each.
Magnitude of_ratio(double ratio, const Magnitude& allowed) {
  const double share = ratio * (1 + 0x1p-49);
  return share < 1 ? multiply_lower(Magnitude::of(share), allowed) : allowed;
}

}  // namespace ozbound::checking
