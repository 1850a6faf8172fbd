// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "candidates.hpp"
#include "ozbound/bounds/detail/entry_allowance.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/detail/outward.hpp"

namespace ozbound {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int least_bits = 7;        ///< of rounded operands: first digits cover no fewer (residues.md, R9)
constexpr int most_spent_bits = 53;  ///< per side, when spare bits are spent: the same on every kernel and device

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

/// Bits of the integers of A and B; exact_a and exact_b are true if the integers equal A or B exactly.
struct Bits {
  int a, b;
  bool exact_a = false, exact_b = false;

  [[nodiscard]] int sum() const { return a + b; }
  /// Fewer bits first, then fewer roundings, then a smaller difference between the two numbers of bits.
  bool operator<(const Bits& other) const {
    const auto key = [](const Bits& bits) {
      return std::tuple(bits.sum(), 2 - (bits.exact_a ? 1 : 0) - (bits.exact_b ? 1 : 0), std::abs(bits.a - bits.b));
    };
    return key(*this) < key(other);
  }
};

/// The smallest p >= least_bits with 2^p >= x; more than most_residue_bits if there is no such p.
int bits_above(double x) {
  int bits = least_bits;
  while (bits <= most_residue_bits && !(power_of_two(bits) >= x)) ++bits;
  return bits;
}

class ResidueChoice {
 public:
  ResidueChoice(const DecisionProblem& problem, Examination& examination, TargetAllowance& allowance, double limit)
      : problem_(problem), examination_(examination), allowance_(allowance), limit_(std::min(limit, problem.exact_cost())) {}

  Proposal run() {
    const Index k = problem_.k;
    if (k > longest_residue_inner || cost_of({2, least_bits, least_bits}) > limit_) return {};
    using Kind = Target::Kind;
    const auto kind = problem_.target.kind;
    const bool refines = kind == Kind::relative || kind == Kind::correctly_rounded;
    if (!refines) static_cast<void>(allowance_.get());  // starts work that a device does while the host waits for the facts
    auto facts = examination_.residue_facts();
    if (!facts) return {};
    facts_ = std::move(*facts);
    if (!refines) return certified();
    return refined(kind == Kind::relative ? Method::one_plan : Method::correctly_rounded);
  }

 private:
  /// Takes the fewest moduli, from the largest 1-norms over the errors that entries allow. No plan influences these ratios.
  Proposal certified() {
    const auto& allowance = allowance_.get();
    double sure = surely_certified;
    if (allowance.normwise()) {
      sure = find_norm_ratios(allowance) ? surely_certified_norm : 0;
    } else {
      const auto ratios = allowance.largest_ratios({&facts_.column_sums, &facts_.row_sums});
      of_a_ = ratios[0], of_b_ = ratios[1];
    }
    const auto bits = fewest_bits();
    const auto moduli = bits ? fewest_moduli(*bits) : std::nullopt;
    if (!moduli) return {};
    const auto spent = spend(*bits, *moduli);
    const ResiduePlan plan{*moduli, spent.a, spent.b};
    const double before = error_ratio(spent);
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
    return {{candidate}, candidate, "cheapest plan whose bound certifies the target", std::move(found)};
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
      of_a_ = ratios[0], of_b_ = ratios[1];
      return false;
    }
    const auto norm = [share](double of_rows, double of_columns) {
      return next_up(std::sqrt(multiply_upper(multiply_upper(of_rows, of_columns), share)));
    };
    of_a_ = norm(rows.ones, columns.squares);
    of_b_ = norm(rows.squares, columns.ones);
    return true;
  }

  /// For each number of moduli, takes the plan with the most bits; of these, the one whose products and exact finish have the
  /// least expected cost.
  Proposal refined(Method method) {
    const auto& probes = allowance_.refined_probes(method);
    const auto column_sums = fetched(facts_.column_sums), row_sums = fetched(facts_.row_sums);
    for (const auto& probe : probes) {
      of_a_ = std::max(of_a_, finite_ratio(column_sums, probe));
      of_b_ = std::max(of_b_, finite_ratio(row_sums, probe));
    }
    std::optional<Candidate> best;
    for (int moduli = 2; moduli <= max_moduli; ++moduli) {
      poll_cancelled();
      const auto bits = widest_bits(moduli);
      if (!bits) continue;
      const ResiduePlan plan{moduli, bits->a, bits->b};
      const double cost = cost_of(plan), least = best ? best->cost : limit_;
      if (!(cost < least)) break;
      const double expected = cost + open_share(method, probes, plan) * problem_.exact_cost();
      if (expected < least)
        best = Candidate{method, plan, expected, method == Method::one_plan ? 1 : problem_.rounded_ratio(), true};
    }
    if (!best) return {};
    return {{*best},
            best,
            method == Method::correctly_rounded ? "residues, Ziv's test, exact finish: no plan alone certifies every entry"
                                                : "residues, then more of them where an entry is not certified",
            {}};
  }

  /// The share of entries that a bound is expected to leave open, if signs are random; |C| is then M / sqrt(k). Ziv's test
  /// leaves open the values within E of a midpoint between adjacent numbers, which are at least u |C| apart. A relative target
  /// leaves open those with |C| below E / tau.
  [[nodiscard]] double open_share(Method method, const std::vector<Probe>& probes, const Plan& plan) const {
    constexpr double uniform = infinity;  // plans by residues do not use it
    const double per_ratio = (method == Method::one_plan ? 0x1p-2 : 0x1p-7) * std::sqrt(static_cast<double>(problem_.k));
    double open = 0;
    for (const auto& probe : probes)
      open += std::min(1.0, per_ratio * ratio_upper(examination_.error_at(plan, uniform, probe.i, probe.j), probe.allowed));
    return probes.empty() ? 0 : open / static_cast<double>(probes.size());
  }

  [[nodiscard]] double cost_of(const ResiduePlan& plan) const {
    return problem_.costs.planned(plan, problem_.m(), problem_.n(), problem_.k);
  }

  /// The fewest bits whose error all entries allow: 2^-p_A x (1 + k 2^-p_B) + 2^-p_B y <= 2 if both operands are rounded.
  [[nodiscard]] std::optional<Bits> fewest_bits() const {
    std::optional<Bits> fewest;
    const auto take = [&fewest](const Bits& bits) {
      if (std::max(bits.a, bits.b) <= most_residue_bits && (!fewest || bits < *fewest)) fewest = bits;
    };
    const double k = to_double_upper(static_cast<std::uint64_t>(problem_.k));
    for (int b = least_bits; b <= most_residue_bits; ++b) {
      const double left = subtract_lower(2, multiply_upper(of_b_, power_of_two(-b)));
      if (!(left > 0)) continue;
      const double asked = divide_upper(multiply_upper(of_a_, add_upper(1, multiply_upper(k, power_of_two(-b)))), left);
      take({bits_above(asked), b});
    }
    const int exact_a = std::max(1, facts_.exact_bits_a), exact_b = std::max(1, facts_.exact_bits_b);
    take({exact_a, bits_above(of_b_ / 2), true, false});
    take({bits_above(of_a_ / 2), exact_b, false, true});
    take({exact_a, exact_b, true, true});
    return fewest;
  }

  /// The largest error of a rounding to these bits over the error that its entry allows, rounded up. fewest_bits requires at
  /// most 1.
  [[nodiscard]] double error_ratio(const Bits& bits) const {
    const double a = bits.exact_a ? 0 : multiply_upper(of_a_, power_of_two(-bits.a - 1));
    if (bits.exact_b) return a;
    const double b = multiply_upper(of_b_, power_of_two(-bits.b - 1));
    const double k = to_double_upper(static_cast<std::uint64_t>(problem_.k));
    return add_upper(multiply_upper(a, add_upper(1, multiply_upper(k, power_of_two(-bits.b)))), b);
  }

  /// @param times factor by which the sums of similar operands may be larger
  [[nodiscard]] bool holds(int moduli, const Bits& bits, std::uint64_t times = 1) const {
    return first_digits_held({moduli, bits.a, bits.b}, times * facts_.largest_units);
  }

  [[nodiscard]] std::optional<int> fewest_moduli(const Bits& bits) const {
    for (int moduli = 2; moduli <= max_moduli; ++moduli)
      if (holds(moduli, bits)) return moduli;
    return std::nullopt;
  }

  /// Adds the spare bits of the moduli except one, each to the operand with the larger rounding error. The plan then also
  /// certifies and holds similar operands.
  [[nodiscard]] Bits spend(Bits bits, int moduli) const {
    for (;;) {
      auto more = bits;
      const bool raises_a = !bits.exact_a && bits.a < most_spent_bits, raises_b = !bits.exact_b && bits.b < most_spent_bits;
      if (!raises_a && !raises_b) return bits;
      const bool larger_a = of_a_ * power_of_two(-bits.a) >= of_b_ * power_of_two(-bits.b);
      (raises_a && (larger_a || !raises_b) ? more.a : more.b) += 1;
      if (!holds(moduli, more, 2)) return bits;
      bits = more;
    }
  }

  /// The most bits that the moduli hold, balanced so that both operands have similar rounding errors.
  [[nodiscard]] std::optional<Bits> widest_bits(int moduli) const {
    Bits bits{least_bits, least_bits};
    if (!holds(moduli, bits)) return std::nullopt;
    const bool known = of_a_ > 0 && of_b_ > 0;
    for (;;) {
      auto more = bits;
      const bool larger_a = known ? of_a_ * power_of_two(-bits.a) >= of_b_ * power_of_two(-bits.b) : bits.a <= bits.b;
      (larger_a ? more.a : more.b) += 1;
      if (std::max(more.a, more.b) > most_residue_bits || !holds(moduli, more)) return bits;
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
  double limit_;
  ResidueFacts facts_ = {};
  double of_a_ = 0, of_b_ = 0;  ///< largest ||b_j||_1, and ||a_i||_1, over the error that an entry allows; or their norms
};

}  // namespace

Proposal propose_residues(const DecisionProblem& problem, Examination& examination, TargetAllowance& allowance, double limit) {
  return ResidueChoice(problem, examination, allowance, limit).run();
}

}  // namespace ozbound
