#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/property.hpp"

namespace ozbound {
namespace {

/// Rows [first, first + count) and columns [first, first + count) of a matrix left out.
Matrix<double> without(const Matrix<double>& x, Index row, Index rows, Index column, Index columns) {
  Matrix<double> rest(x.rows() - rows, x.cols() - columns);
  for (Index i = 0; i < rest.rows(); ++i)
    for (Index j = 0; j < rest.cols(); ++j) rest(i, j) = x(i < row ? i : i + rows, j < column ? j : j + columns);
  return rest;
}

/// Chunks of [0, size) to leave out: all, halves, quarters, …, single ones.
std::vector<std::pair<Index, Index>> chunks(Index size) {
  std::vector<std::pair<Index, Index>> all;
  for (Index length = size; length >= 1; length /= 2)
    for (Index first = 0; first + length <= size; first += length) all.emplace_back(first, length);
  return all;
}

/// Elements nearer to simple than x: 0, 1, the power of two, half of the significand's bits, one bit less.
std::vector<double> simpler_elements(double x) {
  if (bits_of(x) == 0) return {};
  std::vector<double> simpler{0};
  const auto bits = bits_of(x);
  if (x == 1) return simpler;
  simpler.push_back(1);
  if ((bits & binary64.sign) != 0) simpler.push_back(double_from_bits(bits & ~binary64.sign));
  if (!std::isfinite(x)) return simpler;
  const auto value = to_dyadic(x);
  if (value.magnitude == 0) return simpler;
  const auto kept = [&](int count) {  // leading bits
    const auto mask = ~std::uint64_t{0} << (bit_length(value.magnitude) - count);
    return std::copysign(std::ldexp(static_cast<double>(value.magnitude & mask), value.exponent), x);
  };
  const int used = bit_length(value.magnitude) - __builtin_ctzll(value.magnitude);
  for (const int count : {1, used / 2, used - 1})
    if (count >= 1 && count < used) simpler.push_back(kept(count));
  if (used == 1 && std::abs(x) != 1)
    simpler.push_back(std::copysign(std::ldexp(1.0, value.top_exponent() / 2), x));  // nearer to 1
  return simpler;
}

/// Gathers the valid ones.
class Simplifier {
 public:
  explicit Simplifier(const GemmCase& gemm_case) : case_(gemm_case) {}

  std::vector<GemmCase> run() {
    leave_out_inner();
    leave_out_rows();
    leave_out_columns();
    simplify_scalars();
    simplify_working();
    simplify_plan();
    clear_matrices();
    simplify_elements(&GemmCase::a);
    simplify_elements(&GemmCase::b);
    simplify_elements(&GemmCase::c0);
    return std::move(found_);
  }

 private:
  template <class Change>
  void attempt(const Change& change) {
    auto next = case_;
    change(next);
    if (next == case_) return;
    found_.push_back(std::move(next));
  }

  void leave_out_inner() {
    for (const Index repeat : {Index{1}, case_.inner_repeat / 2, case_.inner_repeat - 1})
      if (repeat >= 1 && repeat < case_.inner_repeat) attempt([&](GemmCase& next) { next.inner_repeat = repeat; });
    for (const auto& [first, count] : chunks(case_.a.values.cols()))
      attempt([&, l = first, size = count](GemmCase& next) {
        next.a.values = without(case_.a.values, 0, 0, l, size);
        next.b.values = without(case_.b.values, l, size, 0, 0);
      });
  }

  void leave_out_rows() {
    for (const auto& [first, count] : chunks(case_.m()))
      attempt([&, i = first, size = count](GemmCase& next) {
        next.a.values = without(case_.a.values, i, size, 0, 0);
        next.c0.values = without(case_.c0.values, i, size, 0, 0);
      });
  }

  void leave_out_columns() {
    for (const auto& [first, count] : chunks(case_.n()))
      attempt([&, j = first, size = count](GemmCase& next) {
        next.b.values = without(case_.b.values, 0, 0, j, size);
        next.c0.values = without(case_.c0.values, 0, 0, j, size);
      });
  }

  void simplify_scalars() {
    attempt([](GemmCase& next) { next.beta = 0; });
    if (case_.beta != 0) attempt([](GemmCase& next) { next.beta = 1; });
    attempt([](GemmCase& next) { next.alpha = 1; });
    if (case_.target && *case_.target != Target::dgemm()) attempt([](GemmCase& next) { next.target = Target::dgemm(); });
  }

  void simplify_working() {
    attempt([](GemmCase& next) { next.working = {.threads = 1}; });
    attempt([](GemmCase& next) { next.working.threads = 1; });
    attempt([](GemmCase& next) { next.working.inner_block = 0; });
    attempt([](GemmCase& next) { next.working.row_tile = 0; });
    attempt([](GemmCase& next) { next.working.column_tile = 0; });
    attempt([](GemmCase& next) { next.a.storage = next.b.storage = next.c0.storage = next.c = {}; });
    for (const auto member : {&GemmCase::a, &GemmCase::b, &GemmCase::c0})
      attempt([&](GemmCase& next) { (next.*member).storage = {}; });
    attempt([](GemmCase& next) { next.c = {}; });
    attempt([](GemmCase& next) { next.seed = 0; });
  }

  void simplify_plan() {
    const auto& plan = case_.plan;
    const auto with = [&](int slices_a, int slices_b, int cut) {
      const bool fewer = slices_a <= plan.a.slices && slices_b <= plan.b.slices && slices_a >= 1 && slices_b >= 1;
      if (!fewer) return;
      attempt([&](GemmCase& next) {
        next.plan.a.slices = slices_a, next.plan.b.slices = slices_b;
        next.plan.cut = std::clamp(cut, 2, slices_a + slices_b);
      });
    };
    attempt([](GemmCase& next) { next.plan.accumulation = Accumulation::exact; });
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

  void simplify_elements(CaseMatrix GemmCase::*member) {
    const auto& values = (case_.*member).values;
    for (Index t = 0; t < values.rows() * values.cols(); ++t)
      for (const double x : simpler_elements(values.data()[t]))
        attempt([&](GemmCase& next) { (next.*member).values.data()[t] = x; });
  }

  const GemmCase& case_;
  std::vector<GemmCase> found_;
};

}  // namespace

std::vector<GemmCase> simpler_cases(const GemmCase& gemm_case) { return Simplifier(gemm_case).run(); }

}  // namespace ozbound
