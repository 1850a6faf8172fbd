// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/json_text.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/recorded_bound.hpp"
#include "ozbound/verify/certificate_check.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/hex_text.hpp"
#include "properties/case_product.hpp"
#include "properties/disturbed.hpp"
#include "properties/exact_number.hpp"
#include "properties/judge.hpp"
#include "properties/properties.hpp"
#include "properties/reference.hpp"
#include "properties/sampling.hpp"

// Checks all claims of a certificate in exact arithmetic, in any floating-point environment of the caller.

namespace ozbound::properties {
namespace {

using exact_arithmetic::Exact;
using exact_arithmetic::power_of_two_exact;

// Exact values.

/// C of a finite case, exactly, and the magnitudes by which targets measure errors.
class ExactCase {
 public:
  explicit ExactCase(const GemmCase& gemm_case)
      : case_(gemm_case), alpha_(gemm_case.alpha), beta_(gemm_case.beta), repeat_{gemm_case.inner_repeat, 0} {}

  [[nodiscard]] Exact value(Index i, Index j) const {
    const auto product = exact_arithmetic::exact_product(case_.a.values, case_.b.values, i, j) * repeat_;
    return alpha_ * product + beta_ * Exact(case_.c0.values(i, j));
  }

  /// M = |alpha||A||B| + |beta||C0|.
  [[nodiscard]] Exact magnitude(Index i, Index j) const {
    Exact sum;
    for (Index l = 0; l < case_.a.values.cols(); ++l)
      sum = sum + (Exact(case_.a.values(i, l)) * Exact(case_.b.values(l, j))).magnitude();
    return alpha_.magnitude() * sum * repeat_ + magnitude_of_c0(i, j);
  }

  [[nodiscard]] Exact magnitude_of_c0(Index i, Index j) const { return (beta_ * Exact(case_.c0.values(i, j))).magnitude(); }

  /// (|alpha| ||a_i||_2 ||b_j||_2)^2.
  [[nodiscard]] Exact squared_norms(Index i, Index j) const {
    Exact row, column;
    for (Index l = 0; l < case_.a.values.cols(); ++l) {
      row = row + square(Exact(case_.a.values(i, l)));
      column = column + square(Exact(case_.b.values(l, j)));
    }
    return square(alpha_) * row * repeat_ * column * repeat_;
  }

  static Exact square(const Exact& x) { return x * x; }

 private:
  const GemmCase& case_;
  Exact alpha_, beta_, repeat_;
};

/// x <= sqrt(y). @pre y >= 0.
bool at_most_root(const Exact& x, const Exact& y) { return x <= Exact() || x * x <= y; }

// A certificate's claims about C.

class Judgement {
 public:
  Judgement(const GemmCase& gemm_case, const StoredMatrix& c, const Certificate& certificate)
      : exact_(gemm_case),
        c_(c),
        certificate_(certificate),
        single_(gemm_case.c.single),
        terms_(static_cast<double>(std::max<Index>(gemm_case.k(), 1))),
        with_scalars_(std::abs(gemm_case.alpha) != 1 || gemm_case.beta != 0),
        roundings_(with_scalars_ ? Exact(static_cast<double>(gemm_case.k() + 3)) : terms_),
        half_eta_(power_of_two_exact(single_ ? -150 : -1075)),
        roundoff_(power_of_two_exact(single_ ? -24 : -53)) {}

  [[nodiscard]] Finding find() const {
    if (certificate_.holds != (certificate_.ratio <= 1))
      return fmt::format("it {} hold, and its ratio is {}", certificate_.holds ? "does" : "does not",
                         hex_text(certificate_.ratio));
    for (Index i = 0; i < c_.rows(); ++i)
      for (Index j = 0; j < c_.cols(); ++j)
        if (auto wrong = find_at(i, j)) return wrong;
    if (certificate_.target.kind == Target::Kind::normwise && std::isfinite(certificate_.ratio)) return find_in_norm();
    return {};
  }

 private:
  [[nodiscard]] Finding find_at(Index i, Index j) const {
    const auto value = exact_.value(i, j);
    const double c = c_.value(i, j);
    const auto rounded = exact_arithmetic::rounded_bits(value, single_);
    if (!std::isfinite(c) && c_.bits(i, j) != rounded) return wrong_entry(c_, i, j, rounded, "not finite; rounded once it is");
    const auto error = error_of(value, c);
    const double bound = certificate_.bound.upper(i, j, c);
    if (!(bound >= 0)) return fmt::format("the bound of entry ({}, {}) is {}", i, j, hex_text(bound));
    if (bound > certificate_.largest_bound)
      return fmt::format("the bound {} of entry ({}, {}) is above the largest, {}", hex_text(bound), i, j,
                         hex_text(certificate_.largest_bound));
    if (std::isfinite(bound) && Exact(bound) < error) return beyond("its bound", i, j, error, bound);
    if (certificate_.target.kind == Target::Kind::correctly_rounded) {
      if (certificate_.holds && c_.bits(i, j) != rounded) return wrong_entry(c_, i, j, rounded, "by cr it is");
    } else if (std::isfinite(certificate_.ratio) && !within_ratio(i, j, error, value)) {
      return beyond("the ratio of what the target allows,", i, j, error, certificate_.ratio);
    }
    return {};
  }

  /// The error. For an overflow, measured from the overflow threshold (docs/derivations/general_bound.md, G6). @pre c is
  /// finite, or the value rounds to c.
  [[nodiscard]] static Exact error_of(const Exact& value, double c) {
    return std::isfinite(c) ? (Exact(c) - value).magnitude() : Exact();
  }

  /// error <= ratio * (the target's allowance) + its underflow, docs/derivations/targets.md (T0), (T8).
  [[nodiscard]] bool within_ratio(Index i, Index j, const Exact& error, const Exact& value) const {
    const Exact ratio(certificate_.ratio), tau(certificate_.target.tau);
    const auto rest = error - half_eta_;
    switch (certificate_.target.kind) {
      case Target::Kind::dgemm: return within_dgemm(error - terms_ * half_eta_, ratio * exact_.magnitude(i, j));
      case Target::Kind::dgemm_typical:
        return at_most_root(rest, roundings_ * ExactCase::square(ratio * roundoff_ * exact_.magnitude(i, j)));
      case Target::Kind::componentwise: return rest <= ratio * tau * exact_.magnitude(i, j);
      case Target::Kind::relative: return rest <= ratio * tau * value.magnitude();
      case Target::Kind::rowcol:
        return at_most_root(rest - ratio * tau * exact_.magnitude_of_c0(i, j),
                            ExactCase::square(ratio * tau) * exact_.squared_norms(i, j));
      case Target::Kind::normwise:
      case Target::Kind::correctly_rounded: break;
    }
    return true;
  }

  /// error <= k u M for +-AB, else gamma_{k+3} M, or 2 (k + 3) u M if that is smaller (T1).
  [[nodiscard]] bool within_dgemm(const Exact& error, const Exact& magnitude) const {
    const auto tau = roundings_ * roundoff_, two = Exact(2.0);
    if (!with_scalars_) return error <= tau * magnitude;
    return two * tau > Exact(1.0) ? error <= two * tau * magnitude : error * (Exact(1.0) - tau) <= tau * magnitude;
  }

  /// ||C^ - C||_F <= ratio tau ||M||_F + sqrt(mn) eta/2.
  [[nodiscard]] Finding find_in_norm() const {
    Exact errors, magnitudes;
    for (Index i = 0; i < c_.rows(); ++i)
      for (Index j = 0; j < c_.cols(); ++j) {
        errors = errors + ExactCase::square(error_of(exact_.value(i, j), c_.value(i, j)));
        magnitudes = magnitudes + ExactCase::square(exact_.magnitude(i, j));
      }
    const auto allowed = ExactCase::square(Exact(certificate_.ratio) * Exact(certificate_.target.tau)) * magnitudes;
    const auto underflow = Exact(static_cast<double>(c_.rows() * c_.cols())) * ExactCase::square(half_eta_);
    // sqrt(e) <= sqrt(a) + sqrt(b) exactly if e - a - b <= sqrt(4 a b).
    if (at_most_root(errors - allowed - underflow, Exact(4.0) * allowed * underflow)) return {};
    return fmt::format("the norm of the error is beyond the ratio {} of what the target allows", hex_text(certificate_.ratio));
  }

  [[nodiscard]] Finding beyond(const char* what, Index i, Index j, const Exact& error, double limit) const {
    return fmt::format("the error of C({}, {}) = {}, {}, is beyond {} {}", i, j, in_hex(c_.value(i, j), c_.bits(i, j)),
                       hex_text(exact_arithmetic::rounded<double>(error)), what, hex_text(limit));
  }

  ExactCase exact_;
  const StoredMatrix& c_;
  const Certificate& certificate_;
  bool single_;
  Exact terms_;
  bool with_scalars_;  ///< C is not +-AB
  Exact roundings_;    ///< of a conventional DGEMM
  Exact half_eta_, roundoff_;
};

// A certificate's record.

bool is_number(const nlohmann::json& json, double x) {
  if (json.is_number()) return bits_of(json.get<double>()) == bits_of(x);
  return json.is_string() && json == (std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf") && !std::isfinite(x);
}

Finding judge_record(const std::string& text, const Certificate& certificate) {
  const auto json = nlohmann::json::parse(text);
  const auto& bound = json.at("bound");
  const std::pair<const char*, std::pair<const nlohmann::json&, double>> numbers[] = {
      {"alpha", {json.at("alpha"), certificate.alpha}},
      {"beta", {json.at("beta"), certificate.beta}},
      {"ratio", {json.at("ratio"), certificate.ratio}},
      {"largest_bound", {json.at("largest_bound"), certificate.largest_bound}},
      {"bound.alpha", {bound.at("alpha"), certificate.bound.alpha}},
      {"bound.result_factor", {bound.at("result_factor"), certificate.bound.result_factor}},
      {"bound.underflow", {bound.at("underflow"), certificate.bound.underflow}}};
  for (const auto& [name, number] : numbers)
    if (!is_number(number.first, number.second))
      return fmt::format("its record has the {} {}, it {}", name, number.first.dump(), hex_text(number.second));
  if (parse_target(json.at("target").get<std::string>()) != certificate.target) return "its record has another target";
  if (json.at("holds") != certificate.holds) return "its record does not say whether it holds";
  return {};
}

/// Checks the bounds that follow from the record and C.
Finding judge_recorded_bound(const std::string& text, const StoredMatrix& c, const Certificate& certificate) {
  const auto recorded = bound_from_json(nlohmann::json::parse(text)).bound;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const double bound = certificate.bound.upper(i, j, c.value(i, j));
      const double found = recorded.upper(i, j, c.value(i, j));
      if (bits_of(found) != bits_of(bound))
        return fmt::format("its record bounds entry ({}, {}) by {}, it by {}", i, j, hex_text(found), hex_text(bound));
    }
  return {};
}

Finding judge_check(const GemmCase& gemm_case, const StoredMatrix& c, const std::string& text) {
  const Judge<ExactOracle> judge(gemm_case);
  const auto check =
      with_view(c, [&](const ResultView& view) { return check_certificate(text, judge.oracle().operands(), view); });
  for (const auto& claim : check.claims)
    if (!claim.holds) return "the checker does not confirm its " + claim.claim + ": " + claim.finding;
  return {};
}

// Ways to a certificate.

struct Way {
  std::string name;
  std::function<Certificate(const RealProduct&, const Engine&)> multiply;
};

Way by_plan(const GemmCase& gemm_case, const Target& target, Method method) {
  Decision decision;
  decision.target = target, decision.method = method, decision.plan = gemm_case.plan;
  decision.m = gemm_case.m(), decision.n = gemm_case.n(), decision.k = gemm_case.k();
  return {to_string(target) + " by the plan",
          [=](const RealProduct& call, const Engine& engine) { return multiply(call, decision, engine); }};
}

Way by_target(const GemmCase& gemm_case) {
  const auto target = target_of(gemm_case);
  const auto encoding = encoding_of(gemm_case);
  return {to_string(target) + " as decided", [=](const RealProduct& call, const Engine& engine) {
            return multiply(call, decide_by(encoding, call, target, engine), engine);
          }};
}

/// True if a decision is possible. It is not if a correctly rounded result misses the target; `relative` below u is refused.
bool can_be_met(const GemmCase& gemm_case) {
  const auto target = target_of(gemm_case);
  return !target.has_tau() || target.tau >= (gemm_case.c.single ? 0x1p-24 : 0x1p-53);
}

/// One of some items, chosen by the seed of the case.
template <class Items>
const auto& one_of(const Items& items, const GemmCase& gemm_case) {
  return items[static_cast<std::size_t>(gemm_case.seed % items.size())];
}

/// True for a long inner dimension, which takes time. Only one way and one environment is checked for such a case.
bool is_long(const GemmCase& gemm_case) { return gemm_case.k() > 10000; }

/// Checks that C and the record are the same in every environment of the caller.
Finding judge_settings(const GemmCase& gemm_case, const Engine& engine, const Way& way, const StoredMatrix& c,
                       const std::string& text) {
  for (const auto& setting : settings) {
    if (is_long(gemm_case) && &setting != &one_of(settings, gemm_case)) continue;
    CaseMemory memory(gemm_case);
    std::string other;
    {
      const Disturbed caller(setting);
      other = json_text(to_json(way.multiply(memory.product(), engine)));
    }
    if (auto wrong = differing(memory.c, c, "rounding to nearest it is")) return fmt::format("{}: {}", setting.name, *wrong);
    if (other != text) return fmt::format("{}: its record is {}, rounding to nearest {}", setting.name, other, text);
  }
  return {};
}

Finding judge_way(const GemmCase& gemm_case, const Engine& engine, const Way& way) {
  CaseMemory memory(gemm_case);
  const auto certificate = way.multiply(memory.product(), engine);
  const auto text = json_text(to_json(certificate));
  if (auto wrong = Judgement(gemm_case, memory.c, certificate).find()) return wrong;
  if (auto wrong = judge_record(text, certificate)) return wrong;
  if (auto wrong = judge_recorded_bound(text, memory.c, certificate)) return wrong;
  if (auto wrong = judge_settings(gemm_case, engine, way, memory.c, text)) return wrong;
  return judge_check(gemm_case, memory.c, text);
}

Finding judge_certificates(const GemmCase& any, const Engine& engine) {
  const auto gemm_case = finite(any);
  std::vector<Way> ways{by_plan(gemm_case, Target::correctly_rounded(), Method::correctly_rounded)};
  if (can_be_met(gemm_case) || target_of(gemm_case).kind != Target::Kind::relative)
    ways.push_back(by_plan(gemm_case, target_of(gemm_case), Method::one_plan));
  if (can_be_met(gemm_case)) ways.push_back(by_target(gemm_case));
  if (is_long(gemm_case)) ways = {one_of(ways, gemm_case)};
  for (const auto& way : ways)
    if (auto wrong = judge_way(gemm_case, engine, way)) return fmt::format("the certificate of {}: {}", way.name, *wrong);
  return {};
}

}  // namespace

Property certificates() {
  return {"certificates",
          "whatever a real product of slices or residues is asked for, by a plan or a target, in any environment of the "
          "caller: |C^ - C| "
          "<= every "
          "entry's bound and <= ratio times what the target allows; it holds exactly where ratio <= 1; no entry is infinite "
          "whose exact value does not round to that; its record reads back as the same numbers, and bounds every entry alike; "
          "a second program confirms it",
          "docs/derivations/general_bound.md (G6); docs/derivations/targets.md (T0), (T8); docs/records.md",
          {.largest = 4, .targets = true, .attacked = true, .plans = PlanKinds::any},
          judge_certificates};
}

}  // namespace ozbound::properties
