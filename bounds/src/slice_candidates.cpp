// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "candidates.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/bounds/truncation_bound.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "plans_by_cost.hpp"

namespace ozbound {
namespace {

class SliceSearch {
 public:
  SliceSearch(const DecisionProblem& problem, const Encoding& encoding, Examination& examination, TargetAllowance& allowance,
              double limit, const Proposal& residues)
      : problem_(problem),
        encoding_(encoding),
        examination_(examination),
        allowance_(allowance),
        limit_(limit),
        exact_(problem.exact_cost()),
        residues_(residues) {}

  Proposal run() {
    const PlansByCost plans(encoding_, problem_.costs, problem_.m(), problem_.n(), problem_.k);
    if (limit_ < plans.cheapest().cost) return {};
    if (problem_.target.kind == Target::Kind::relative)
      choose_refined(plans, Method::one_plan);
    else if (problem_.target.kind == Target::Kind::correctly_rounded ||
             (!choose_certified(plans, allowance_.get()) && !residues_.best))
      choose_refined(plans, Method::correctly_rounded);
    return std::move(proposal_);
  }

 private:
  /// Chooses the cheapest plan whose bound certifies the target for every entry, if it costs no more than the limit, or than
  /// the superaccumulator. Plans are tried on the probe entries first; an entry that refuses a plan joins them. Where residues
  /// certify the target, the cheaper plans are few, and any one entry refuses most of them; others are then probed only if a
  /// plan passes there. A norm asks for several entries, and residues of about a plan's accuracy mostly refuse it already.
  bool choose_certified(PlansByCost plans, const Allowance& allowance) {
    std::vector<Probe> probes;
    const bool of_norm = residues_.evidence && allowance.normwise();
    bool sampled = !residues_.evidence || of_norm || problem_.m() == 0 || problem_.n() == 0;
    if (sampled)
      probes = allowance.probes(4);
    else
      probes.push_back(allowance.probe(problem_.m() / 2, problem_.n() / 2));
    while (!plans.empty()) {
      poll_cancelled();
      const auto [plan, cost] = plans.take();
      if (cost > exact_ || cost > limit_) return false;
      double probed = of_norm ? norm_estimate(finer_residues(plan.a.slices, plan.b.slices), probes, allowance) : 0;
      if (probed <= 1) probed = probe(plan, probes, allowance);
      if (probed <= 1 && !sampled) {
        std::ranges::copy(allowance.probes(4), std::back_inserter(probes));
        sampled = true;
        probed = probe(plan, probes, allowance);
      }
      if (probed <= 1 && of_norm) probed = norm_estimate(plan, probes, allowance);
      note({Method::one_plan, plan, cost, ratio_upper_after_rounding(probed, problem_.tau, problem_.u), false});
      if (probed > 1) continue;
      auto bound = examination_.bound(plan);
      const auto worst = after_rounding(allowance.worst(bound), problem_.tau, problem_.u);
      note({Method::one_plan, plan, cost, worst.ratio, worst.ratio <= 1});
      if (worst.ratio <= 1) {
        proposal_.evidence = {std::move(bound), [found = worst] { return found; }};
        take({Method::one_plan, plan, cost, worst.ratio, true}, "cheapest plan whose bound certifies the target");
        return true;
      }
      probes.push_back(allowance.probe(worst.i, worst.j));
    }
    return false;
  }

  /// The ratio of a normwise target if all entries are like the probes. The ratio itself takes a pass over all entries, for
  /// which few of the plans that are cheaper than residues are good enough. Returns at most 1 if it may be at most 1.
  double norm_estimate(const Plan& plan, const std::vector<Probe>& probes, const Allowance& allowance) {
    constexpr double uncertain = 4;  // of the square
    const double uniform = truncation_a_priori_upper(plan, problem_.product.k());
    double sum = 0;
    for (const auto& probe : probes)
      sum += allowance.normwise_share(probe.i, probe.j, examination_.error_at(plan, uniform, probe.i, probe.j));
    const double entries = static_cast<double>(problem_.m()) * static_cast<double>(problem_.n());
    const double square = sum / static_cast<double>(probes.size()) * entries;
    return square > uncertain ? std::sqrt(square) : std::min(1.0, std::sqrt(square));
  }

  /// For results that are refined entry by entry: chooses the plan with the least expected cost of its products and of
  /// finishing its open entries exactly.
  void choose_refined(PlansByCost plans, Method method) {
    const auto& probes = allowance_.refined_probes(method);
    if (!may_beat_residues(probes)) return;
    // The cheapest plan costs no more than a triangular plan is expected to cost. Most other plans are refused by few probes.
    double limit = cheapest_triangular(probes);
    std::optional<Candidate> best;
    while (!plans.empty()) {
      poll_cancelled();
      const auto [plan, cost] = plans.take();
      if (cost + least_open_share * exact_ > limit) break;
      const double expected = expected_cost(plan, cost, limit, probes);
      if (expected > limit || (best && expected == limit)) continue;
      limit = expected;
      best = Candidate{method, plan, expected, method == Method::one_plan ? 1 : problem_.rounded_ratio(), true};
    }
    if (!best || !(limit < std::min(exact_, limit_))) return;
    note(*best);
    take(*best, method == Method::correctly_rounded ? "slices, Ziv's test, exact finish: no plan alone certifies every entry"
                                                    : "slices, then more of them where an entry is not certified");
  }

  /// Residues with smaller errors than plans of so many slices. A device knows their errors, while it takes long to find facts
  /// of vectors under slicings.
  static ResiduePlan finer_residues(int slices_of_a, int slices_of_b) {
    constexpr int bits_of_slice = 8, uncertain_bits = 4;
    const auto bits = [](int slices) { return std::min(bits_of_slice * slices + uncertain_bits, most_residue_bits); };
    return {2, bits(slices_of_a), bits(slices_of_b)};
  }

  /// False if slices are not expected to be cheaper than the residues that were chosen. The triangular plan costs least among
  /// those with as many slices and no larger errors.
  [[nodiscard]] bool may_beat_residues(const std::vector<Probe>& probes) {
    if (!residues_.best) return true;
    for (int s = 1; s <= max_slices; ++s) {
      const double cost = problem_.costs.planned(triangular(s), problem_.m(), problem_.n(), problem_.k);
      if (cost + least_open_share * exact_ > limit_) return false;
      if (!(expected_cost(finer_residues(s, s), cost, limit_, probes) > limit_)) return true;
    }
    return false;
  }

  [[nodiscard]] SplitPlan triangular(int s) const { return {{encoding_, s}, {encoding_, s}, s + 1, Accumulation::exact}; }

  double probe(const Plan& plan, const std::vector<Probe>& probes, const Allowance& allowance) {
    double worst = 0;
    double total = 0;
    const double uniform = truncation_a_priori_upper(plan, problem_.product.k());
    for (const auto& probe : probes) {
      const double error = examination_.error_at(plan, uniform, probe.i, probe.j);
      worst = std::max(worst, allowance.normwise() ? 0 : ratio_upper(error, probe.allowed));
      if (worst > 1) return worst;
      if (allowance.normwise()) total = std::max(total, allowance.normwise_share(probe.i, probe.j, error));
    }
    return std::max(worst, total);
  }

  /// The least expected cost of plans with s slices each and cut s + 1, or the limit if that is less.
  double cheapest_triangular(const std::vector<Probe>& probes) {
    double least = std::min(exact_, limit_);
    for (int s = 1; s <= max_slices; ++s) {
      poll_cancelled();
      const auto plan = triangular(s);
      const double cost = problem_.costs.planned(plan, problem_.m(), problem_.n(), problem_.k);
      if (cost + least_open_share * exact_ > least) break;
      least = std::min(least, expected_cost(plan, cost, least, probes));
    }
    return least;
  }

  /// The cost of a plan plus the cost of finishing exactly the share of probes whose error bound exceeds their allowance.
  /// Returns any number above `limit` if the cost exceeds `limit`.
  double expected_cost(const Plan& plan, double cost, double limit, const std::vector<Probe>& probes) {
    const double uniform = truncation_a_priori_upper(plan, problem_.product.k());
    double open = 0, expected = cost + least_open_share * exact_;
    for (const auto& probe : probes) {
      if (expected > limit) break;
      if (ratio_upper(examination_.error_at(plan, uniform, probe.i, probe.j), probe.allowed) > 1) ++open;
      expected = cost + std::max(open / static_cast<double>(probes.size()), least_open_share) * exact_;
    }
    return expected;
  }

  /// Keeps the best candidate for each number of products, and the one that certifies. Plans arrive in order of cost.
  void note(const Candidate& candidate) {
    auto& all = proposal_.looked_at;
    const int products = candidate.plan->products();
    const auto like = std::ranges::find_if(
        all, [&](const Candidate& other) { return other.method == candidate.method && other.plan->products() == products; });
    if (like != all.end()) {
      if (!candidate.certifies && candidate.plan != like->plan && candidate.ratio >= like->ratio) return;
      all.erase(like);
    }
    all.push_back(candidate);
  }

  void take(const Candidate& candidate, std::string reason) {
    proposal_.best = candidate;
    proposal_.reason = std::move(reason);
  }

  const DecisionProblem& problem_;
  const Encoding& encoding_;
  Examination& examination_;
  TargetAllowance& allowance_;
  double limit_, exact_;
  const Proposal& residues_;
  Proposal proposal_;
};

}  // namespace

Proposal propose_slices(const DecisionProblem& problem, const Encoding& encoding, Examination& examination,
                        TargetAllowance& allowance, double limit, const Proposal& residues) {
  return SliceSearch(problem, encoding, examination, allowance, limit, residues).run();
}

}  // namespace ozbound
