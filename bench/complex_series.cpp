// SPDX-License-Identifier: BSD-3-Clause
#include "complex_series.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engines.hpp"
#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/detail/complex_residues.hpp"
#include "ozbound/core/real_representation.hpp"
#include "ozbound/verify/complex_problem.hpp"
#include "series_builder.hpp"

namespace ozbound::bench {
namespace {

using Complex = std::complex<double>;

constexpr const char* plan_of_four = "balanced:7x7:cut=8:exact";

/// Column-major copies, so that B and C are not copied again.
std::vector<Complex> column_major_copy(const Matrix<Complex>& x) {
  std::vector<Complex> copy;
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < x.rows(); ++i) copy.push_back(x(i, j));
  return copy;
}

struct ComplexWork {
  Index m, n, k;
  std::vector<Complex> a, b, c, c0;
  CpuEngine engine;

  explicit ComplexWork(const SeriesEntry& entry)
      : m(entry.shape.m),
        n(entry.shape.n),
        k(entry.shape.k),
        c(static_cast<std::size_t>(m * n)),
        c0(c.size(), Complex(1, 2)),
        engine(make_engine(entry.threads, entry.kernel)) {
    const auto problem = generate_complex({Family::uniform, m, n, k, 0, 1});
    a = column_major_copy(problem.a), b = column_major_copy(problem.b);
  }

  [[nodiscard]] MatrixView<const Complex> a_view() const { return column_major(a.data(), m, k, m); }
  [[nodiscard]] MatrixView<const Complex> b_view() const { return column_major(b.data(), k, n, k); }
  [[nodiscard]] ComplexProduct product() { return {.a = a_view(), .b = b_view(), .c = column_major(c.data(), m, n, m)}; }
  [[nodiscard]] ComplexProduct complex_scalar_product() {
    auto call = this->product();
    call.alpha = {0.75, 0.5}, call.beta = {1, -0.25};
    call.c0 = column_major<const Complex>(c0.data(), m, n, m);
    return call;
  }
};

/// The real or imaginary part of a matrix as a matrix of its own, row-major.
Matrix<double> part_of(MatrixView<const Complex> x, bool imaginary, int threads) {
  Matrix<double> part(x.rows(), x.cols());
#pragma omp parallel for schedule(static) num_threads(threads)
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) part(i, j) = imaginary ? x(i, j).imag() : x(i, j).real();
  return part;
}

/// The work of C = (P1 - P2) + i (P3 - P1 - P2) with P1 = A_r B_r, P2 = A_i B_i, P3 = (A_r + A_i) (B_r + B_i), by slices.
/// Slices the parts, adds digits, makes and combines three products, and adds these in doubles. Omits some necessary work, and
/// is therefore too fast: parts with a common scale, sums of digits wider than a byte, integer sums that are added before they
/// are rounded. Makes P3 from the slices of A_r and B_r, which takes as long.
class ThreeProducts {
 public:
  ThreeProducts(std::shared_ptr<ComplexWork> work, const SplitPlan& plan)
      : work_(std::move(work)),
        plan_(plan),
        real_(static_cast<std::size_t>(std::max(plan.a.slices * work_->m, plan.b.slices * work_->n) * work_->k)),
        imaginary_(real_.size()),
        sum_(real_.size()),
        p1_(work_->c.size()),
        p2_(work_->c.size()),
        p3_(work_->c.size()) {}

  void multiply() {
    auto& w = *work_;
    const auto a_r = slices_of_a(false), a_i = slices_of_a(true), b_r = slices_of_b(false), b_i = slices_of_b(true);
    add_digits(plan_.a.slices * w.m * w.k);
    add_digits(plan_.b.slices * w.n * w.k);
    w.engine.multiply(a_r, b_r, plan_, {}, view(p1_));
    w.engine.multiply(a_i, b_i, plan_, {}, view(p2_));
    w.engine.multiply(a_r, b_r, plan_, {}, view(p3_));
#pragma omp parallel for schedule(static) num_threads(w.engine.threads())
    for (std::size_t t = 0; t < w.c.size(); ++t) w.c[t] = {p1_[t] - p2_[t], p3_[t] - p1_[t] - p2_[t]};
  }

 private:
  /// Fills as many bytes, each with the sum of two others.
  void add_digits(Index count) {
#pragma omp parallel for schedule(static) num_threads(work_->engine.threads())
    for (Index t = 0; t < count; ++t) {
      const auto at = static_cast<std::size_t>(t);
      sum_[at] = static_cast<std::int8_t>(real_[at] + imaginary_[at]);
    }
    benchmark::DoNotOptimize(sum_.data());
  }

  [[nodiscard]] SlicedMatrix slices_of_a(bool imaginary) const {
    const auto& engine = work_->engine;
    return engine.slice(part_of(work_->a_view(), imaginary, engine.threads()), Side::rows_of_a, plan_.a);
  }
  [[nodiscard]] SlicedMatrix slices_of_b(bool imaginary) const {
    const auto& engine = work_->engine;
    const auto columns = part_of(work_->b_view().transposed(), imaginary, engine.threads());
    return engine.slice(columns.view().transposed(), Side::columns_of_b, plan_.b);
  }
  [[nodiscard]] MatrixView<double> view(std::vector<double>& p) const {
    return column_major(p.data(), work_->m, work_->n, work_->m);
  }

  std::shared_ptr<ComplexWork> work_;
  SplitPlan plan_;
  std::vector<std::int8_t> real_, imaginary_, sum_;  ///< digits
  std::vector<double> p1_, p2_, p3_;
};

/// Adds a product by residues with four real products for each modulus, the speed of two or three relative to it, and the cost
/// of complex scalars.
void add_residues(Builder& builder, const std::shared_ptr<ComplexWork>& work, const ResiduePlan& plan) {
  const auto name = to_string(Plan(plan));
  const auto four = builder.add(name + " by four", [=] {
    const auto factors = real_factors(work->product(), work->engine.threads());
    const RealProduct parts{factors.a.view(), factors.b.view(), *stacked_memory(work->product().c)};
    multiply_unproven(parts, plan, work->engine);
  });
  const auto fewer = builder.add(name, [=] { multiply_unproven(work->product(), plan, work->engine); });
  builder.speed(fmt::format("complex/{}", name), "four products a modulus", fewer, four).note =
      fmt::format("{} products over {}", ComplexModuli::of(plan.moduli).layers, 4 * plan.moduli);
  const auto scaled =
      builder.add(name + ", complex scalars", [=] { multiply_unproven(work->complex_scalar_product(), plan, work->engine); });
  builder.share(fmt::format("complex/complex scalars, {}", name), "real scalars", scaled, fewer);
}

}  // namespace

Series complex_series(const SeriesEntry& entry) {
  const auto work = std::make_shared<ComplexWork>(entry);
  const auto plan = parse_plan(plan_of_four);
  Builder builder;
  const auto four = builder.add("four products", [=] { multiply_unproven(work->product(), plan, work->engine); });
  for (const char* of_three : {"nearest7:8x8:cut=9:exact", "nearest6:9x9:cut=10:exact", "nearest6:10x10:cut=11:exact"}) {
    const auto three = std::make_shared<ThreeProducts>(work, parse_plan(of_three).split());
    const auto subject = builder.add(of_three, [=] { three->multiply(); });
    builder.speed(fmt::format("complex/three:{}", of_three), "four products", subject, four).note =
        fmt::format("{} products over {}", 3 * parse_plan(of_three).products(), 4 * plan.products());
  }
  const auto scaled =
      builder.add("complex scalars", [=] { multiply_unproven(work->complex_scalar_product(), plan, work->engine); });
  builder.share("complex/complex scalars", "real scalars", scaled, four);
  const auto parts = std::make_shared<std::pair<Matrix<double>, Matrix<double>>>(part_of(work->a_view(), false, 1),
                                                                                 part_of(work->b_view(), false, 1));
  const auto c = std::make_shared<Matrix<double>>(work->m, work->n);
  const auto real = builder.add("real product", [=] {
    multiply_unproven(RealProduct{.a = parts->first, .b = parts->second, .c = *c}, plan, work->engine);
  });
  auto& figure = builder.speed(fmt::format("complex/{}", plan_of_four), "four real products", four, real, 4);
  figure.operations = 4 * operations(entry.shape) * plan.products();
  for (const auto& residues : {ResiduePlan{8, 26, 26}, ResiduePlan{13, 45, 45}, ResiduePlan{18, 53, 53}})
    add_residues(builder, work, residues);
  return builder.take();
}

}  // namespace ozbound::bench
