// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "fold_entries.hpp"
#include "judge.hpp"
#include "target_allowance.hpp"

#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/hex_text.hpp"

namespace ozbound {
namespace {

using namespace judging;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One judged entry.
struct Judged {
  Magnitude error, bound;
  double ratio = 0;
  bool undecided = false;
};

Judged judged(const Magnitude& error, const Magnitude& bound) {
  return {error, bound, to_double_upper(divide_upper(error, bound))};
}

/// The ratio of an error to a bound, which holds although rounding may hide it: then 1.
Judged judged(const Magnitude& error, const Magnitude& bound, bool holds) {
  auto result = judged(error, bound);
  if (holds) result.ratio = std::min(result.ratio, 1.0);
  return result;
}

/// NaN and infinities of the inputs admit no error.
Judged judged_by_class(bool mismatch) { return mismatch ? Judged{Magnitude::infinity(), {}, infinity} : Judged{}; }

Judged judged_rounding(const OracleEntry& entry, double computed) {
  const auto x = Magnitude::of(computed);
  const auto y = Magnitude::of(entry.rounded);
  const bool same_sign = std::signbit(computed) == std::signbit(entry.rounded);
  if (!entry.rounding_known) return {entry.error_upper, {}, infinity, true};
  if (correctly_rounded(entry, computed)) return {};
  return {same_sign ? distance_upper(x, y) : add_upper(x, y), {}, infinity};
}

/// Collects judged entries: counts, and the worst entry.
struct Gathered {
  Verdict verdict;
  SquareSum errors, beyond, allowed;  // of finite entries, for `normwise`; errors, and what they exceed the underflow by

  void add(Index i, Index j, const OracleEntry& entry, double computed, const Judged& judged) {
    ++verdict.entries;
    if (judged.ratio > 1) ++verdict.failures;
    if (special_mismatch(entry, computed)) ++verdict.special_mismatches;
    if (judged.undecided) ++verdict.undecided;
    Verdict candidate;
    candidate.row = i;
    candidate.col = j;
    candidate.computed = computed;
    candidate.exact = entry.rounded;
    candidate.error = judged.error;
    candidate.bound = judged.bound;
    candidate.ratio = judged.ratio;
    keep_worse(candidate);
  }

  void merge(const Gathered& other) {
    verdict.entries += other.verdict.entries;
    verdict.failures += other.verdict.failures;
    verdict.special_mismatches += other.verdict.special_mismatches;
    verdict.undecided += other.verdict.undecided;
    errors.merge_upper(other.errors);
    beyond.merge_upper(other.beyond);
    allowed.merge_lower(other.allowed);
    if (other.verdict.row >= 0) keep_worse(other.verdict);
  }

 private:
  void keep_worse(const Verdict& other) {
    const bool first = verdict.row < 0;
    const bool worse = other.ratio > verdict.ratio || (other.ratio == verdict.ratio && other.error > verdict.error);
    if (!first && !worse) return;
    verdict.row = other.row;
    verdict.col = other.col;
    verdict.computed = other.computed;
    verdict.exact = other.exact;
    verdict.error = other.error;
    verdict.bound = other.bound;
    verdict.ratio = other.ratio;
  }
};

/// Judges every selected entry. Calls judge(i, j, entry, computed) for entries whose kind matches.
template <class Judge>
Gathered gather(const ResultView& c, const Oracle& oracle, const EntrySelection& selection, Judge judge) {
  check_shape(c, oracle);
  return fold_entries(selection, c.rows(), c.cols(), Gathered{}, [&](Gathered& part, Index i, Index j) {
    const double computed = c(i, j);
    const auto entry = oracle.evaluate(i, j, computed, c.format());
    const bool by_class = entry.kind != OracleEntry::Kind::finite || std::isnan(computed);
    part.add(i, j, entry, computed,
             by_class ? judged_by_class(special_mismatch(entry, computed)) : judge(part, i, j, entry, computed));
  });
}

/// Completes the verdict on a product. Its row is that of the judged real product until then.
Verdict finished(Verdict verdict, const Oracle& oracle, const ResultView& c, std::string claim, const JudgeOptions& options) {
  verdict.complex = oracle.operands().complex;
  if (verdict.complex && verdict.row >= 0) verdict.part = both_parts[verdict.row % 2], verdict.row /= 2;
  verdict.claim = std::move(claim);
  verdict.format = c.format();
  verdict.reproduction = options.reproduction;
  return verdict;
}

/// Replaces the worst entry's error and bound by the Frobenius norms. The worst entry is then the one with the largest error.
Verdict judged_normwise(const Gathered& gathered, const TargetAllowance& allowance) {
  auto verdict = gathered.verdict;
  verdict.of_norms = true;
  if (verdict.special_mismatches > 0 || verdict.entries == 0) return verdict;
  const auto entries = Magnitude::of(static_cast<double>(verdict.entries));
  const auto underflow = multiply_lower(sqrt_lower(entries), allowance.underflow());
  verdict.error = gathered.errors.root_upper();
  verdict.bound = add_lower(gathered.allowed.root_lower(), underflow);
  // ||E|| <= ||max(0, E - underflow)|| + ||underflow||
  const bool holds = gathered.beyond.root_upper() <= gathered.allowed.root_lower();
  verdict.ratio = judged(verdict.error, verdict.bound, holds).ratio;
  verdict.failures = verdict.ratio > 1 ? 1 : 0;
  return verdict;
}

std::string approximate(const Magnitude& x) {
  if (x.is_zero() || x.is_infinite() || std::abs(x.exponent) > 1000) return to_string(x);
  return fmt::format("{} (about {:.3g})", to_string(x), to_double_upper(x));
}

const char* name_of(Part part) { return part == Part::real ? "real" : "imaginary"; }

std::string ratio_text(double ratio) { return std::isfinite(ratio) ? fmt::format("{:.6g}", ratio) : "inf"; }

std::string_view format_name(ResultFormat format) { return format == ResultFormat::of_double ? "binary64" : "binary32"; }

}  // namespace

Verdict verify(const ResultView& c, const Oracle& oracle, const std::function<double(Index, Index)>& bound,
               const JudgeOptions& options) {
  const FloatEnvironment environment;
  const auto gathered =
      gather(c, oracle, options.selection, [&](Gathered&, Index i, Index j, const OracleEntry& entry, double) {
        const double allowed = bound(i, j);
        if (!(allowed >= 0)) throw std::invalid_argument(fmt::format("bound({}, {}) must be at least 0: {}", i, j, allowed));
        return judged(entry.error_upper, Magnitude::of(allowed));
      });
  return finished(gathered.verdict, oracle, c, "bound", options);
}

Verdict verify(const ResultView& c, const Oracle& oracle, const Target& target, const JudgeOptions& options) {
  const FloatEnvironment environment;
  if (target.kind == Target::Kind::correctly_rounded) {
    const auto gathered = gather(
        c, oracle, options.selection,
        [](Gathered&, Index, Index, const OracleEntry& entry, double computed) { return judged_rounding(entry, computed); });
    return finished(gathered.verdict, oracle, c, to_string(target), options);
  }
  const TargetAllowance allowance(target, oracle, c.format());
  if (target.kind == Target::Kind::normwise) {
    if (!options.selection.is_all()) throw std::invalid_argument("selection must be all entries for a normwise target");
    const auto gathered =
        gather(c, oracle, options.selection, [&](Gathered& part, Index i, Index j, const OracleEntry& entry, double) {
          part.errors.add_upper(entry.error_upper);
          part.beyond.add_upper(error_beyond_upper(entry, allowance.halves(), c.format()));
          part.allowed.add_lower(allowance.lower(i, j, entry));
          return Judged{entry.error_upper, {}, 0};
        });
    return finished(judged_normwise(gathered, allowance), oracle, c, to_string(target), options);
  }
  const auto gathered =
      gather(c, oracle, options.selection, [&](Gathered&, Index i, Index j, const OracleEntry& entry, double) {
        const auto allowed = allowance.lower(i, j, entry);
        const bool holds = error_is_within(entry, allowed, allowance.halves(), c.format());
        return judged(entry.error_upper, add_lower(allowed, allowance.underflow()), holds);
      });
  return finished(gathered.verdict, oracle, c, to_string(target), options);
}

std::string explain(const Verdict& v) {
  const FloatEnvironment environment;
  auto text = fmt::format("{} {}: error / bound = {}\n", v.claim, v.holds() ? "holds" : "FAILS", ratio_text(v.ratio));
  if (v.of_norms) text += fmt::format("  in the Frobenius norm, relative to {}\n", normwise_measure);
  if (v.row >= 0) {
    const auto part = v.complex ? fmt::format(", {} part", name_of(v.part)) : "";
    text += fmt::format("  worst entry ({}, {}){}, {}, counted from 0\n", v.row, v.col, part, format_name(v.format));
    text += fmt::format("  computed {} ({})\n  exact    {} ({}), rounded once\n", hex_text(v.computed), v.computed,
                        hex_text(v.exact), v.exact);
    text += fmt::format("  error    {}\n  bound    {}\n", approximate(v.error), approximate(v.bound));
  }
  text += fmt::format("  {} {} judged, {} failing, {} NaN or infinity mismatches, {} undecided\n", v.entries,
                      v.complex ? "real and imaginary parts" : "entries", v.failures, v.special_mismatches, v.undecided);
  if (!v.reproduction.empty()) text += fmt::format("  reproduce: {}\n", v.reproduction);
  return text;
}

nlohmann::json to_json(const Verdict& v) {
  const FloatEnvironment environment;
  nlohmann::json json{{"claim", v.claim},
                      {"holds", v.holds()},
                      {"format", format_name(v.format)},
                      {"entries", v.entries},
                      {"failures", v.failures},
                      {"special_mismatches", v.special_mismatches},
                      {"undecided", v.undecided},
                      {"row", v.row},
                      {"col", v.col},
                      {"computed", hex_text(v.computed)},
                      {"exact", hex_text(v.exact)},
                      {"error", to_string(v.error)},
                      {"bound", to_string(v.bound)},
                      {"ratio", v.ratio},
                      {"reproduction", v.reproduction}};
  if (!std::isfinite(v.ratio)) json["ratio"] = "inf";
  if (v.complex) json["part"] = name_of(v.part);
  return json;
}

}  // namespace ozbound
