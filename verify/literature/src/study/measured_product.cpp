// SPDX-License-Identifier: BSD-3-Clause
#include "study/measured_product.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "fold_entries.hpp"
#include "judge.hpp"
#include "ozbound/bounds/published/named_bound.hpp"
#include "ozbound/core/gemm.hpp"

namespace ozbound::study {
namespace {

/// Values of a bound, and the scales that they are relative to.
struct Evaluated {
  BoundValue value;
  std::vector<std::int32_t> row_exponents, column_exponents;

  /// The bound at (i, j), where (|A||B|)_ij <= scale. Rounded up.
  [[nodiscard]] Magnitude upper(Index i, Index j, const Magnitude& scale) const {
    auto bound = value.multiple == 0 ? Magnitude{} : multiply_upper(Magnitude::of(value.multiple), scale);
    if (value.relative.terms.empty()) return bound;
    const auto shift = std::int64_t{row_exponents[static_cast<std::size_t>(i)]} + column_exponents[static_cast<std::size_t>(j)];
    return add_upper(bound, multiply_upper(Magnitude::of(value.relative.upper(i, j)), Magnitude::power_of_two(shift)));
  }
};

std::vector<std::int32_t> exponents(const std::vector<VectorFacts>& vectors) {
  std::vector<std::int32_t> all;
  for (const auto& facts : vectors) all.push_back(facts.scale.exponent);
  return all;
}

/// The registry's bounds for one plan's products, each evaluated once.
class Registry {
 public:
  explicit Registry(BoundInputs inputs) : inputs_(std::move(inputs)) {
    for (const auto& bound : all_bounds())
      if (bound.covers(inputs_.plan)) bounds_.push_back(&bound);
  }

  [[nodiscard]] std::vector<const NamedBound*> about(Bounded bounded) const {
    std::vector<const NamedBound*> found;
    for (const auto* bound : bounds_)
      if (bound->bounded == bounded) found.push_back(bound);
    return found;
  }

  [[nodiscard]] Evaluated evaluate(const NamedBound& bound) const {
    return {bound.value(inputs_), exponents(inputs_.rows), exponents(inputs_.columns)};
  }

 private:
  BoundInputs inputs_;
  std::vector<const NamedBound*> bounds_;
};

/// Magnitudes relative to |c|, each a double rounded up, summed in a fixed order.
struct Relative {
  double sum = 0, largest = 0;

  void add(const Magnitude& x, const Magnitude& value) {
    const double ratio = to_double_upper(divide_upper(x, value));
    sum += ratio;
    largest = std::max(largest, ratio);
  }
  void merge(const Relative& other) {
    sum += other.sum;
    largest = std::max(largest, other.largest);
  }
};

/// The entry with the largest error / bound, the first among equals.
struct Worst {
  Magnitude ratio, error, bound;
  Index row = -1, col = -1;

  void add(const Worst& other) {
    if (row < 0 || other.ratio > ratio) *this = other;
  }
};

struct Gathered {
  Relative errors;
  std::vector<Relative> bounds;
  std::vector<Worst> worst;

  explicit Gathered(std::size_t claims) : bounds(claims), worst(claims) {}

  void merge(const Gathered& other) {
    errors.merge(other.errors);
    for (std::size_t t = 0; t < bounds.size(); ++t) {
      bounds[t].merge(other.bounds[t]);
      if (other.worst[t].row >= 0) worst[t].add(other.worst[t]);
    }
  }
};

/// max(u |c|, eta / 2): the final rounding of every accumulation.
Magnitude rounding(double c) {
  return std::max(multiply_upper(Magnitude::of(c), Magnitude::power_of_two(-53)), Magnitude::power_of_two(-1075));
}

}  // namespace

/// The sum of one or two bounds, plus the rounding of C^ if they do not include it.
struct Judged::Claim {
  std::string name;
  bool rigorous = true;
  bool rounded = true;
  std::vector<Evaluated> parts;

  [[nodiscard]] Magnitude upper(Index i, Index j, const Magnitude& scale, double c) const {
    auto total = rounded ? rounding(c) : Magnitude{};
    for (const auto& part : parts) total = add_upper(total, part.upper(i, j, scale));
    return total;
  }
};

StudyMeasurement Judged::judge(const Matrix<double>& c, const std::vector<Claim>& claims) const {
  const auto gathered = judging::fold_entries(
      EntrySelection::all(), c.rows(), c.cols(), Gathered(claims.size()), [&](Gathered& part, Index i, Index j) {
        const auto entry = oracle_.evaluate(i, j, c(i, j));
        part.errors.add(entry.error_upper, entry.value_lower);
        for (std::size_t t = 0; t < claims.size(); ++t) {
          const auto bound = claims[t].upper(i, j, entry.scale_upper, c(i, j));
          part.bounds[t].add(bound, entry.value_lower);
          part.worst[t].add({divide_upper(entry.error_upper, bound), entry.error_upper, bound, i, j});
        }
      });
  const auto entries = static_cast<double>(c.rows() * c.cols());
  StudyMeasurement result;
  result.average_relative = gathered.errors.sum / entries;
  result.max_relative = gathered.errors.largest;
  for (std::size_t t = 0; t < claims.size(); ++t) {
    const auto& [ratio, error, bound, row, col] = gathered.worst[t];
    result.claims.push_back({claims[t].name, claims[t].rigorous, gathered.bounds[t].sum / entries, gathered.bounds[t].largest,
                             to_double_upper(ratio), row, col, error, bound});
  }
  return result;
}

StudyMeasurement Judged::measured(std::string method, const Matrix<double>& c, const std::vector<Claim>& claims) const {
  auto result = judge(c, claims);
  result.method = std::move(method);
  result.data = data_;
  result.phi = problem_.recipe.phi;
  result.k = problem_.a.cols();
  return result;
}

StudyMeasurement Judged::measure(const std::string& method, const SplitPlan& plan, const Engine& engine) const {
  const Registry registry(BoundInputs(problem_.a, problem_.b, plan, engine));
  const auto& accumulation = find_bound("accumulation");
  const auto& truncation = find_bound("a-posteriori");
  std::vector<Claim> claims;
  const auto add = [&](const std::string& name, std::initializer_list<const NamedBound*> parts) {
    Claim claim{.name = name, .parts = {}};
    for (const auto* part : parts) {
      claim.rigorous = claim.rigorous && part->rigorous;
      claim.parts.push_back(registry.evaluate(*part));
    }
    claims.push_back(std::move(claim));
  };
  for (const auto* bound : registry.about(Bounded::total)) add(bound->name, {bound});
  for (const auto* bound : registry.about(Bounded::truncation)) add(bound->name + " + accumulation", {bound, &accumulation});
  for (const auto* bound : registry.about(Bounded::accumulation))
    if (bound != &accumulation) add("a-posteriori + " + bound->name, {&truncation, bound});

  Matrix<double> c(problem_.a.rows(), problem_.b.cols());
  multiply_unproven(RealProduct{problem_.a, problem_.b, c}, plan, engine);
  auto result = measured(method, c, claims);
  result.plan = to_string(plan);
  result.slices = plan.a.slices;
  return result;
}

StudyMeasurement Judged::measure(const NativeGemm& native, const Engine& engine) const {
  const Registry registry(BoundInputs(problem_.a, problem_.b, SplitPlan::balanced(1, 1, 2), engine));
  std::vector<Claim> claims;
  for (const auto* bound : registry.about(Bounded::native))
    claims.push_back({bound->name, bound->rigorous, false, {registry.evaluate(*bound)}});
  Matrix<double> c(problem_.a.rows(), problem_.b.cols());
  native.dgemm(RealProduct{problem_.a, problem_.b, c});
  return measured("DGEMM", c, claims);
}

}  // namespace ozbound::study
