#include "ozbound/bounds/truncation_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ozbound/core/combine.hpp"
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

/// ||x||_1, ||x||_2, ||x||_inf from above, relative to rho.
using Norms = std::array<double, 3>;

double root_upper(const IntegerNorms& norms) {
  if (norms.zero()) return 0;
  if (norms.sum_squares == std::numeric_limits<std::uint64_t>::max()) return std::numeric_limits<double>::infinity();
  return next_up(std::sqrt(to_double_upper(norms.sum_squares)));
}

Norms norms_upper(const IntegerNorms& norms, int unit) {
  const double scale = pow2(std::max(unit, -1000));  // adaptive weights may lie anywhere below
  return {to_double_upper(norms.sum) * scale, root_upper(norms) * scale, to_double_upper(norms.max) * scale};
}

Norms slice_norms(const VectorFacts& facts, const Slicing& slicing, int p) {
  return norms_upper(facts.slices[static_cast<std::size_t>(p - 1)], facts.weight_exponent(slicing.encoding, p));
}

/// The tail after p slices, p = 0: the vector itself.
Norms tail_norms(const VectorFacts& facts, const Slicing& slicing, int p) {
  if (p == 0) return norms_upper(facts.vector, -VectorFacts::fraction_bits);
  return norms_upper(facts.tails[static_cast<std::size_t>(p - 1)],
                     facts.weight_exponent(slicing.encoding, p) - VectorFacts::fraction_bits);
}

Norms sum_upper(const Norms& x, const Norms& y) {
  return {add_upper(x[0], y[0]), add_upper(x[1], y[1]), add_upper(x[2], y[2])};
}

/// The sum of slices 1 … r: the vector without its tail.
Norms leading_norms(const VectorFacts& facts, const Slicing& slicing, int r) {
  return sum_upper(tail_norms(facts, slicing, 0), tail_norms(facts, slicing, r));
}

/// The sum of all slices' norms, times a factor: what bounds sum |p_t|.
Norms all_slices_norms(const VectorFacts& facts, const Slicing& slicing, double factor) {
  Norms sum{};
  for (int p = 1; p <= slicing.slices; ++p) sum = sum_upper(sum, slice_norms(facts, slicing, p));
  for (auto& norm : sum) norm = multiply_upper(norm, factor);
  return sum;
}

/// ||.||_2 meets ||.||_2, ||.||_1 meets ||.||_inf and the other way round.
constexpr std::array<std::pair<std::size_t, std::size_t>, 3> dual{{{1, 1}, {0, 2}, {2, 0}}};

/// Calls visit(name, norms of a row, norms of a column) for every term h(x, y) of the truncation error, norms as functions of
/// the facts. Slices of A that meet all of B's share one tail of B; those that meet none of it join A's residual.
template <class Visit>
void for_each_truncation_term(const SplitPlan& plan, const Visit& visit) {
  const auto b_tail = [&plan](int c) { return [&plan, c](const VectorFacts& f) { return tail_norms(f, plan.b, c); }; };
  const int meet_all = std::clamp(plan.cut - plan.b.slices, 0, plan.a.slices);
  const int meet_some = std::min(plan.cut - 1, plan.a.slices);
  if (meet_all > 0)
    visit(
        "A leading x B residual", [&](const VectorFacts& f) { return leading_norms(f, plan.a, meet_all); },
        b_tail(plan.b.slices));
  for (int p = meet_all + 1; p <= meet_some; ++p)
    visit(
        "A slice x B tail", [&plan, p](const VectorFacts& f) { return slice_norms(f, plan.a, p); }, b_tail(plan.last_b(p)));
  visit(
      "A residual x B", [&](const VectorFacts& f) { return tail_norms(f, plan.a, meet_some); }, b_tail(0));
}

/// A factor, for vectors that are not zero.
Norms unless_zero(const VectorFacts& facts, double factor) {
  if (facts.vector.zero()) factor = 0;
  return {factor, factor, factor};
}

template <class Visit>
void for_each_accumulation_term(const SplitPlan& plan, Index k, const Visit& visit) {
  if (plan.accumulation == Accumulation::exact) return;
  const auto terms = static_cast<double>(plan.groups(k).size());
  const double factor = (terms - 1) * 0x1p-53;
  visit(
      "accumulation", [&plan, factor](const VectorFacts& f) { return all_slices_norms(f, plan.a, factor); },
      [&plan](const VectorFacts& f) { return all_slices_norms(f, plan.b, 1); });
  if (!plan.common_ratio())
    visit(
        "underflow", [terms](const VectorFacts& f) { return unless_zero(f, terms * 0x1p-1074); },
        [](const VectorFacts& f) { return unless_zero(f, 1); });
}

/// Collects terms over all rows and columns.
class TermCollector {
 public:
  TermCollector(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns) : rows_(rows), columns_(columns) {}

  template <class RowNorms, class ColumnNorms>
  void operator()(const char* name, const RowNorms& row_norms, const ColumnNorms& column_norms) const {
    BoundTerm term{name, std::vector<OuterProduct>(dual.size())};
    for (const auto& facts : rows_) {
      const Norms norms = row_norms(facts);
      for (std::size_t h = 0; h < dual.size(); ++h) term.alternatives[h].rows.push_back(norms[dual[h].first]);
    }
    for (const auto& facts : columns_) {
      const Norms norms = column_norms(facts);
      for (std::size_t h = 0; h < dual.size(); ++h) term.alternatives[h].columns.push_back(norms[dual[h].second]);
    }
    terms.push_back(std::move(term));
  }

  mutable std::vector<BoundTerm> terms;

 private:
  std::span<const VectorFacts> rows_, columns_;
};

double a_priori(const SplitPlan& plan, Index k) {
  double sum = tail_magnitude_upper(plan.a, plan.a.slices);
  for (int p = 1; p <= plan.a.slices; ++p)
    sum = add_upper(sum, multiply_upper(slice_magnitude(plan.a.encoding, p), tail_magnitude_upper(plan.b, plan.last_b(p))));
  return multiply_upper(to_double_upper(static_cast<std::uint64_t>(k)), sum);
}

}  // namespace

double truncation_a_priori_upper(const SplitPlan& plan, Index k) {
  const FloatEnvironment environment;
  return a_priori(plan, k);
}

EntryBound truncation_a_posteriori_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns,
                                         const SplitPlan& plan) {
  const FloatEnvironment environment;
  const TermCollector collect(rows, columns);
  for_each_truncation_term(plan, collect);
  return {std::move(collect.terms)};
}

EntryBound accumulation_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, const SplitPlan& plan,
                              Index k) {
  const FloatEnvironment environment;
  const TermCollector collect(rows, columns);
  for_each_accumulation_term(plan, k, collect);
  return {std::move(collect.terms)};
}

EntryBound plan_error_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, const SplitPlan& plan,
                            Index k) {
  const FloatEnvironment environment;
  const TermCollector collect(rows, columns);
  for_each_truncation_term(plan, collect);
  for_each_accumulation_term(plan, k, collect);
  EntryBound bound{std::move(collect.terms)};
  if (plan.accumulation == Accumulation::exact) bound.uniform = a_priori(plan, k);
  return bound;
}

EntryBound summation_upper(std::span<const VectorFacts> rows, std::span<const VectorFacts> columns, double factor) {
  const FloatEnvironment environment;
  const TermCollector collect(rows, columns);
  const auto scaled = [factor](const VectorFacts& f) {
    auto norms = norms_upper(f.vector, -VectorFacts::fraction_bits);
    for (auto& norm : norms) norm = multiply_upper(norm, factor);
    return norms;
  };
  collect("native summation", scaled, [](const VectorFacts& f) { return norms_upper(f.vector, -VectorFacts::fraction_bits); });
  return {std::move(collect.terms)};
}

double entry_error_upper(const VectorFacts& row, const VectorFacts& column, const SplitPlan& plan, Index k) {
  const double uniform = plan.accumulation == Accumulation::exact ? a_priori(plan, k) : std::numeric_limits<double>::infinity();
  return entry_error_upper(row, column, plan, k, uniform);
}

double entry_error_upper(const VectorFacts& row, const VectorFacts& column, const SplitPlan& plan, Index k, double uniform) {
  double total = 0;
  const auto add = [&](const char*, const auto& row_norms, const auto& column_norms) {
    const Norms x = row_norms(row);
    const Norms y = column_norms(column);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [first, second] : dual) least = std::min(least, multiply_upper(x[first], y[second]));
    total = add_upper(total, least);
  };
  for_each_truncation_term(plan, add);
  for_each_accumulation_term(plan, k, add);
  return std::min(total, uniform);
}

}  // namespace ozbound
