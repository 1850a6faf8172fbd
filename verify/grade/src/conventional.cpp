// SPDX-License-Identifier: BSD-3-Clause
#include "conventional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fold_entries.hpp"
#include "judge.hpp"
#include "ozbound/verify/hex_text.hpp"

namespace ozbound::grading {
namespace {

using judging::fold_entries;

/// The bound of an entry is factor * scale + underflow, which is some eta/2.
struct Allowance {
  Magnitude factor, underflow;
  std::uint64_t halves = 0;
};

Allowance allowance(const Operands& in) {
  const auto k = static_cast<double>(in.a.cols());
  const bool plain = std::abs(in.alpha) == 1 && in.beta == 0;
  if (plain)
    return {Magnitude::of(k * 0x1p-53), multiply_lower(Magnitude::of(k), Magnitude::power_of_two(-1075)),
            static_cast<std::uint64_t>(in.a.cols())};
  const double roundings = (k + 3) * 0x1p-53;  // exact, as 1 - roundings is for k < 2^52
  return {divide_upper(Magnitude::of(roundings), Magnitude::of(1 - roundings)), {}};
}

/// True if a sum of terms of this size may exceed the largest double on its way, in some order.
bool may_overflow(const OracleEntry& entry) { return entry.scale_upper >= Magnitude::power_of_two(1023); }

struct Gathered {
  Conventional total;

  void add(Index i, Index j, double computed, const OracleEntry& entry, const Allowance& allowed) {
    ++total.entries;
    const bool finite = entry.kind == OracleEntry::Kind::finite;
    if (finite && !std::isfinite(computed) && !entry.error_upper.is_zero() && may_overflow(entry)) {
      if (total.overflowed++ == 0) total.first_overflowed = {i, j, computed, entry.rounded};
      return;
    }
    const auto relative = finite ? multiply_lower(allowed.factor, entry.scale_lower) : Magnitude{};
    const auto bound = finite ? add_lower(relative, allowed.underflow) : Magnitude{};
    const bool holds = finite && error_is_within(entry, relative, allowed.halves, ResultFormat::of_double);
    const double rounded_up = to_double_upper(divide_upper(entry.error_upper, bound));
    const double ratio = holds ? std::min(rounded_up, 1.0) : rounded_up;
    if (ratio > 1) ++total.failures;
    if (total.row < 0 || ratio > total.ratio) note(i, j, computed, entry, bound, ratio);
  }

  void note(Index i, Index j, double computed, const OracleEntry& entry, const Magnitude& bound, double ratio) {
    total.row = i;
    total.col = j;
    total.computed = computed;
    total.exact = entry.rounded;
    total.error = entry.error_upper;
    total.bound = bound;
    total.ratio = ratio;
  }

  void merge(const Gathered& other) {
    auto worst = total.row < 0 || (other.total.row >= 0 && other.total.ratio > total.ratio) ? other.total : total;
    worst.entries = total.entries + other.total.entries;
    worst.failures = total.failures + other.total.failures;
    worst.overflowed = total.overflowed + other.total.overflowed;
    worst.first_overflowed = total.overflowed > 0 ? total.first_overflowed : other.total.first_overflowed;
    total = worst;
  }
};

}  // namespace

Conventional judge_conventional(const ResultView& c, const Oracle& oracle, const EntrySelection& selection) {
  judging::check_shape(c, oracle);
  const auto allowed = allowance(oracle.operands());
  return fold_entries(selection, c.rows(), c.cols(), Gathered{},
                      [&](Gathered& part, Index i, Index j) {
                        const double computed = c(i, j);
                        part.add(i, j, computed, oracle.evaluate(i, j, computed), allowed);
                      })
      .total;
}

namespace {

std::string explain_worst(const Conventional& judged) {
  if (judged.row < 0) return "no entry judged";
  return fmt::format(
      "worst entry ({}, {}): computed {}, exact {}, error {}, bound {}, ratio {:.4g}; {} of {} entries exceed the bound",
      judged.row, judged.col, hex_text(judged.computed), hex_text(judged.exact), to_string(judged.error),
      to_string(judged.bound), judged.ratio, judged.failures, judged.entries);
}

}  // namespace

std::string explain(const Conventional& judged) {
  if (judged.overflowed == 0) return explain_worst(judged);
  const auto& first = judged.first_overflowed;
  return fmt::format("{} of {} entries are infinite or NaN and should not be so, first ({}, {}): computed {}, exact {}; {}",
                     judged.overflowed, judged.entries, first.row, first.col, hex_text(first.computed), hex_text(first.exact),
                     explain_worst(judged));
}

}  // namespace ozbound::grading
