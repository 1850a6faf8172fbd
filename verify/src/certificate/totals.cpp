// SPDX-License-Identifier: BSD-3-Clause
#include "totals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "outward.hpp"
#include "parallel.hpp"

namespace ozbound::checking {
namespace {

class Totals {
 public:
  Totals(Findings& findings, const Claims& claims, const Subject& subject, const Expected& expected, const Gathered& gathered,
         bool of_all)
      : findings_(findings), claims_(claims), subject_(subject), expected_(expected), gathered_(gathered), of_all_(of_all) {}

  void counts() const {
    const bool pairs = expected_.in_pairs();
    const Index looked_at = pairs ? gathered_.entries : gathered_.finite;
    const Index all = pairs ? subject_.m() * subject_.n() : subject_.finite_entries;
    count("undecided_entries", claims_.undecided, gathered_.tally.undecided, looked_at, all);
    count("exact_entries", claims_.exact, gathered_.tally.exact, looked_at, all);
  }

  void numbers() const {
    const PlainEnvironment environment;
    const auto found = expected_.ratio(gathered_.tally);
    if (of_all_ || !expected_.ratio_of_entries) {
      findings_.expect("ratio", claims_.ratio, found.ratio);
    } else {
      findings_.say("ratio", claims_.ratio >= found.ratio && claims_.ratio <= 1,
                    text(claims_.ratio) + " is claimed, and the sample has " + text(found.ratio));
      findings_.limit("ratio: by a sample");
    }
    findings_.expect("worst_entry", claims_.worst, entry_of(found.i, found.j, subject_.complex));
    findings_.expect("holds", claims_.holds, claims_.ratio <= 1);
    findings_.expect("assumptions", claims_.assumptions, expected_.assumptions(found));
    findings_.expect("largest_bound", claims_.largest_bound, largest_bound());
  }

  void truths() const {
    findings_.say("c", gathered_.wrong_bits.empty(), gathered_.wrong_bits);
    findings_.say("bound", gathered_.wrong_bound.empty(), gathered_.wrong_bound);
    const auto& identity = gathered_.tally.wrong_identity;
    if (!expected_.plans.empty()) findings_.say("identity", identity.empty(), identity);
    if (expected_.by_residues()) guard();
    if (claims_.holds) target();
    for (const auto& limit : expected_.limits) findings_.limit(limit);
    if (!of_all_) findings_.limit("c, bound, identity, target: by a sample");
  }

 private:
  /// Checks a count over all entries, or against the range that a sample leaves possible.
  void count(const char* claim, Index claimed, Index found, Index looked_at, Index all) const {
    if (of_all_) {
      findings_.expect(claim, claimed, found);
      return;
    }
    const Index most = all - (looked_at - found);
    findings_.say(claim, claimed >= found && claimed <= most,
                  fmt::format("{} is claimed, and the sample leaves {} to {}", claimed, found, most));
    if (found < most) findings_.limit(std::string(claim) + ": by a sample");
  }

  [[nodiscard]] double largest_bound() const {
    std::vector<double> of_rows(at(subject_.m()));
    for_rows(subject_.m(), subject_.n(), [&](Index i) {
      for (Index j = 0; j < subject_.n(); ++j)
        if (subject_.is_finite(i, j)) of_rows[at(i)] = std::max(of_rows[at(i)], expected_.bounds.at(i, j, subject_.c(i, j)));
    });
    return of_rows.empty() ? 0 : *std::max_element(of_rows.begin(), of_rows.end());
  }

  /// Checks that residues determine the sums: for all entries by norms or by level 1, for the examined entries by the sums
  /// themselves.
  void guard() const {
    const auto& wrong = gathered_.tally.wrong_guard;
    findings_.say("guard", expected_.guard.empty() && wrong.empty(), expected_.guard.empty() ? wrong : expected_.guard);
  }

  void target() const {
    if (claims_.target.kind != Target::Kind::normwise) {
      findings_.say("target", gathered_.wrong_target.empty(), gathered_.wrong_target);
      return;
    }
    if (!of_all_) return findings_.limit("target: no sample shows a norm");
    const auto entries = Magnitude::of(static_cast<double>(gathered_.finite));
    const auto halves = Magnitude::of(static_cast<double>(allowed_halves(claims_.target, subject_)));
    const auto half = Magnitude::power_of_two(smallest_exponent(subject_.c.format()) - 1);
    const auto underflow = multiply_lower(sqrt_lower(entries), multiply_lower(halves, half));
    const auto allowed = add_lower(gathered_.allowed.root_lower(), underflow);
    // ||E|| <= ||max(0, E - underflow)|| + ||underflow||: the second comparison sees errors just above a small underflow.
    const bool holds =
        gathered_.errors.root_upper() <= allowed || gathered_.beyond.root_upper() <= gathered_.allowed.root_lower();
    findings_.say("target", holds,
                  fmt::format("the norm of the error is {}, and {:.6g} of what the target allows is {}",
                              to_string(gathered_.errors.root_upper()), claims_.ratio, to_string(allowed)));
  }

  Findings& findings_;
  const Claims& claims_;
  const Subject& subject_;
  const Expected& expected_;
  const Gathered& gathered_;
  bool of_all_;
};

}  // namespace

void check_totals(Findings& findings, const Claims& claims, const Subject& subject, const Expected& expected,
                  const Gathered& gathered, bool of_all) {
  const Totals totals(findings, claims, subject, expected, gathered, of_all);
  totals.counts();
  totals.numbers();
  totals.truths();
}

}  // namespace ozbound::checking
