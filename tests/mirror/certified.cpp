// Decisions, certified products and kept slices by the CUDA engine, of matrices in the host's memory and in the device's,
// against those by the CPU's: the same C, decision and certificate, bit for bit.
//
// Usage: certified. Exits with 0 if all agree, 1 if some do not, 77 without a device.

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mirror/problems.hpp"
#include "mirror/products.hpp"
#include "ozbound/bounds/certified_gemm.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/scheme.hpp"
#include "ozbound/gpu/certifying_engine.hpp"
#include "transfer.hpp"

namespace ozbound::mirror {
namespace {

/// A matrix of the host's, or a copy of it in device memory.
class Placed {
 public:
  Placed(const InputView& host, bool on_device) : host_(host) {
    if (on_device) copy_ = gpu::DeviceCopy(host, cudaStreamPerThread);
  }

  [[nodiscard]] OutputView view() const {
    return std::visit(
        [this]<class T>(const MatrixView<const T>& v) {
          if (copy_.matrix().data == nullptr)
            return OutputView(MatrixView<T>(const_cast<T*>(v.data()), v.rows(), v.cols(), v.row_stride(), v.col_stride()));
          const auto& there = copy_.matrix();
          return OutputView(MatrixView<T>(static_cast<T*>(there.data), v.rows(), v.cols(), there.row_stride, there.col_stride));
        },
        host_.typed());
  }
  [[nodiscard]] InputView input() const { return view().as_input(); }

  [[nodiscard]] std::vector<std::uint64_t> bits() const {
    const gpu::HostCopy copy(input(), cudaStreamPerThread);
    std::vector<std::uint64_t> result;
    for (Index i = 0; i < host_.rows(); ++i)
      for (Index j = 0; j < host_.cols(); ++j) result.push_back(copy.view().bits(i, j));
    return result;
  }

 private:
  InputView host_;
  gpu::DeviceCopy copy_;
};

/// Everything that one engine makes of a product and a target.
struct Outcome {
  struct Scalars {
    double alpha, beta;
  };

  std::vector<std::uint64_t> c, prepared;
  std::string decision, certificate;

  Outcome(const Inputs& inputs, const Scalars& scalars, const Target& target, const Engine& engine, bool on_device) {
    const auto m = inputs.a.rows(), n = inputs.b.cols();
    const Matrix<double> unset(m, n), c0 = addend(m, n);
    const Placed at_a(inputs.a, on_device), at_b(inputs.b, on_device), at_c(unset, on_device), at_c0(c0, on_device);
    const GemmCall call{at_a.input(), at_b.input(), at_c.view(), scalars.alpha, scalars.beta, at_c0.input()};
    const auto product = gemm(call, target, engine);
    c = at_c.bits();
    decision = to_json(product.decision).dump();
    certificate = to_json(product.certificate).dump();
    const PreparedOperand a(call.a, Side::rows_of_a, product.decision, engine);
    const PreparedOperand b(call.b, Side::columns_of_b, product.decision, engine);
    certificate += to_json(gemm(call, product.decision, engine, {.prepared_a = &a, .prepared_b = &b})).dump();
    prepared = at_c.bits();
  }

 private:
  /// C0, with an infinity.
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

/// What certificates are made of, asked one by one.
bool compare_answers(const HostAccess& host, const gpu::CertifyingEngine& cuda) {
  Section prints("fingerprints"), ranges("exponent ranges"), specials("specials"), exact("exact products"),
      finished("exact entries"), bounds("largest bounds"), inexact("last inexact entries"), relative("relative entries");
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
      const GemmCall call{problem.a, problem.b, c, -3, 0.5, c0};
      const GemmCall there{a.input(), b.input(), c_there.view(), -3, 0.5, d.input()};

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

      DecideOptions options;
      const auto bound = host.examine({call.a, call.b}, options)->bound(parse_plan(problem.plan, problem.a.cols()));
      ErrorBound error;
      error.alpha = -3, error.product = bound.product;
      error.row_exponents = bound.row_exponents, error.column_exponents = bound.column_exponents;
      bounds.expect(bits_of(host.largest_bound(error, nullptr, c.as_input(), here)) ==
                        bits_of(cuda.largest_bound(error, nullptr, there.c.as_input(), known)),
                    describe);
      inexact.expect(host.last_inexact(bound.product, here) == cuda.last_inexact(bound.product, known), describe);
      const Matrix<double> product = as_doubles(c.as_input());
      const Placed product_there(product, true);
      const auto accepted = host.accept_relative(product, error, 0x1p-20, here, c);
      const auto accepted_there = cuda.accept_relative(product_there.input(), error, 0x1p-20, known, there.c);
      relative.expect(accepted.open == accepted_there.open && bits_of(accepted.worst) == bits_of(accepted_there.worst) &&
                          Placed(c.as_input(), false).bits() == c_there.bits(),
                      describe);
    }
  bool good = true;
  for (const auto* section : {&prints, &ranges, &specials, &exact, &finished, &bounds, &inexact, &relative})
    good = section->report() && good;
  return good;
}

bool compare(const Engine& cpu, const Engine& cuda, bool on_device) {
  std::printf("matrices in the %s's memory\n", on_device ? "device" : "host");
  Section results("C"), kept("C, of kept slices"), decisions("decisions"), certificates("certificates");
  const auto inputs = family_inputs();
  for (const auto* target : {"cr", "dgemm", "componentwise:1e-7", "rowcol:1e-12", "normwise:1e-10", "relative:1e-9"})
    for (const auto& scalars : {Outcome::Scalars{1, 0}, {-0x1.8p3, 0.75}})
      for (std::size_t t = 0; t < inputs.size(); t += family_plans) {
        const auto& problem = inputs[t];
        const auto describe = [&] {
          return std::string(target) + ", alpha " + std::to_string(scalars.alpha) + ", " + problem.origin;
        };
        const Outcome expected(problem, scalars, parse_target(target), cpu, false);
        const Outcome actual(problem, scalars, parse_target(target), cuda, on_device);
        results.expect(expected.c == actual.c, describe);
        kept.expect(expected.prepared == actual.prepared && actual.prepared == actual.c, describe);
        decisions.expect(expected.decision == actual.decision,
                         [&] { return describe() + "\n" + expected.decision + "\n" + actual.decision; });
        certificates.expect(expected.certificate == actual.certificate,
                            [&] { return describe() + "\n" + expected.certificate + "\n" + actual.certificate; });
      }
  bool good = true;
  for (const auto* section : {&results, &kept, &decisions, &certificates}) good = section->report() && good;
  return good;
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  return mirror::compare_on_device([] {
    const CpuEngine cpu;
    const gpu::CertifyingEngine cuda;
    const bool answers = mirror::compare_answers(HostAccess(cpu), cuda);
    const bool of_host = mirror::compare(cpu, cuda, false);
    return mirror::compare(cpu, cuda, true) && of_host && answers;
  });
}
