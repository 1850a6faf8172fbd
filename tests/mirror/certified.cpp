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
  if (gpu::device_count() == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  const CpuEngine cpu;
  const gpu::CertifyingEngine cuda;
  std::printf("%s\n", cuda.device_name().c_str());
  const bool of_host = mirror::compare(cpu, cuda, false);
  const bool good = mirror::compare(cpu, cuda, true) && of_host;
  std::printf(good ? "the engines agree in every bit\n" : "the engines DIFFER\n");
  return good ? 0 : 1;
}
