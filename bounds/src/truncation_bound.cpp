// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/truncation_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "ozbound/bounds/detail/plan_terms.hpp"
#include "ozbound/bounds/residue_bound.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

double pow2(int exponent) { return exponent >= -1022 ? power_of_two(exponent) : std::ldexp(1.0, exponent); }

/// a_p: the largest |slice p| over rho.
double slice_magnitude(const Encoding& encoding, int p) {
  const int top = -encoding.radix_bits() * (p - 1);
  switch (encoding.kind) {
    case Encoding::Kind::truncated: return pow2(top) - pow2(top - encoding.radix_bits());
    case Encoding::Kind::ozimmu: return (p == 1 ? 1 : 2 * pow2(top)) - 2 * pow2(top - encoding.radix_bits());
    case Encoding::Kind::unsigned8: return p == 1 ? 1 : 2 * pow2(top) - 2 * pow2(top - encoding.radix_bits());
    case Encoding::Kind::nearest:
    case Encoding::Kind::nearest_adaptive:
    case Encoding::Kind::balanced: return pow2(top);
  }
  return std::numeric_limits<double>::infinity();
}

/// t_p: the largest |tail after p of s slices| over rho; t_0 = 1.
double tail_magnitude_upper(const Slicing& slicing, int p) {
  const int radix = slicing.encoding.radix_bits();
  if (p == 0) return 1;
  const double tail = pow2(-radix * p), last = pow2(-radix * slicing.slices);
  switch (slicing.encoding.kind) {
    case Encoding::Kind::truncated:
    case Encoding::Kind::nearest:
    case Encoding::Kind::nearest_adaptive: return tail;
    case Encoding::Kind::ozimmu:
    case Encoding::Kind::unsigned8: return 2 * tail;
    case Encoding::Kind::balanced:
      return p == slicing.slices ? last : add_upper(multiply_upper(next_up(256.0 / 255.0), next_up(tail - last)), last);
  }
  return std::numeric_limits<double>::infinity();
}

/// Gives norms_of_part access to one vector's facts.
class PartsOf {
 public:
  PartsOf(const VectorFacts& facts, const Slicing& slicing) : facts_(facts), slicing_(slicing) {}

  [[nodiscard]] int slices() const { return slicing_.slices; }
  [[nodiscard]] const IntegerNorms& vector() const { return facts_.vector; }
  [[nodiscard]] const IntegerNorms& slice(int p) const { return facts_.slices[static_cast<std::size_t>(p - 1)]; }
  [[nodiscard]] const IntegerNorms& tail(int p) const { return facts_.tails[static_cast<std::size_t>(p - 1)]; }
  [[nodiscard]] int weight_exponent(int p) const { return facts_.weight_exponent(slicing_.encoding, p); }

 private:
  const VectorFacts& facts_;
  const Slicing& slicing_;
};

/// Collects terms over all rows and columns.
class TermCollector {
 public:
  TermCollector(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, const SplitPlan& plan)
      : rows_(rows), columns_(columns), plan_(plan) {}

  void operator()(const char* name, const VectorPart& row, const VectorPart& column) const {
    const auto of_rows = norms_of(rows_, plan_.a, row), of_columns = norms_of(columns_, plan_.b, column);
    BoundTerm term{name, {}};
    for (const auto& [of_row, of_column] : dual_norms) term.alternatives.push_back({of_rows[of_row], of_columns[of_column]});
    terms.push_back(std::move(term));
  }

  mutable std::vector<BoundTerm> terms;

 private:
  /// The three norms of a part, for all vectors.
  static std::array<Norms, 3> norms_of(std::span<const VectorFacts> vectors, const Slicing& slicing, const VectorPart& part) {
    std::array<std::vector<double>, 3> numbers;
    for (auto& of : numbers) of.reserve(vectors.size());
    for (const auto& facts : vectors) {
      const auto norms = norms_of_part(PartsOf(facts, slicing), part);
      for (std::size_t h = 0; h < numbers.size(); ++h) numbers[h].push_back(norms.of[h]);
    }
    return {std::move(numbers[0]), std::move(numbers[1]), std::move(numbers[2])};
  }

  std::span<const VectorFacts> rows_, columns_;
  const SplitPlan& plan_;
};

double a_priori(const SplitPlan& plan, Index k) {
  double sum = tail_magnitude_upper(plan.a, plan.a.slices);
  for (int p = 1; p <= plan.a.slices; ++p)
    sum = add_upper(sum, multiply_upper(slice_magnitude(plan.a.encoding, p), tail_magnitude_upper(plan.b, plan.last_b(p))));
  return multiply_upper(to_double_upper(static_cast<std::uint64_t>(k)), sum);
}

}  // namespace

double truncation_a_priori_upper(const Plan& plan, Index k) {
  const FloatEnvironment environment;
  return plan.visit([k](const SplitPlan& slices) { return a_priori(slices, k); },
                    [k](const ResiduePlan& residues) { return residue_a_priori_upper(residues, k); });
}

EntryBound truncation_a_posteriori_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns,
                                         const SplitPlan& plan) {
  const FloatEnvironment environment;
  const TermCollector collect(rows, columns, plan);
  for_each_truncation_term(plan, collect);
  return {std::move(collect.terms)};
}

EntryBound accumulation_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, const SplitPlan& plan,
                              Index k) {
  const FloatEnvironment environment;
  const TermCollector collect(rows, columns, plan);
  for_each_accumulation_term(plan, k, collect);
  return {std::move(collect.terms)};
}

EntryBound plan_error_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, const SplitPlan& plan,
                            Index k) {
  const FloatEnvironment environment;
  const TermCollector collect(rows, columns, plan);
  for_each_truncation_term(plan, collect);
  for_each_accumulation_term(plan, k, collect);
  EntryBound bound{std::move(collect.terms)};
  if (plan.accumulation == Accumulation::exact) bound.uniform = a_priori(plan, k);
  return bound;
}

EntryBound summation_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, double factor) {
  const FloatEnvironment environment;
  const SplitPlan any;  // the parts are whole vectors, so the plan does not matter
  const TermCollector collect(rows, columns, any);
  collect("native summation", {VectorPart::Kind::vector_times_factor, 0, factor}, {VectorPart::Kind::tail, 0});
  return {std::move(collect.terms)};
}

double entry_error_upper(const VectorFacts& row, const VectorFacts& column, const SplitPlan& plan, Index k) {
  const double uniform = plan.accumulation == Accumulation::exact ? a_priori(plan, k) : std::numeric_limits<double>::infinity();
  return entry_error_upper(row, column, plan, k, uniform);
}

double entry_error_upper(const VectorFacts& row, const VectorFacts& column, const SplitPlan& plan, Index k, double uniform) {
  double total = 0;
  const PartsOf row_parts(row, plan.a), column_parts(column, plan.b);
  const auto add = [&](const char*, const VectorPart& row_part, const VectorPart& column_part) {
    const auto x = norms_of_part(row_parts, row_part), y = norms_of_part(column_parts, column_part);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [first, second] : dual_norms) least = std::min(least, multiply_upper(x.of[first], y.of[second]));
    total = add_upper(total, least);
  };
  for_each_truncation_term(plan, add);
  for_each_accumulation_term(plan, k, add);
  return std::min(total, uniform);
}

}  // namespace ozbound
