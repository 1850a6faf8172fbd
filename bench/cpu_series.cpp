// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_series.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>

#include <bit>
#include <complex>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bare_kernel.hpp"
#include "baselines.hpp"
#include "blis.hpp"
#include "complex_series.hpp"
#include "engines.hpp"
#include "openblas.hpp"
#include "ozbound.h"
#include "ozbound/blas.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/detail/residue_arithmetic.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/native.hpp"
#include "ozbound/verify/problem.hpp"
#include "peaks.hpp"
#include "series_builder.hpp"

namespace ozbound::bench {
namespace {

/// A product A B to compute, and the memory for C.
struct Work {
  Problem problem;
  Matrix<double> c;
  Plan plan;
  CpuEngine engine;

  Work(const SeriesEntry& entry, double phi, const Plan& under)
      : problem(generate(
            {phi > 0 ? Family::wide_exponents : Family::uniform, entry.shape.m, entry.shape.n, entry.shape.k, phi, 1})),
        c(entry.shape.m, entry.shape.n),
        plan(under),
        engine(make_engine(entry.threads, entry.kernel)) {}

  [[nodiscard]] RealProduct product() { return {.a = problem.a, .b = problem.b, .c = c}; }
  [[nodiscard]] IntegerOperand prepared_a() const {
    return engine.prepare(problem.a, Side::rows_of_a, plan.form(Side::rows_of_a));
  }
  [[nodiscard]] IntegerOperand prepared_b() const {
    return engine.prepare(problem.b, Side::columns_of_b, plan.form(Side::columns_of_b));
  }
};

/// Adds the registers' peak as a further subject, and a subject's rate over it.
void over_peak(Builder& builder, const Peak* peak, int threads, std::string name, std::size_t subject, double work) {
  if (peak == nullptr) return;
  const auto base = builder.add(std::string(peak->name), [=] { run(*peak, threads); });
  auto& figure = builder.speed(std::move(name), "integer peak", subject, base, work / (peak->operations * threads));
  figure.operations = work;
  figure.note = peak->name;
}

Series peak_series(const SeriesEntry& entry, const Peak& peak, const Peak& base) {
  Builder builder;
  const auto subject = builder.add(std::string(peak.name), [&, threads = entry.threads] { run(peak, threads); });
  const auto floats = builder.add(std::string(base.name), [&, threads = entry.threads] { run(base, threads); });
  auto& figure = builder.speed(entry.group + "/" + std::string(peak.name), std::string(base.name), subject, floats,
                               peak.operations / base.operations);
  figure.operations = peak.operations * entry.threads;
  return builder.take();
}

/// The kernel alone, relative to the integer peak.
Series kernel_series(const SeriesEntry& entry) {
  const auto kernel = std::make_shared<BareKernel>(entry.kernel, entry.shape);
  Builder builder;
  const auto subject = builder.add("kernel", [kernel, threads = entry.threads] { kernel->multiply(threads); });
  over_peak(builder, integer_peak(entry.kernel), entry.threads, "kernel", subject, operations(entry.shape));
  return builder.take();
}

/// Products of sliced operands and their combination, relative to the integer peak.
Series multiply_series(const SeriesEntry& entry, const SplitPlan& plan) {
  const auto work = std::make_shared<Work>(entry, 0, plan);
  const auto a = std::make_shared<IntegerOperand>(work->prepared_a()), b = std::make_shared<IntegerOperand>(work->prepared_b());
  Builder builder;
  const auto subject = builder.add("multiply", [=] { work->engine.multiply(*a, *b, work->plan, {}, work->c); });
  over_peak(builder, integer_peak(entry.kernel), entry.threads, "multiply/" + to_string(plan), subject,
            operations(entry.shape) * plan.products());
  return builder.take();
}

/// Small products tell less of a library. BLIS takes AVX-512 where the processor has it: no baseline for kernels without.
bool stands_beside_blis(const SeriesEntry& entry) {
  constexpr Index least = 1024;
  return entry.shape.n >= least && has_avx512(entry.kernel) == has_avx512(default_kernel_name());
}

/// The whole product relative to OpenBLAS, to BLIS and to the integer peak, and its parts.
Series gemm_series(const SeriesEntry& entry, const Plan& plan, const std::string& name) {
  const auto work = std::make_shared<Work>(entry, 0, plan);
  const auto a = std::make_shared<IntegerOperand>(work->prepared_a()), b = std::make_shared<IntegerOperand>(work->prepared_b());
  Builder builder;
  const auto whole = builder.add("gemm", [=] { multiply_unproven(work->product(), work->plan, work->engine); });
  if (have_openblas()) {
    const auto blas = builder.add("OpenBLAS", [=] { openblas_dgemm(work->problem.a, work->problem.b, work->c); });
    builder.speed(name, "OpenBLAS", whole, blas).operations = operations(entry.shape) * plan.products();
  }
  if (stands_beside_blis(entry) && have_blis()) {
    const auto blas =
        builder.add("BLIS", [=, threads = entry.threads] { blis_dgemm(work->problem.a, work->problem.b, work->c, threads); });
    builder.speed(name, "BLIS", whole, blas).operations = operations(entry.shape) * plan.products();
  }
  over_peak(builder, integer_peak(entry.kernel), entry.threads, name, whole, operations(entry.shape) * plan.products());
  const auto slicing = builder.add("slicing", [=] {
    benchmark::DoNotOptimize(work->prepared_a());
    benchmark::DoNotOptimize(work->prepared_b());
  });
  const auto rest = builder.add("multiplying", [=] { work->engine.multiply(*a, *b, work->plan, {}, work->c); });
  builder.share(name + "/slicing", "gemm", slicing, whole);
  builder.share(name + "/multiplying+combining", "gemm", rest, whole);
  return builder.take();
}

/// A small product relative to the same product by the portable kernel.
Series portable_series(const SeriesEntry& entry, const SplitPlan& plan, const std::string& portable) {
  auto other = entry;
  other.kernel = portable;
  const auto work = std::make_shared<Work>(entry, 0, plan), base = std::make_shared<Work>(other, 0, plan);
  Builder builder;
  const auto whole = builder.add("gemm", [=] { multiply_unproven(work->product(), work->plan, work->engine); });
  const auto reference = builder.add("portable", [=] { multiply_unproven(base->product(), base->plan, base->engine); });
  builder.speed("small/" + to_string(plan), "portable kernel", whole, reference);
  return builder.take();
}

/// NativeGemm's adapter relative to the DGEMM that it calls.
Series adapter_series(const SeriesEntry& entry) {
  const auto work = std::make_shared<Work>(entry, 0, SplitPlan{});
  Builder builder;
  const auto subject = builder.add("native_gemm", [=] { native_gemm()->dgemm(work->product()); });
  const auto base = builder.add("OpenBLAS", [=] { openblas_dgemm(work->problem.a, work->problem.b, work->c); });
  builder.speed("native/adapter", "OpenBLAS", subject, base).operations = operations(entry.shape);
  return builder.take();
}

/// Calls without a certificate, from C++, to the target `dgemm` with native GEMM allowed, relative to the same products by
/// OpenBLAS. Covers all types, calls with scalars, and a machine that was set.
Series call_series(const SeriesEntry& entry) {
  const auto work = std::make_shared<Work>(entry, 0, SplitPlan{});
  const auto n = static_cast<int>(entry.shape.n);
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  struct Others {
    std::vector<float> a, b, c;
    std::vector<std::complex<double>> za, zb, zc;
    Machine machine = Machine::cpu();
  };
  const auto others = std::make_shared<Others>();
  others->c.resize(elements), others->zc.resize(elements);
  for (std::size_t t = 0; t < elements; ++t) {
    const double x = work->problem.a.data()[t], y = work->problem.b.data()[t];
    others->a.push_back(static_cast<float>(x)), others->b.push_back(static_cast<float>(y));
    others->za.emplace_back(x, y), others->zb.emplace_back(y, -x);
  }
  Builder builder;
  const auto row = [&](const char* name, std::size_t subject, std::size_t base) {
    builder.speed(fmt::format("native/call{}", name), "OpenBLAS", subject, base).operations = operations(entry.shape);
  };
  const auto* const a = work->problem.a.data();
  const auto* const b = work->problem.b.data();
  auto* const c = work->c.data();
  const auto dgemm = [=](double alpha, double beta) {
    static_cast<void>(work);
    ozb_dgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, n, n, n, alpha, a, n, b, n, beta, c, n, "dgemm", nullptr);
  };
  const auto base = builder.add("OpenBLAS", [=] { openblas_dgemm(work->problem.a, work->problem.b, work->c); });
  row("", builder.add("ozb_dgemm", [=] { dgemm(1, 0); }), base);
  row(", alpha and beta", builder.add("ozb_dgemm, scaled", [=] { dgemm(0.5, 0.25); }), builder.add("OpenBLAS, scaled", [=] {
    static_cast<void>(work);
    openblas_square(n, 0.5, a, b, 0.25, c);
  }));
  row(", C++",
      builder.add("gemm_without_record",
                  [=] {
                    gemm_without_record(Layout::row_major, Op::none, Op::none, n, n, n, 1.0, a, n, b, n, 0.0, work->c.data(), n,
                                        Target::dgemm());
                  }),
      base);
  row(", a machine",
      builder.add("gemm_without_record on a machine",
                  [=] {
                    BlasOptions options;
                    options.machine = &others->machine;
                    gemm_without_record(Layout::row_major, Op::none, Op::none, n, n, n, 1.0, a, n, b, n, 0.0, work->c.data(), n,
                                        Target::dgemm(), options);
                  }),
      base);
  row(", float",
      builder.add("ozb_sgemm",
                  [=] {
                    ozb_sgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, n, n, n, 1, others->a.data(), n, others->b.data(), n, 0,
                              others->c.data(), n, "dgemm", nullptr);
                  }),
      builder.add("OpenBLAS, float",
                  [=] { openblas_square(n, 1.0F, others->a.data(), others->b.data(), 0.0F, others->c.data()); }));
  const std::complex<double> one = 1, zero = 0;
  row(", complex",
      builder.add("ozb_zgemm",
                  [=] {
                    ozb_zgemm(OZB_ROW_MAJOR, OZB_NONE, OZB_NONE, n, n, n, &one, others->za.data(), n, others->zb.data(), n,
                              &zero, others->zc.data(), n, "dgemm", nullptr);
                  }),
      builder.add("OpenBLAS, complex",
                  [=] { openblas_square(n, one, others->za.data(), others->zb.data(), zero, others->zc.data()); }));
  return builder.take();
}

constexpr Index sampled_rows = 4, mpfr_rows = 8, mpfr_columns = 8;
constexpr long mpfr_bits = 2048;

/// Deciding on, computing and certifying correctly rounded entries, relative to other methods for an accurate product.
Series correctly_rounded_series(const SeriesEntry& entry, double phi) {
  const auto work = std::make_shared<Work>(entry, phi, SplitPlan{});
  const auto quad = std::make_shared<QuadRows>(work->problem.a, work->problem.b, sampled_rows);
  const auto mpfr = std::make_shared<MpfrEntries>(work->problem.a, work->problem.b, mpfr_rows, mpfr_columns, mpfr_bits);
  const int threads = entry.threads;
  const double entries = static_cast<double>(entry.shape.m) * static_cast<double>(entry.shape.n);
  const auto name = fmt::format("cr/phi={}", phi);
  Builder builder;
  const auto whole = builder.add("cr", [=] { multiply(work->product(), Target::correctly_rounded(), work->engine); });
  const auto mpfr_at = builder.add("MPFR", [=] { mpfr->multiply(threads); });
  builder
      .speed(name, fmt::format("MPFR, {} bits", mpfr_bits), whole, mpfr_at,
             entries / static_cast<double>(mpfr->rows() * mpfr->columns()))
      .note = fmt::format("{} of {:.0f} entries, scaled", mpfr->rows() * mpfr->columns(), entries);
  const auto quad_at = builder.add("__float128", [=] { quad->multiply(threads); });
  const Index rows = std::min(sampled_rows, entry.shape.m);
  builder.speed(name, "__float128", whole, quad_at, static_cast<double>(entry.shape.m) / static_cast<double>(rows)).note =
      fmt::format("{} of {} rows, scaled", rows, entry.shape.m);
  const auto pair = builder.add("double-double",
                                [=] { double_double_gemm(best_panels(), work->problem.a, work->problem.b, work->c, threads); });
  builder.speed(name, "double-double", whole, pair).note = best_panels_name();
  const auto dot2 = builder.add("Dot2", [=] { dot2_gemm(best_panels(), work->problem.a, work->problem.b, work->c, threads); });
  builder.speed(name, "Dot2", whole, dot2).note = best_panels_name();
  if (have_openblas()) {
    const auto blas = builder.add("OpenBLAS", [=] { openblas_dgemm(work->problem.a, work->problem.b, work->c); });
    builder.speed(name, "OpenBLAS", whole, blas);
  }
  return builder.take();
}

/// The decision for the target. It is by slices, since no native DGEMM is offered.
Decision sliced_decision(const Work& work, const Target& target) {
  auto decision = decide({work.problem.a, work.problem.b}, target, work.engine);
  if (decision.method != Method::one_plan)
    throw std::logic_error("no slices meet " + to_string(target) + ": " + decision.reason);
  return decision;
}

/// The cost of a proof: deciding and certifying relative to the plain product under the same plan. Measured separately, as for
/// a replayed decision, and in one call, where the certificate uses results of the decision.
Series proof_series(const SeriesEntry& entry, double phi) {
  const auto work = std::make_shared<Work>(entry, phi, SplitPlan{});
  const auto decision = std::make_shared<Decision>(sliced_decision(*work, Target::dgemm()));
  work->plan = *decision->plan;
  const auto name = fmt::format("proof/phi={}", phi);
  Builder builder;
  const auto plain = builder.add("gemm", [=] { multiply_unproven(work->product(), work->plan, work->engine); });
  const auto certified = builder.add("certified gemm", [=] { multiply(work->product(), *decision, work->engine); });
  const auto deciding = builder.add("decide", [=] { sliced_decision(*work, Target::dgemm()); });
  const auto both =
      builder.add("decided and certified gemm", [=] { multiply(work->product(), Target::dgemm(), work->engine); });
  builder.share(name + "/deciding", "gemm", deciding, plain).note = to_string(work->plan);
  builder.figure(name + "/certifying", "gemm", Kind::share, certified, plain,
                 [=](std::span<const double> seconds) { return (seconds[certified] - seconds[plain]) / seconds[plain]; });
  builder.figure(name + "/deciding+certifying", "gemm", Kind::share, both, plain,
                 [=](std::span<const double> seconds) { return (seconds[both] - seconds[plain]) / seconds[plain]; });
  return builder.take();
}

/// The plan with almost as many bits of both operands as N moduli hold for all elements at inner dimension k: at most 3 fewer.
ResiduePlan widest_residues(int moduli, Index k) {
  const int both = ResidueBase::of(moduli).half.bits() - 1 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(k)));
  return {moduli, (both + 1) / 2, both / 2};
}

SplitPlan triangular(int slices) { return SplitPlan::balanced(slices, slices, slices + 1); }

Shape cube(Index n) { return {n, n, n}; }

/// Sizes of a run.
struct Sizes {
  std::vector<Index> all, plans, residues, multiply, proof, call, adapter, complex, forced, large, correctly_rounded;
  std::vector<Shape> lengthy, skinny, small;
  std::vector<int> slices;
};

Sizes full_sizes() {
  return {.all = {64, 128, 256, 512, 1024, 2048},
          .plans = {512, 1024, 2048},
          .residues = {1024, 2048},
          .multiply = {256, 512, 1024, 2048},
          .proof = {512, 1024, 2048},
          .call = {1, 8, 16, 32, 64, 128, 256, 1024},
          .adapter = {64, 512, 2048},
          .complex = {256, 512, 1024},
          .forced = {512},
          .large = {1024},
          .correctly_rounded = {256, 1024},
          .lengthy = {{256, 256, 4096}, {256, 256, 16384}, {1024, 1024, 4096}},
          .skinny = {{2048, 2048, 8}, {2048, 8, 2048}, {8, 2048, 2048}, {2048, 1, 2048}},
          .small = {{7, 61, 68}, {16, 16, 16}, {32, 32, 32}},
          .slices = {2, 3, 4, 5, 6, 7, 8, 9}};
}

Sizes quick_sizes() {
  return {.all = {48},
          .plans = {48},
          .residues = {48},
          .multiply = {48},
          .proof = {48},
          .call = {8, 48},
          .adapter = {48},
          .complex = {48},
          .forced = {48},
          .large = {48},
          .correctly_rounded = {32},
          .lengthy = {{16, 16, 256}},
          .skinny = {{64, 64, 8}, {64, 8, 64}, {8, 64, 64}},
          .small = {{7, 61, 68}},
          .slices = {2, 7, 9}};
}

/// All series, each on one thread and on all threads.
class Catalogue {
 public:
  using Prepare = std::function<Series(const SeriesEntry&)>;

  explicit Catalogue(const Sizes& sizes) : sizes_(sizes), threads_{1, omp_get_max_threads()} {}

  void peaks_of_instructions() {
    const auto* const base = float_peak();
    if (base == nullptr) return;
    for (const auto& peak : peaks())
      add("peak", std::string(peak.name), {}, "", [&peak, base](const auto& entry) { return peak_series(entry, peak, *base); });
  }

  void bare_kernel(const std::string& kernel) {
    for (const Index n : sizes_.multiply) add("kernel", "bare", cube(n), kernel, kernel_series);
    for (const auto& shape : sizes_.lengthy) add("kernel", "bare", shape, kernel, kernel_series);
  }

  void multiplications(const std::string& kernel) {
    for (const auto& plan : {triangular(1), triangular(7)}) {
      const auto series = [plan](const auto& entry) { return multiply_series(entry, plan); };
      for (const Index n : sizes_.multiply) add("multiply", to_string(plan), cube(n), kernel, series);
    }
    for (const auto& shape : sizes_.lengthy) {
      const auto plan = triangular(1);
      add("multiply", to_string(plan), shape, kernel, [plan](const auto& entry) { return multiply_series(entry, plan); });
    }
  }

  void products(const std::string& kernel, const std::vector<Index>& plan_sizes) {
    for (const Index n : plan_sizes)
      for (const int slices : sizes_.slices) product(triangular(slices), cube(n), kernel);
  }

  void products_by_residues(const std::string& kernel) {
    for (const Index n : sizes_.residues)
      for (const int moduli : {8, 13, 15, 18, 20}) {
        const auto name = "residues:" + std::to_string(moduli);
        add("gemm", name, cube(n), kernel,
            [=](const auto& entry) { return gemm_series(entry, widest_residues(moduli, n), "gemm/" + name); });
      }
  }

  void large_products(const std::string& kernel) {
    for (const Index n : sizes_.large) product(triangular(7), cube(n), kernel);
  }

  void shapes(const std::string& kernel) {
    for (const Index n : sizes_.all) product(triangular(7), cube(n), kernel);
    for (const auto& shape : sizes_.skinny) product(triangular(7), shape, kernel);
  }

  void small_products(const std::string& kernel, const std::string& portable) {
    const auto plan = triangular(7);
    for (const auto& shape : sizes_.small)
      add("small", to_string(plan), shape, kernel, [=](const auto& entry) { return portable_series(entry, plan, portable); });
  }

  void accurate_products(const std::string& kernel) {
    for (const Index n : sizes_.correctly_rounded)
      add("cr", "phi=1", cube(n), kernel, [](const auto& entry) { return correctly_rounded_series(entry, 1); });
  }

  void proofs(const std::string& kernel) {
    for (const Index n : sizes_.proof)
      for (const double phi : {0.0, 1.0})
        add("proof", fmt::format("phi={}", phi), cube(n), kernel,
            [phi](const auto& entry) { return proof_series(entry, phi); });
  }

  void adapter() {
    if (!have_openblas() || native_gemm() == nullptr) return;
    for (const Index n : sizes_.call) add("native", "call", cube(n), "", call_series);
    for (const Index n : sizes_.adapter)
      add("native", "adapter", cube(n), "", [](const auto& entry) { return adapter_series(entry); });
  }

  void complex_products(const std::string& kernel) {
    for (const Index n : sizes_.complex) add("complex", "forms", cube(n), kernel, complex_series);
  }

  [[nodiscard]] std::vector<SeriesEntry> take() { return std::move(entries_); }

 private:
  void product(const SplitPlan& plan, const Shape& shape, const std::string& kernel) {
    add("gemm", to_string(plan), shape, kernel,
        [plan](const auto& entry) { return gemm_series(entry, plan, "gemm/" + to_string(plan)); });
  }

  /// Adds a series unless it was added before.
  void add(const std::string& group, const std::string& what, const Shape& shape, const std::string& kernel,
           const Prepare& prepare) {
    for (const int threads : threads_) {
      SeriesEntry entry{
          group, fmt::format("{}/{}/{}/threads:{}", group, what, to_string(shape), threads), shape, threads, kernel, {}};
      if (!kernel.empty()) entry.name += "/" + kernel;
      if (!names_.insert(entry.name).second) continue;
      entry.prepare = [entry, prepare] { return prepare(entry); };
      entries_.push_back(entry);
    }
  }

  Sizes sizes_;
  std::set<int> threads_;
  std::set<std::string> names_;
  std::vector<SeriesEntry> entries_;
};

}  // namespace

std::string default_kernel_name() { return kernel_names().front(); }

std::vector<SeriesEntry> cpu_series(bool quick) {
  auto sizes = quick ? quick_sizes() : full_sizes();
  const auto kernels = kernel_names();
  const auto& best = kernels.front();
  if (best == "amx" && !quick) sizes.plans.push_back(4096), sizes.multiply.push_back(4096);  // other kernels would take minutes
  Catalogue catalogue(sizes);
  catalogue.peaks_of_instructions();
  for (const auto& kernel : kernels) catalogue.bare_kernel(kernel);
  catalogue.multiplications(best);
  catalogue.products(best, sizes.plans);
  catalogue.products_by_residues(best);
  catalogue.shapes(best);
  catalogue.small_products(best, "portable");
  catalogue.accurate_products(best);
  catalogue.proofs(best);
  catalogue.adapter();
  catalogue.complex_products(best);
  for (const auto& kernel : kernels) {
    catalogue.products(kernel, sizes.forced);
    catalogue.large_products(kernel);
  }
  return catalogue.take();
}

}  // namespace ozbound::bench
