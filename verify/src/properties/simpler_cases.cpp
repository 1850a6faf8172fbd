// SPDX-License-Identifier: BSD-3-Clause
#include "properties/simpler_cases.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"
#include "ozbound/verify/property.hpp"
#include "properties/sampling.hpp"

namespace ozbound {
namespace {

/// A matrix without rows [row, row + rows) and columns [column, column + columns).
Matrix<double> without(const Matrix<double>& x, Index row, Index rows, Index column, Index columns) {
  Matrix<double> rest(x.rows() - rows, x.cols() - columns);
  for (Index i = 0; i < rest.rows(); ++i)
    for (Index j = 0; j < rest.cols(); ++j) rest(i, j) = x(i < row ? i : i + rows, j < column ? j : j + columns);
  return rest;
}

/// Chunks of [0, size) to omit: all, halves, quarters, …, single ones.
std::vector<std::pair<Index, Index>> chunks(Index size) {
  std::vector<std::pair<Index, Index>> all;
  for (Index length = size; length >= 1; length /= 2)
    for (Index first = 0; first + length <= size; first += length) all.emplace_back(first, length);
  return all;
}

/// Numbers much simpler than x: 0, 1, x without its sign or its payload, the power of two.
std::vector<double> boldly_simpler(double x) {
  const auto bits = bits_of(x);
  if (bits == 0) return {};
  if (x == 1 || x == 0) return {0};
  std::vector<double> simpler{0, 1, double_from_bits(bits & ~binary64.sign)};
  if (std::isnan(x)) simpler.push_back(double_from_bits(binary64.nan));
  if (std::isfinite(x)) simpler.push_back(std::copysign(std::ldexp(1.0, to_dyadic(x).top_exponent()), x));
  return simpler;
}

/// Moves the leading bit towards 2^0, all the way at first: |exponent| falls, the significand stays.
void nearer_to_one(double x, std::vector<double>& simpler) {
  const int e = std::ilogb(x);
  for (int step = std::abs(e); step >= 1; step /= 2) simpler.push_back(std::ldexp(x, e > 0 ? -step : step));
}

/// Clears bits, many at first, then each alone.
void with_fewer_bits(double x, std::vector<double>& simpler) {
  const auto value = to_dyadic(x);
  const int zeros = std::countr_zero(value.magnitude);
  const int used = bit_length(value.magnitude) - zeros;
  for (const auto& [first, count] : chunks(used)) {
    const auto cleared = value.magnitude & ~(((std::uint64_t{1} << count) - 1) << (zeros + first));
    if (cleared != 0) simpler.push_back(std::copysign(std::ldexp(static_cast<double>(cleared), value.exponent), x));
  }
}

/// Numbers slightly simpler than x. They have fewer bits set, or as many and a smaller |exponent|, so that simplification ends.
std::vector<double> slightly_simpler(double x) {
  std::vector<double> simpler;
  if (!std::isfinite(x) || x == 0) return simpler;
  nearer_to_one(x, simpler);
  with_fewer_bits(x, simpler);
  return simpler;
}

std::vector<double> simpler_numbers(double x) {
  auto simpler = boldly_simpler(x);
  const auto slightly = slightly_simpler(x);
  simpler.insert(simpler.end(), slightly.begin(), slightly.end());
  return simpler;
}

/// Collects the steps, the largest first.
class Simplifier {
 public:
  explicit Simplifier(const GemmCase& gemm_case) : case_(gemm_case) {}

  std::vector<SimplifyingStep> run() {
    leave_out_inner();
    leave_out_rows();
    leave_out_columns();
    simplify_scalars();
    simplify_working();
    simplify_plan();
    clear_matrices();
    for (const auto simpler : {&boldly_simpler, &slightly_simpler})
      for (const auto member : {&GemmCase::a, &GemmCase::b, &GemmCase::c0}) simplify_elements(member, simpler);
    return std::move(steps_);
  }

 private:
  void attempt(SimplifyingStep step) { steps_.push_back(std::move(step)); }

  void leave_out_inner() {
    for (const Index repeat : {Index{1}, case_.inner_repeat / 2, case_.inner_repeat - 1})
      if (repeat >= 1 && repeat < case_.inner_repeat) attempt([=](GemmCase& next) { next.inner_repeat = repeat; });
    for (const auto& [first, count] : chunks(case_.a.values.cols()))
      attempt([l = first, size = count](GemmCase& next) {
        next.a.values = without(next.a.values, 0, 0, l, size);
        next.b.values = without(next.b.values, l, size, 0, 0);
      });
  }

  void leave_out_rows() {
    for (const auto& [first, count] : chunks(case_.m()))
      attempt([i = first, size = count](GemmCase& next) {
        next.a.values = without(next.a.values, i, size, 0, 0);
        next.c0.values = without(next.c0.values, i, size, 0, 0);
      });
  }

  void leave_out_columns() {
    for (const auto& [first, count] : chunks(case_.n()))
      attempt([j = first, size = count](GemmCase& next) {
        next.b.values = without(next.b.values, 0, 0, j, size);
        next.c0.values = without(next.c0.values, 0, 0, j, size);
      });
  }

  void simplify_scalars() {
    for (const double beta : simpler_numbers(case_.beta)) attempt([=](GemmCase& next) { next.beta = beta; });
    if (case_.alpha != 1) {  // alpha = 1 is simpler than 0
      attempt([](GemmCase& next) { next.alpha = 1; });
      for (const double alpha : simpler_numbers(case_.alpha)) attempt([=](GemmCase& next) { next.alpha = alpha; });
    }
    if (case_.target) simplify_target(*case_.target);
  }

  void simplify_target(const Target& target) {
    if (target != Target::dgemm()) attempt([](GemmCase& next) { next.target = Target::dgemm(); });
    for (const double tau : simpler_numbers(target.tau))
      if (tau > 0) attempt([=](GemmCase& next) { next.target->tau = tau; });
  }

  void simplify_working() {
    attempt([](GemmCase& next) { next.working = {.threads = 1}; });
    attempt([](GemmCase& next) { next.working.threads = 1; });
    attempt([](GemmCase& next) { next.working.inner_block = 0; });
    attempt([](GemmCase& next) { next.working.row_tile = 0; });
    attempt([](GemmCase& next) { next.working.column_tile = 0; });
    attempt([](GemmCase& next) { next.a.storage = next.b.storage = next.c0.storage = next.c = {}; });
    for (const auto member : {&GemmCase::a, &GemmCase::b, &GemmCase::c0})
      attempt([=](GemmCase& next) { (next.*member).storage = {}; });
    attempt([](GemmCase& next) { next.c = {}; });
    attempt([](GemmCase& next) { next.seed = 0; });
  }

  void simplify_plan() {
    case_.plan.visit([this](const SplitPlan& plan) { simplify_slices(plan); },
                     [this](const ResiduePlan& plan) { simplify_residues(plan); });
  }

  void simplify_residues(const ResiduePlan& plan) {
    const auto with = [&](int moduli, int bits_a, int bits_b) {
      const ResiduePlan next{moduli, bits_a, bits_b};
      if (moduli >= 2 && bits_a >= 1 && bits_b >= 1 && next != plan) attempt([=](GemmCase& simpler) { simpler.plan = next; });
    };
    with(2, 1, 1);
    with(plan.moduli / 2, plan.bits_a / 2, plan.bits_b / 2);
    with(plan.moduli - 1, plan.bits_a - 4, plan.bits_b - 4);
    with(plan.moduli - 1, plan.bits_a, plan.bits_b);
    with(plan.moduli, plan.bits_a / 2, plan.bits_b);
    with(plan.moduli, plan.bits_a, plan.bits_b / 2);
    with(plan.moduli, plan.bits_a - 1, plan.bits_b);
    with(plan.moduli, plan.bits_a, plan.bits_b - 1);
  }

  void simplify_slices(const SplitPlan& plan) {
    const auto with = [&](int slices_a, int slices_b, int cut) {
      const bool fewer = slices_a <= plan.a.slices && slices_b <= plan.b.slices && slices_a >= 1 && slices_b >= 1;
      if (!fewer) return;
      attempt([=](GemmCase& next) {
        auto fewer_slices = next.plan.split();
        fewer_slices.a.slices = slices_a, fewer_slices.b.slices = slices_b;
        fewer_slices.cut = std::clamp(cut, 2, slices_a + slices_b);
        next.plan = fewer_slices;
      });
    };
    attempt([](GemmCase& next) { next.plan = case_sampling::exactly(next.plan.split()); });
    with(1, 1, 2);
    with(plan.a.slices / 2, plan.b.slices / 2, plan.cut / 2);
    with(plan.a.slices - 1, plan.b.slices - 1, plan.cut - 2);
    with(plan.a.slices - 1, plan.b.slices, plan.cut - 1);
    with(plan.a.slices, plan.b.slices - 1, plan.cut - 1);
    with(plan.a.slices, plan.b.slices, plan.cut - 1);
  }

  void clear_matrices() {
    attempt([](GemmCase& next) { next.c0.values = Matrix<double>(next.c0.values.rows(), next.c0.values.cols()); });
  }

  void simplify_elements(CaseMatrix GemmCase::* member, std::vector<double> (*simpler)(double)) {
    const auto& values = (case_.*member).values;
    for (Index t = 0; t < values.rows() * values.cols(); ++t)
      for (const double x : simpler(values.data()[t])) attempt([=](GemmCase& next) { (next.*member).values.data()[t] = x; });
  }

  const GemmCase& case_;
  std::vector<SimplifyingStep> steps_;
};

}  // namespace

std::vector<SimplifyingStep> simplifying_steps(const GemmCase& gemm_case) {
  const FloatEnvironment environment;
  return Simplifier(gemm_case).run();
}

std::vector<GemmCase> simpler_cases(const GemmCase& gemm_case) {
  const FloatEnvironment environment;
  std::vector<GemmCase> simpler;
  for (const auto& step : simplifying_steps(gemm_case)) {
    auto next = gemm_case;
    step(next);
    if (!(next == gemm_case)) simpler.push_back(std::move(next));
  }
  return simpler;
}

}  // namespace ozbound
