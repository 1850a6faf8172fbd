// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "candidates.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/detail/residue_choice.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int least_bits = ResidueNeeds::least_bits;

/// Up to this ratio, the worst entry's is at most 1 too: the two differ by less than twenty roundings. Above it, that entry
/// is found before the decision.
constexpr double surely_certified = 1 - 0x1p-40;

/// The same for a norm, which adds m + n roundings: fewer than 2^30, each of less than 2^-51. Entries that are raised to 2^-500
/// count for nothing if the norm allows at least 2^-100.
constexpr double surely_certified_norm = 1 - 0x1p-20;
constexpr Index most_of_norm = Index{1} << 30;
constexpr double most_share_of_norm = 0x1p200;

/// The vectors of one operand that are neither zero nor special, for norms of outer products.
struct VectorSums {
  Index first_of_largest = 0;    ///< the first vector with the largest exponent; 0 if there are no vectors
  double ones = 0, squares = 0;  ///< sums of 4^e and of ||.||_1^2 4^e, e relative to the largest exponent, rounded up

  VectorSums(const Norms& sums, const std::vector<std::int32_t>& exponents) {
    std::optional<std::int32_t> largest;
    for (std::size_t i = 0; i < exponents.size(); ++i)
      if (sums[i] > 0 && (!largest || exponents[i] > *largest))
        largest = exponents[i], first_of_largest = static_cast<Index>(i);
    for (std::size_t i = 0; i < exponents.size(); ++i) {
      if (!(sums[i] > 0)) continue;
      const auto below = std::int64_t{*largest} - exponents[i];
      const double square = below > 500 ? 0x1p-1000 : power_of_two(static_cast<int>(-2 * below));
      ones = add_upper(ones, square);
      squares = add_upper(squares, multiply_upper(multiply_upper(sums[i], sums[i]), square));
    }
  }
};

class ResidueChoice {
 public:
  ResidueChoice(const DecisionProblem& problem, Examination& examination, TargetAllowance& allowance, const CostLimit& limit)
      : problem_(problem),
        examination_(examination),
        allowance_(allowance),
        known_limit_(limit.known),
        limit_(std::min(limit.least, problem.exact_cost())) {}

  Proposal run() {
    const Index k = problem_.k;
    const double cheapest = cost_of({2, least_bits, least_bits});
    if (k > longest_residue_inner || (cheapest > limit_ && cheapest > find_limit())) return {};
    using Kind = Target::Kind;
    const auto kind = problem_.target.kind;
    const bool refines = kind == Kind::relative || kind == Kind::correctly_rounded;
    if (!refines) static_cast<void>(allowance_.get());  // starts work that a device does while the host waits for the facts
    const auto method = kind == Kind::relative ? Method::one_plan : Method::correctly_rounded;
    if (refines) static_cast<void>(allowance_.refined_probes(method));  // a device sends the facts too, and the host waits once
    if (!refines && problem_.most_started > 0) started_ = allowance_.get().start_product(problem_.product, start());
    auto facts = examination_.residue_facts();
    if (!facts) return {};
    find_limit();
    if (started_ != nullptr && !started_->plan()) started_.reset();  // gives its memory back
    facts_ = std::move(*facts);
    needs_.exact_bits_a = facts_.exact_bits_a, needs_.exact_bits_b = facts_.exact_bits_b;
    needs_.largest_units = facts_.largest_units, needs_.k = k;
    if (!refines) return certified();
    return refined(method);
  }

 private:
  double find_limit() { return limit_ = std::min(known_limit_(), problem_.exact_cost()); }

  /// Slices of s digits are expected to meet what asks for 8 s bits, which is one bit more than they hold: a product that is
  /// started in vain costs more than one that is not started.
  [[nodiscard]] ProductStart start() const {
    ProductStart result{problem_.most_started, 2, {}, {0, 0, 0}};
    const auto slices_cost = [this](int bits) {
      const int s = std::min(max_slices, (bits + 7) / 8);
      return problem_.costs.planned(SplitPlan{{Encoding::balanced(), s}, {Encoding::balanced(), s}, s + 1, Accumulation::exact},
                                    problem_.m(), problem_.n(), problem_.k);
    };
    double of_slices = 0;
    int most = 1;  // no plan has a single modulus
    for (int bits = 0; bits <= most_residue_bits; ++bits) {
      if (bits % 8 == 1 && bits / 8 < max_slices) {  // one slice more from here on
        of_slices = slices_cost(bits);
        const auto cheaper = [&](double cost) { return cost <= limit_ && cost < of_slices; };
        while (most < problem_.most_started && cheaper(cost_of({most + 1, bits, bits}))) ++most;
      }
      result.most_by_bits[bits] = static_cast<std::uint8_t>(most);
    }
    return result;
  }

  /// Takes the fewest moduli, from the largest 1-norms over the errors that entries allow. No plan influences these ratios.
  Proposal certified() {
    const auto& allowance = allowance_.get();
    double sure = surely_certified;
    if (allowance.normwise()) {
      sure = find_norm_ratios(allowance) ? surely_certified_norm : 0;
    } else {
      const auto ratios = allowance.largest_ratios({&facts_.column_sums, &facts_.row_sums});
      needs_.of_a = ratios[0], needs_.of_b = ratios[1];
    }
    const auto bits = fewest_bits();
    const int moduli = bits ? needs_.fewest_moduli(residue_halves, *bits) : 0;
    if (moduli == 0) return {};
    const auto spent = needs_.spend(residue_halves, *bits, moduli);
    const ResiduePlan plan{moduli, spent.a, spent.b};
    const double before = needs_.error_ratio(spent);
    Candidate candidate{Method::one_plan, plan, cost_of(plan), ratio_upper_after_rounding(before, problem_.tau, problem_.u),
                        true};
    if (candidate.cost > limit_) return {{candidate}, {}, {}, {}};
    Evidence found{examination_.bound(plan)};
    if (before > sure) {
      auto worst = after_rounding(allowance.worst(found.bound), problem_.tau, problem_.u);
      candidate.ratio = worst.ratio;
      candidate.certifies = candidate.ratio <= 1;
      found.worst = [worst = std::move(worst)] { return worst; };
    }
    if (!candidate.certifies) return {{candidate}, {}, {}, {}};
    if (started_ != nullptr && started_->plan() != plan) started_.reset();
    start_known(allowance, plan);
    return {{candidate}, candidate, "cheapest plan whose bound certifies the target", std::move(found), std::move(started_)};
  }

  /// Sets the ratios of a normwise target from the operands' sums: the norm of an outer product is the product of its vectors'
  /// norms. Entries that are zero count too. Returns false if only a pass over all entries tells what counts, which then sets
  /// the ratios.
  bool find_norm_ratios(const Allowance& allowance) {
    const auto row_sums = fetched(facts_.row_sums), column_sums = fetched(facts_.column_sums);
    const VectorSums rows(row_sums.product.terms.at(0).alternatives.at(0).rows, row_sums.row_exponents);
    const VectorSums columns(column_sums.product.terms.at(0).alternatives.at(0).columns, column_sums.column_exponents);
    // An entry of the largest scale. If it counts, this is the scale of the norm.
    const bool any = rows.ones > 0 && columns.ones > 0;
    const double share = any ? allowance.normwise_share(rows.first_of_largest, columns.first_of_largest, 1) : 0;
    if (!(share > 0 && share <= most_share_of_norm) || problem_.m() + problem_.n() > most_of_norm) {
      const auto ratios = allowance.largest_ratios({&facts_.column_sums, &facts_.row_sums});
      needs_.of_a = ratios[0], needs_.of_b = ratios[1];
      return false;
    }
    const auto norm = [share](double of_rows, double of_columns) {
      return next_up(std::sqrt(multiply_upper(multiply_upper(of_rows, of_columns), share)));
    };
    needs_.of_a = norm(rows.ones, columns.squares);
    needs_.of_b = norm(rows.squares, columns.ones);
    return true;
  }

  /// For each number of moduli, takes the plan with the most bits; of these, the one whose products and exact finish have the
  /// least expected cost.
  Proposal refined(Method method) {
    const auto& probes = allowance_.refined_probes(method);
    const auto column_sums = fetched(facts_.column_sums), row_sums = fetched(facts_.row_sums);
    for (const auto& probe : probes) {
      needs_.of_a = std::max(needs_.of_a, finite_ratio(column_sums, probe));
      needs_.of_b = std::max(needs_.of_b, finite_ratio(row_sums, probe));
    }
    std::vector<ResiduePlan> plans;
    ResidueBits bits{least_bits, least_bits};
    for (int moduli = 2; moduli <= max_moduli; ++moduli)
      if (widen(bits, moduli)) plans.push_back({moduli, bits.a, bits.b});
    // An upper bound of the least cost, from the plan that may leave open a few entries at most, rules out most others soon.
    double least = limit_;
    for (const auto& plan : plans)
      if (!probes.empty() && open_share(method, std::span(probes).first(1), plan) * problem_.exact_cost() <= 1) {
        least = std::min(least, next_up(cost_of(plan) + open_share(method, probes, plan) * problem_.exact_cost()));
        break;
      }
    std::optional<Candidate> best;
    ResiduePlan chosen;
    for (const auto& plan : plans) {
      poll_cancelled();
      const double cost = cost_of(plan);
      if (!(cost < least)) break;
      const double most_open = (least - cost) / problem_.exact_cost();
      const double expected = cost + open_share(method, probes, plan, most_open) * problem_.exact_cost();
      if (expected >= least) continue;
      least = expected;
      best = Candidate{method, plan, expected, method == Method::one_plan ? 1 : problem_.rounded_ratio(), true};
      chosen = plan;
    }
    if (!best) return {};
    if (method == Method::correctly_rounded) start_known(allowance_.of_refined_probes(), chosen);
    return {{*best},
            best,
            method == Method::correctly_rounded ? "residues, Ziv's test, exact finish: no plan alone certifies every entry"
                                                : "residues, then more of them where an entry is not certified",
            {},
            std::move(started_)};
  }

  /// Starts the product under a plan that is expected to be the cheapest way, unless a product is started. With beta, C0 may
  /// have to be copied, for which there must be memory.
  void start_known(const Allowance& allowance, const ResiduePlan& plan) {
    if (started_ != nullptr || problem_.most_started < plan.moduli || !is_zero(problem_.product.beta)) return;
    if (plan.moduli <= start().most_by_bits[(plan.bits_a + plan.bits_b + 1) / 2])
      started_ = allowance.start_product(problem_.product, {plan.moduli, plan.moduli, {}, plan});
  }

  /// The share of entries that a bound is expected to leave open, if signs are random; |C| is then M / sqrt(k). Ziv's test
  /// leaves open the values within E of a midpoint between adjacent numbers, which are at least u |C| apart. A relative target
  /// leaves open those with |C| below E / tau.
  /// @param most the result may be any number above this one if the share is
  [[nodiscard]] double open_share(Method method, std::span<const Probe> probes, const Plan& plan, double most = 1) const {
    constexpr double uniform = infinity;  // plans by residues do not use it
    const double per_ratio = (method == Method::one_plan ? 0x1p-2 : 0x1p-7) * std::sqrt(static_cast<double>(problem_.k));
    double open = 0;
    for (const auto& probe : probes) {
      open += std::min(1.0, per_ratio * ratio_upper(examination_.error_at(plan, uniform, probe.i, probe.j), probe.allowed));
      if (open > 2 * most * static_cast<double>(probes.size())) break;  // whatever the roundings
    }
    return probes.empty() ? 0 : open / static_cast<double>(probes.size());
  }

  [[nodiscard]] double cost_of(const ResiduePlan& plan) const {
    return problem_.costs.planned(plan, problem_.m(), problem_.n(), problem_.k);
  }

  [[nodiscard]] std::optional<ResidueBits> fewest_bits() const {
    auto least = ResidueNeeds::no_choice;
    for (int which = 0; which < ResidueNeeds::choices; ++which) least = std::min(least, needs_.rank(which));
    return least == ResidueNeeds::no_choice ? std::nullopt : std::optional(needs_.ranked(least));
  }

  /// Widens bits that fewer moduli hold to the most that these hold, balanced so that both operands have similar rounding
  /// errors. Returns false, and leaves the bits as they are, if the moduli do not hold them.
  [[nodiscard]] bool widen(ResidueBits& bits, int moduli) const {
    if (!needs_.holds(residue_halves, moduli, bits)) return false;
    const bool known = needs_.of_a > 0 && needs_.of_b > 0;
    for (;;) {
      auto more = bits;
      const bool raises_a = known ? needs_.larger_error_of_a(bits) : bits.a <= bits.b;
      (raises_a ? more.a : more.b) += 1;
      if (std::max(more.a, more.b) > most_residue_bits || !needs_.holds(residue_halves, moduli, more)) return true;
      bits = more;
    }
  }

  /// The ratio; 0 if there is no error, or no error is allowed. @pre the bound lies in host memory.
  static double finite_ratio(const PlanBound& bound, const Probe& probe) {
    const double ratio = ratio_upper(bound.product.upper(probe.i, probe.j), probe.allowed);
    return ratio < infinity ? ratio : 0;
  }

  const DecisionProblem& problem_;
  Examination& examination_;
  TargetAllowance& allowance_;
  const std::function<double()>& known_limit_;
  double limit_;  ///< at first the least that it can be
  ResidueFacts facts_ = {};
  ResidueNeeds needs_ = {};
  std::unique_ptr<StartedProduct> started_;  ///< under a plan that is not known to be the chosen one
};

}  // namespace

Proposal propose_residues(const DecisionProblem& problem, Examination& examination, TargetAllowance& allowance,
                          const CostLimit& limit) {
  return ResidueChoice(problem, examination, allowance, limit).run();
}

}  // namespace ozbound
