// SPDX-License-Identifier: BSD-3-Clause
// Decisions, certified products and kept slices by the CUDA engine, of matrices in host and device memory, against the CPU's:
// the same C, decision and certificate, bit for bit.
//
// Usage: certified. Exits with 0 if all agree, 1 if some do not, 77 without a device.

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mirror/counting.hpp"
#include "mirror/placed.hpp"
#include "mirror/problems.hpp"
#include "mirror/products.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/scheme.hpp"

namespace ozbound::mirror {
namespace {

/// The places and the element type of a product's matrices.
struct Way {
  const char* name;
  bool a_there = false, b_there = false, c_there = false, c0_there = false;
  bool floats = false;    ///< A, B and C are floats
  bool in_place = false;  ///< C in place of C0
  bool residues = true;   ///< residues may be chosen
};

/// Every result of one engine for a product and a target.
struct Outcome {
  struct Scalars {
    double alpha, beta;
  };

  std::vector<std::uint64_t> c, prepared;
  std::string decision, certificate;
  std::string assumed;  ///< assumption of the search for the worst entry: the only member that may differ

  Outcome(const Inputs& inputs, const Scalars& scalars, const Target& target, const Backend& backend, const Way& way) {
    const auto m = inputs.a.rows(), n = inputs.b.cols();
    const Matrix<double> unset(m, n), c0 = addend(m, n);
    const auto a_of_floats = as_floats(inputs.a), b_of_floats = as_floats(inputs.b), unset_floats = as_floats(unset);
    const Placed at_a(way.floats ? InputView(a_of_floats) : InputView(inputs.a), way.a_there),
        at_b(way.floats ? InputView(b_of_floats) : InputView(inputs.b), way.b_there), at_c0(c0, way.c0_there);
    const Placed at_c(way.floats ? InputView(unset_floats) : InputView(unset), way.c_there);
    const auto product_of = [&](const auto& multiply) {
      const Matrix<double> own = c0;
      const Placed in_place(own, way.c_there);
      const auto& target_c = way.in_place ? in_place : at_c;
      const RealProduct call{at_a.input(),  at_b.input(), target_c.view(),
                             scalars.alpha, scalars.beta, way.in_place ? in_place.input() : at_c0.input()};
      multiply(call);
      return target_c.bits();
    };
    try {
      run(product_of, target, backend, way.residues);
    } catch (const CannotCertify& refusal) {
      decision = refusal.what();
    }
  }

 private:
  template <class ProductOf>
  void run(const ProductOf& product_of, const Target& target, const Backend& backend, bool residues) {
    std::optional<Decision> decided;
    c = product_of([&](const RealProduct& call) {
      auto product = multiply(call, target, backend, {.residues = residues});
      take_assumption(product.certificate);
      decision = to_json(product.decision).dump();
      certificate = to_json(product.certificate).dump();
      decided = std::move(product.decision);
    });
    prepared = product_of([&](const RealProduct& call) {
      const PreparedOperand a(call.a, Side::rows_of_a, *decided, backend.engine());
      const PreparedOperand b(call.b, Side::columns_of_b, *decided, backend.engine());
      auto once_more = multiply(call, *decided, backend, {.prepared_a = &a, .prepared_b = &b});
      take_assumption(once_more);
      certificate += to_json(once_more).dump();
    });
  }

  void take_assumption(Certificate& of) {
    assumed += of.assumed_in_search;
    of.assumed_in_search.clear();
  }

  static Matrix<float> as_floats(const Matrix<double>& matrix) {
    Matrix<float> floats(matrix.rows(), matrix.cols());
    for (Index i = 0; i < matrix.rows(); ++i)
      for (Index j = 0; j < matrix.cols(); ++j) floats(i, j) = static_cast<float>(matrix(i, j));
    return floats;
  }

  /// C0 with an infinity.
  static Matrix<double> addend(Index m, Index n) {
    Matrix<double> c0(m, n);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j)
        c0(i, j) = std::ldexp(static_cast<double>((3 * i + 5 * j) % 7 - 3), static_cast<int>(i % 5) * 10);
    if (m > 1 && n > 0) c0(1, 0) = std::numeric_limits<double>::infinity();
    return c0;
  }
};

Matrix<double> as_doubles(const InputView& view) {
  Matrix<double> result(view.rows(), view.cols());
  for (Index i = 0; i < view.rows(); ++i)
    for (Index j = 0; j < view.cols(); ++j) result(i, j) = double_from_bits(view.bits(i, j));
  return result;
}

/// Operands with an infinity in a row of A and in C0, a NaN in a column of B, and zeros.
Inputs with_specials(Inputs inputs) {
  const Index m = inputs.a.rows(), n = inputs.b.cols(), k = inputs.a.cols();
  if (m < 3 || n < 3 || k < 2) return inputs;
  inputs.a(1, k - 1) = -std::numeric_limits<double>::infinity();
  inputs.b(0, 2) = std::numeric_limits<double>::quiet_NaN();
  for (Index l = 0; l < k; ++l) inputs.a(2, l) = 0;
  return inputs;
}

/// Compares the functions that certificates are made from, one by one.
bool compare_answers(const Backend& cpu, const Backend& device) {
  const auto &host = cpu.matrices(), &cuda = device.matrices();
  const auto &of_host = cpu.examiner(), &of_cuda = device.examiner();
  Section prints("fingerprints"), ranges("exponent ranges"), specials("specials"), exact("exact products"),
      finished("exact entries"), bounds("largest bounds"), infinite("infinite entries"), inexact("last inexact entries"),
      relative("relative entries");
  const auto inputs = family_inputs();
  for (std::size_t t = 0; t < inputs.size(); ++t)
    for (const bool single : {false, true}) {
      const auto problem = t % 2 == 0 ? inputs[t] : with_specials(inputs[t]);
      const auto describe = [&] { return problem.origin + (single ? ", C of floats" : ""); };
      const Index m = problem.a.rows(), n = problem.b.cols();
      Matrix<double> c0(m, n);
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) c0(i, j) = problem.a(i, j % problem.a.cols()) * 3;
      Matrix<double> wide(m, n), wide_there(m, n);
      Matrix<float> narrow(m, n), narrow_there(m, n);
      const OutputView c = single ? OutputView(narrow) : OutputView(wide);
      const Placed a(problem.a, true), b(problem.b, true), d(c0, true),
          c_there(single ? InputView(narrow_there) : InputView(wide_there), true);
      const RealProduct call{problem.a, problem.b, c, -3, 0.5, c0};
      const RealProduct there{a.input(), b.input(), c_there.view(), -3, 0.5, d.input()};

      prints.expect(host.fingerprint(call.a) == cuda.fingerprint(there.a) && host.fingerprint(c0) == cuda.fingerprint(there.c0),
                    describe);
      const auto same = [](const ExponentRange& x, const ExponentRange& y) { return x.least == y.least && x.top == y.top; };
      ranges.expect(
          same(host.exponent_range(call.a, Side::rows_of_a), cuda.exponent_range(there.a, Side::rows_of_a)) &&
              same(host.exponent_range(call.b, Side::columns_of_b), cuda.exponent_range(there.b, Side::columns_of_b)) &&
              same(host.exponent_range(c0), cuda.exponent_range(there.c0)),
          describe);
      const auto here = host.special_entries(call), known = cuda.special_entries(there);
      specials.expect(here.rows == known.rows && here.columns == known.columns && here.everywhere == known.everywhere &&
                          host.count(here) == cuda.count(known),
                      describe);
      host.apply_specials(call, here), cuda.apply_specials(there, known);
      host.multiply_exactly(call, here), cuda.multiply_exactly(there, known);
      exact.expect(Placed(c.as_input(), false).bits() == c_there.bits(), describe);

      const std::vector<Entry> entries{{0, 0}, {0, n - 1}, {m - 1, 0}};
      const bool finite = host.count(here) == 0;
      auto cleared = call;
      cleared.beta = 0;
      auto cleared_there = there;
      cleared_there.beta = 0;
      if (finite) host.finish_exactly(cleared, entries), cuda.finish_exactly(cleared_there, entries);
      finished.expect(Placed(c.as_input(), false).bits() == c_there.bits(), describe);

      const auto bound = of_host.examine(call)->bound(parse_plan(problem.plan, problem.a.cols()));
      ErrorBound error;
      error.alpha = -3, error.product = bound.product;
      error.row_exponents = bound.row_exponents, error.column_exponents = bound.column_exponents;
      const auto of_c = of_host.result_facts(error, nullptr, c.as_input(), here);
      const auto of_c_there = of_cuda.result_facts(error, nullptr, there.c.as_input(), known);
      bounds.expect(
          bits_of(of_c.largest_bound) == bits_of(of_c_there.largest_bound) && of_c.fingerprint == of_c_there.fingerprint,
          describe);
      infinite.expect(of_c.infinite == of_c_there.infinite &&
                          of_c.infinite == !host.infinite_entries(c.as_input(), here).empty() &&
                          host.infinite_entries(c.as_input(), here) == cuda.infinite_entries(there.c.as_input(), known),
                      describe);
      inexact.expect(of_host.last_inexact(bound, here) == of_cuda.last_inexact(bound, known), describe);
      const Matrix<double> product = as_doubles(c.as_input());
      const Placed product_there(product, true);
      const auto accepted = of_host.accept_relative(product, bound, error.alpha, 0x1p-20, here, c);
      const auto accepted_there = of_cuda.accept_relative(product_there.input(), bound, error.alpha, 0x1p-20, known, there.c);
      relative.expect(accepted.open == accepted_there.open && bits_of(accepted.worst) == bits_of(accepted_there.worst) &&
                          Placed(c.as_input(), false).bits() == c_there.bits(),
                      describe);
    }
  bool good = true;
  for (const auto* section : {&prints, &ranges, &specials, &exact, &finished, &bounds, &infinite, &inexact, &relative})
    good = section->report() && good;
  return good;
}

/// Compares the results for every step-th input of each kind.
bool compare(const Backend& cpu, const Backend& cuda, const Way& way, std::size_t step) {
  std::printf("%s\n", way.name);
  Section results("C"), kept("C, of kept operands"), decisions("decisions"), certificates("certificates"),
      assumptions("assumptions");
  Index assuming = 0, by_residues = 0;
  const auto inputs = family_inputs();
  for (const auto* target :
       {"cr", "dgemm", "dgemm-typical", "componentwise:1e-7", "rowcol:1e-12", "normwise:1e-10", "relative:1e-9"})
    for (const auto& scalars : {Outcome::Scalars{1, 0}, {-0x1.8p3, 0.75}})
      for (std::size_t t = 0; t < inputs.size(); t += step * family_plans) {
        const auto& problem = inputs[t];
        const auto describe = [&] {
          return std::string(target) + ", alpha " + std::to_string(scalars.alpha) + ", " + problem.origin;
        };
        const Way here{"", false, false, false, false, way.floats, way.in_place, way.residues};
        const Outcome expected(problem, scalars, parse_target(target), cpu, here);
        const Outcome actual(problem, scalars, parse_target(target), cuda, way);
        results.expect(expected.c == actual.c, describe);
        kept.expect(expected.prepared == actual.prepared && actual.prepared == actual.c, describe);
        decisions.expect(expected.decision == actual.decision,
                         [&] { return describe() + "\n" + expected.decision + "\n" + actual.decision; });
        certificates.expect(expected.certificate == actual.certificate,
                            [&] { return describe() + "\n" + expected.certificate + "\n" + actual.certificate; });
        assumptions.expect(expected.assumed.empty(), describe);
        assuming += actual.assumed.empty() ? 0 : 1;
        by_residues += actual.certificate.find("residues:") != std::string::npos ? 1 : 0;
      }
  if (way.a_there) assumptions.expect(assuming > 0, [] { return "no search assumes anything"; });
  decisions.expect((by_residues > 0) == way.residues, [&] { return std::to_string(by_residues) + " products by residues"; });
  bool good = true;
  for (const auto* section : {&results, &kept, &decisions, &certificates, &assumptions}) good = section->report() && good;
  return good;
}

/// Operands that two slices round to infinity in every third row: with finite exact entries, and with infinite ones.
Inputs near_overflow(Index m, Index n, bool single) {
  const double largest = single ? double{std::numeric_limits<float>::max()} : std::numeric_limits<double>::max();
  Inputs inputs{
      "near overflow, " + std::to_string(m) + " x " + std::to_string(n), "balanced:2x2:full:exact", {m, 3}, {3, n}, {m, n}};
  for (Index i = 0; i < m; ++i)
    for (Index l = 0; l < 3; ++l)
      inputs.a(i, l) = i % 3 != 0 ? static_cast<double>(i + l) : l == 0 ? largest : -largest * 0x1p-40;
  for (Index l = 0; l < 3; ++l)
    for (Index j = 0; j < n; ++j) inputs.b(l, j) = l > 0 ? 0x1p-5 : static_cast<double>(j % 4) - 1;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) inputs.c0(i, j) = i % 2 == 0 ? largest * 0x1p-60 : 1;
  if (m > 7)
    inputs.a(7, 0) = std::numeric_limits<double>::quiet_NaN(), inputs.c0(0, n - 1) = std::numeric_limits<double>::infinity();
  return inputs;
}

/// Compares entries that slices round to infinity and that are finished exactly.
bool compare_near_overflow(const Backend& cpu, const Backend& cuda) {
  Section results("C near overflow"), certificates("certificates near overflow"), finished("entries finished");
  for (const bool single : {false, true})
    for (const bool on_device : {false, true})
      for (const auto& [m, n] : {std::pair<Index, Index>{1, 2}, {8, 5}, {200, 131}})
        for (const auto* target : {"componentwise:1e-3", "normwise:1e-3", "cr"}) {
          const auto problem = near_overflow(m, n, single);
          const auto describe = [&] { return std::string(target) + ", " + problem.origin + (single ? ", C of floats" : ""); };
          Matrix<double> wide(m, n);
          Matrix<float> narrow(m, n);
          const OutputView c = single ? OutputView(narrow) : OutputView(wide);
          const Placed a(problem.a, on_device), b(problem.b, on_device), c0(problem.c0, on_device),
              c_there(c.as_input(), on_device);
          const Decision decision{parse_target(target), Method::one_plan, parse_plan(problem.plan), m, n, 3, 1, 0, {}, {}};
          const auto expected_bits = [&] { return Placed(c.as_input(), false).bits(); };
          auto there = multiply(RealProduct{a.input(), b.input(), c_there.view(), -1, 1, c0.input()}, decision, cuda);
          const auto found = c_there.bits();
          const auto here = multiply(RealProduct{problem.a, problem.b, c, -1, 1, problem.c0}, decision, cpu);
          there.assumed_in_search.clear();
          results.expect(expected_bits() == found, describe);
          certificates.expect(to_json(here) == to_json(there), [&] { return describe() + to_json(there).dump(); });
          finished.expect(here.exact > 0, describe);
        }
  return results.report() && certificates.report() && finished.report();
}

/// Compares multiply_unproven by slices and by residues: C, or the refusal if the moduli may not hold the product, with C
/// unchanged.
bool compare_planned(const Engine& cpu, const Engine& cuda) {
  Section results("C under a plan"), refusals("refusals of plans");
  const auto said = [](const auto& call) -> std::string {
    try {
      call();
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  const auto inputs = family_inputs();
  Index refused = 0;
  for (std::size_t t = 0; t < inputs.size(); ++t)
    for (const bool in_place : {false, true})
      for (const auto& [alpha, beta] : {Outcome::Scalars{1, 0}, {0, 2}, {-3, 0x1p-900}, {1, INFINITY}}) {
        const auto problem = t % 2 == 0 ? inputs[t] : with_specials(inputs[t]);
        const Index m = problem.a.rows(), n = problem.b.cols();
        Matrix<double> c0(m, n);
        for (Index i = 0; i < m; ++i)
          for (Index j = 0; j < n; ++j) c0(i, j) = i == j ? -INFINITY : problem.a(i, j % problem.a.cols());
        const int bits = 20 + static_cast<int>(t % 40);
        for (const Plan& plan : {parse_plan(problem.plan, problem.a.cols()), Plan(ResiduePlan{13, bits, bits + 1})}) {
          Matrix<double> c = c0;
          const Placed a(problem.a, true), b(problem.b, true), d(c0, true), e(c0, true);
          const auto describe = [&, &alpha = alpha, &beta = beta] {
            return to_string(plan) + ", alpha " + std::to_string(alpha) + ", beta " + std::to_string(beta) +
                   (in_place ? ", in place, " : ", ") + problem.origin;
          };
          const auto expected = said([&, &alpha = alpha, &beta = beta] {
            multiply_unproven({problem.a, problem.b, c, alpha, beta, in_place ? InputView(c) : InputView(c0)}, plan, cpu);
          });
          const auto actual = said([&, &alpha = alpha, &beta = beta] {
            multiply_unproven({a.input(), b.input(), e.view(), alpha, beta, in_place ? e.input() : d.input()}, plan, cuda);
          });
          refusals.expect(expected == actual, [&] { return "'" + expected + "', '" + actual + "', " + describe(); });
          refused += expected.empty() ? 0 : 1;
          results.expect(Placed(c, false).bits() == e.bits(), describe);
        }
      }
  refusals.expect(refused > 0, [] { return "none is refused"; });
  return results.report() && refusals.report();
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  return mirror::compare_on_device([] {
    const CpuEngine cpu;
    const gpu::CudaBackend device;
    const auto cuda = mirror::counting(device);
    const bool answers = mirror::compare_answers(cpu, cuda);
    bool good = answers;
    for (const mirror::Way& way : {mirror::Way{"matrices of the host"},
                                   {"matrices of the device", true, true, true, true},
                                   {"matrices of the device, by slices", true, true, true, true, false, false, false}})
      good = mirror::compare(cpu, cuda, way, 1) && good;
    for (const mirror::Way& way : {mirror::Way{"A of the host", false, true, true, true},
                                   {"B and C0 of the host", true, false, true, false},
                                   {"C of the host", true, true, false, true},
                                   {"A of the device", true},
                                   {"C0 of the device", false, false, false, true},
                                   {"floats of the device", true, true, true, true, true},
                                   {"C in place of C0, of the device", true, true, true, true, false, true},
                                   {"C in place of C0, of the host", true, true, false, false, false, true}})
      good = mirror::compare(cpu, cuda, way, 5) && good;
    good = mirror::compare_near_overflow(cpu, cuda) && good;
    return mirror::compare_planned(cpu, device.engine()) && good;
  });
}
