// Decisions, certified products and kept slices by the CUDA engine against those by the CPU's: the same C, decision and
// certificate, bit for bit.
//
// Usage: certified. Exits with 0 if all agree, 1 if some do not, 77 without a device.

#include <nlohmann/json.hpp>

#include "mirror/problems.hpp"
#include "mirror/products.hpp"
#include "ozbound/bounds/certified_gemm.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

namespace ozbound::mirror {
namespace {

/// Everything that one engine makes of a product and a target.
struct Outcome {
  Matrix<double> c, prepared;
  std::string decision, certificate;

  Outcome(const Inputs& inputs, const Target& target, const Engine& engine)
      : c(inputs.a.rows(), inputs.b.cols()), prepared(inputs.a.rows(), inputs.b.cols()) {
    const auto product = gemm({inputs.a, inputs.b, c}, target, engine);
    decision = to_json(product.decision).dump();
    certificate = to_json(product.certificate).dump();
    const PreparedOperand a(inputs.a, Side::rows_of_a, product.decision, engine);
    const PreparedOperand b(inputs.b, Side::columns_of_b, product.decision, engine);
    gemm({inputs.a, inputs.b, prepared}, product.decision, engine, {.prepared_a = &a, .prepared_b = &b});
  }
};

bool same_bits(const Matrix<double>& x, const Matrix<double>& y) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (bits_of(x(i, j)) != bits_of(y(i, j))) return false;
  return true;
}

bool compare(const Engine& cpu, const Engine& cuda) {
  Section results("C"), kept("C, of kept slices"), decisions("decisions"), certificates("certificates");
  const auto inputs = family_inputs();
  for (const auto* target : {"cr", "dgemm", "componentwise:1e-7", "rowcol:1e-12", "normwise:1e-10", "relative:1e-9"})
    for (std::size_t t = 0; t < inputs.size(); t += family_plans) {
      const auto& problem = inputs[t];
      const auto describe = [&] { return std::string(target) + ", " + problem.origin; };
      const Outcome expected(problem, parse_target(target), cpu), actual(problem, parse_target(target), cuda);
      results.expect(same_bits(expected.c, actual.c), describe);
      kept.expect(same_bits(expected.prepared, actual.prepared) && same_bits(actual.prepared, actual.c), describe);
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
  const gpu::CudaEngine cuda;
  std::printf("%s\n", cuda.device_name().c_str());
  const bool good = mirror::compare(cpu, cuda);
  std::printf(good ? "the engines agree in every bit\n" : "the engines DIFFER\n");
  return good ? 0 : 1;
}
