// SPDX-License-Identifier: BSD-3-Clause
#include "expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "../reference/plan_arithmetic.hpp"
#include "outward.hpp"
#include "parallel.hpp"

namespace ozbound::checking {
namespace {

using Kind = Target::Kind;

// The next plan, for entries that this plan leaves open (docs/records.md).

/// Half as many slices again.
reference::Plan finer(reference::SlicePlan plan) {
  const auto more = [](int slices) { return std::min(20, slices + std::max(2, slices / 2)); };
  plan.a.slices = more(plan.a.slices);
  plan.b.slices = more(plan.b.slices);
  plan.cut = std::min(plan.a.slices + plan.b.slices, std::max(plan.a.slices, plan.b.slices) + 1);
  plan.accumulation = reference::Accumulation::exact;
  for (auto* const slicing : {&plan.a, &plan.b})
    if (slicing->digits == reference::Digits::nearest_adaptive) slicing->digits = reference::Digits::nearest;
  return plan;
}

/// H in units of 2^(bits_a + bits_b - 32), rounded down, at most 2^64 - 1 (residues.md, R8).
cpp_int guard_limit(const reference::ResiduePlan& plan) {
  const cpp_int most = (cpp_int(1) << 64) - 1;
  const auto unit = ExactNumber{reference::largest_told(plan.moduli), 32 - plan.bits_a - plan.bits_b};
  return std::min(most, whole_multiple(unit, 0));
}

/// Half as many moduli again, and as many more bits as still hold all products that `plan` holds (residues.md, R13).
reference::Plan finer(const reference::ResiduePlan& plan) {
  auto next = plan;
  next.moduli = std::min(reference::most_moduli, plan.moduli + std::max(2, plan.moduli / 2));
  if (next.moduli == plan.moduli) return plan;
  const auto limit = guard_limit(plan);
  for (auto more = next;; next = more) {
    ++(more.bits_a <= more.bits_b ? more.bits_a : more.bits_b);
    if (std::max(more.bits_a, more.bits_b) > 120 || guard_limit(more) < limit) return next;
  }
}

/// True if `next` is a further plan. If it equals the plan before, there are no further plans.
bool follows(const Plan& next, const Plan& before) {
  const auto text = reference::to_string(std::visit([](const auto& kind) { return finer(kind); }, before.plan));
  return next.text == text && next.text != before.text;
}

/// The exact product, rounded once. If a scalar leaves no entry finite, no product at all.
class Exact final : public Expected {
 public:
  using Expected::Expected;

  std::optional<double> entry(Tally& tally, EntryProducts&, Index, Index, const OracleEntry& truth) const override {
    ++tally.exact;
    return truth.rounded;
  }
};

}  // namespace

double EntryBounds::at(Index i, Index j, double c) const {
  const double rounding = std::isfinite(c) ? product_up(result_factor, std::fabs(c)) : 0;
  return sum_up(error_times_alpha(product, alpha, i, j),
                rounded_once ? std::max(rounding, underflow) : sum_up(rounding, underflow));
}

void Tally::merge(const Tally& other) {
  undecided += other.undecided, exact += other.exact;
  relative_ratio = std::max(relative_ratio, other.relative_ratio);
  if (wrong_identity.empty()) wrong_identity = other.wrong_identity;
  if (wrong_guard.empty()) wrong_guard = other.wrong_guard;
}

Expected::Expected(const Claims& claims, const Subject& subject)
    : source("correctly rounded: u |C^| or eta/2"), claims_(claims), subject_(subject), tau_(subject.tau(claims)) {
  for (const auto& plan : claims.plans) {
    plans.emplace_back(plan.plan, subject.operands);
    if (guard.empty()) guard = plans.back().not_held();
  }
  const double least = subject.c.format() == ResultFormat::of_double ? 0x1p-1074 : 0x1p-150;
  bounds = {{{}, infinity, std::vector<int>(at(subject.m())), std::vector<int>(at(subject.n()))},
            subject.complex_scalars ? 1 : subject.operands.alpha,
            subject.u,
            least,
            true};
}

double Expected::rounding_ratio() const { return tau_ >= subject_.u ? std::min(1.0, quotient_up(subject_.u, tau_)) : infinity; }

WorstRatio Expected::ratio(const Tally&) const { return {claims_.target.kind == Kind::cr ? 1 : rounding_ratio()}; }

std::vector<std::string> Expected::assumptions(const WorstRatio&) const { return assumed; }

void Expected::compare(Tally& tally, const ExactNumber& error, const RelativeBound& bound, Index i, Index j) const {
  const double relative = bound.at(i, j);
  if (relative == infinity || (times_power(relative, bound.scale(i, j)) + -absolute(error)).number >= 0) return;
  note(tally.wrong_identity, subject_, i, j,
       "AB and the sum of the plan's products are " + reference::exact_text(absolute(error)) + " apart, above their bound " +
           text(relative) + fmt::format(" times 2^{}", bound.scale(i, j)));
}

bool Expected::by_residues() const {
  return std::any_of(plans.begin(), plans.end(), [](const Planned& plan) { return plan.by_residues(); });
}

void Expected::look_at_guard(Tally& tally, Index i, Index j) const {
  if (subject_.operands.a.cols() == 0) return;
  for (std::size_t t = 0; t < plans.size(); ++t)
    for (const auto& [alpha, row] : product_terms(subject_.operands, i))
      if (!plans[t].holds(row, j))
        note(tally.wrong_guard, subject_, i, j,
             "sum |a' b'| of " + claims_.plans[t].text + " is above half the product of the moduli");
}

bool check_method(Findings& findings, const Claims& claims, const Subject& subject) {
  const auto count = claims.plans.size();
  const bool relative = claims.target.kind == Kind::relative;
  const bool sliced = !subject.all_special && (claims.method == Method::slices || claims.method == Method::correctly_rounded);
  const bool refined = claims.method == Method::correctly_rounded || relative;
  bool fits = sliced ? (refined ? count >= 1 : count == 1) : count == 0;
  for (std::size_t t = 1; fits && t < count; ++t) fits = follows(claims.plans[t], claims.plans[t - 1]);
  const bool long_for_residues = subject.operands.a.cols() > reference::longest_residue_inner;
  for (const auto& plan : claims.plans)
    fits = fits && !(long_for_residues && std::holds_alternative<reference::ResiduePlan>(plan.plan));
  findings.say("plans", fits, fmt::format("{} plans, or their order, do not go with the method and the target", count));
  const bool runs_native = claims.method == Method::native && !subject.all_special;
  const bool in_floats = !claims.narrow || (claims.schema >= 5 && runs_native && all_floats(subject.operands));
  const bool native = runs_native ? !claims.native.empty() && in_floats : claims.native.empty();
  findings.say("native", native,
               runs_native ? "a native GEMM has a name, and one of binary32 operands of binary32" : "no native DGEMM ran");
  const bool takes_relative = sliced && claims.method == Method::slices && relative;
  const bool attainable = !takes_relative || subject.tau(claims) >= subject.u;
  const bool possible = !(subject.complex_scalars && claims.method == Method::native);
  findings.say("method", attainable && possible,
               possible ? "slices meet no relative target below u" : "native DGEMM has no complex alpha or beta");
  return fits && native && attainable && possible;
}

std::unique_ptr<Expected> expected_of(const Claims& claims, const Subject& subject) {
  if (subject.all_special) return std::make_unique<Exact>(claims, subject);
  switch (claims.method) {
    case Method::slices:
      if (claims.target.kind != Kind::relative) return by_one_plan(claims, subject);
      // with complex scalars, correct rounding meets the target
      return subject.complex_scalars ? correctly_rounded(claims, subject) : within_relative_target(claims, subject);
    case Method::correctly_rounded: return correctly_rounded(claims, subject);
    case Method::native: return by_native(claims, subject);
    case Method::exact: break;
  }
  return std::make_unique<Exact>(claims, subject);
}

double error_times_alpha(const RelativeBound& error, double alpha, Index i, Index j) {
  const double relative = error.at(i, j);
  if (relative == infinity) return relative;
  return product_up(Wide::of(alpha), Wide{relative, error.scale(i, j)}).value_up();
}

ExactNumber times_power(double x, std::int64_t exponent) {
  auto number = exact(x);
  number.exponent += exponent;
  return number;
}

}  // namespace ozbound::checking
