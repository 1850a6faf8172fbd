// SPDX-License-Identifier: BSD-3-Clause
// Complex products by the CUDA engine against those by the CPU's, bit for bit: under plans and for targets, with real and
// complex scalars, transposed and conjugated operands in every storage.
//
// Usage: complex. Exits with 0 if all agree, 1 if some do not, 77 without a device.

#include <complex>
#include <nlohmann/json.hpp>
#include <string>

#include "mirror/counting.hpp"
#include "mirror/device_stored.hpp"
#include "mirror/products.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "support/stored_complex.hpp"

namespace ozbound::mirror {
namespace {

using test::StoredComplex;

struct ComplexSample {
  StoredComplex a, b, c0, c;
  bool transposed, conjugated;
  std::complex<double> alpha, beta;

  [[nodiscard]] ComplexProduct product() { return call(a.input(), b.input(), c0.input(), c.output()); }

  /// The call with copies of the operands in the same storage.
  [[nodiscard]] ComplexProduct call(const ComplexInputView& of_a, const ComplexInputView& of_b, const ComplexInputView& of_c0,
                                    const ComplexOutputView& of_c) const {
    const auto view = transposed ? of_a.transposed() : of_a;
    return {conjugated ? view.conjugate() : view, of_b, of_c, alpha, beta, of_c0};
  }
};

/// The same product in device memory, except those of a, b, c0 and c whose bit of `placement` is not set. Scalars are real.
class PlacedProduct {
 public:
  PlacedProduct(ComplexSample product, unsigned placement)
      : product_(std::move(product)),
        placement_(placement),
        a_(copy(product_.a)),
        b_(copy(product_.b)),
        c0_(copy(product_.c0)),
        c_(copy(product_.c)) {
    product_.alpha.imag(0), product_.beta.imag(0);
  }

  [[nodiscard]] ComplexProduct product() {
    return product_.call(placed(product_.a, a_, 1).as_input(), placed(product_.b, b_, 2).as_input(),
                         placed(product_.c0, c0_, 4).as_input(), placed(product_.c, c_, 8));
  }

  /// C on the host.
  const StoredComplex& result() {
    if ((placement_ & 8) != 0) c_.copy_to(product_.c.parts(), cudaStreamPerThread);
    return product_.c;
  }

 private:
  static DeviceStored copy(StoredComplex& matrix) { return {matrix.parts(), cudaStreamPerThread}; }

  ComplexOutputView placed(StoredComplex& matrix, const DeviceStored& there, unsigned bit) const {
    return (placement_ & bit) != 0 ? matrix.output(there.view(matrix.parts())) : matrix.output();
  }

  ComplexSample product_;
  unsigned placement_;
  DeviceStored a_, b_, c0_, c_;
};

StoredComplex sample_matrix(Index rows, Index cols, Side side, bool specials, RandomBits& random) {
  const bool single = random.once_in(3);
  StoredComplex matrix(rows, cols, case_sampling::sample_storage(single, random));
  for (const auto of : both_parts)
    case_sampling::sample_operand(rows, cols, single, side, true, random,
                                  [&](Index i, Index j, double value) { matrix.set(i, j, of, value); });
  if (specials && rows > 0 && cols > 0) matrix.set(rows / 2, cols / 3, Part::imaginary, case_sampling::sample_special(random));
  return matrix;
}

std::complex<double> sample_scalar(bool complex, RandomBits& random) {
  return {case_sampling::sample_scalar(random), complex ? case_sampling::sample_scalar(random) : 0};
}

ComplexSample sample_product(std::uint64_t seed) {
  RandomBits random(seed);
  const Index m = random.below(40), n = random.below(40), k = random.below(60);
  const bool transposed = random.once_in(2), conjugated = random.once_in(2), complex = random.once_in(2);
  const bool specials = random.once_in(3);
  const auto storage = [&] { return case_sampling::sample_storage(random.once_in(3), random); };
  return {transposed ? sample_matrix(k, m, Side::columns_of_b, specials, random)
                     : sample_matrix(m, k, Side::rows_of_a, specials, random),
          sample_matrix(k, n, Side::columns_of_b, false, random),
          sample_matrix(m, n, Side::rows_of_a, false, random),
          StoredComplex(m, n, storage()),
          transposed,
          conjugated,
          sample_scalar(complex, random),
          random.once_in(2) ? std::complex<double>(0) : sample_scalar(complex, random)};
}

bool same_bits(const StoredComplex& x, const StoredComplex& y) {
  bool same = x.intact() && y.intact();
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      for (const auto of : both_parts) same = same && x.bits(i, j, of) == y.bits(i, j, of);
  return same;
}

bool compare(const Engine& cpu, const Backend& device) {
  const auto& cuda = device.engine();
  Section plans("complex, under a plan"), targets("complex, for a target"), records("decisions and certificates"),
      placed("complex, in device memory"), placed_records("their certificates");
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto origin = [&] { return "seed " + std::to_string(seed); };
    auto here = sample_product(seed), there = here;
    RandomBits random(seed + 1000);
    const auto plan = case_sampling::sample_plan(random, 8);
    multiply_unproven(here.product(), plan, cpu), multiply_unproven(there.product(), plan, cuda);
    plans.expect(same_bits(here.c, there.c), [&] { return origin() + ", " + to_string(plan); });
    const char* const texts[] = {"cr",          "dgemm",         "dgemm-typical", "componentwise:1e-5",
                                 "rowcol:1e-4", "normwise:1e-4", "relative:1e-4"};
    const auto target = parse_target(random.pick(texts));
    const auto expected = multiply(here.product(), target, cpu), actual = multiply(there.product(), target, device);
    targets.expect(same_bits(here.c, there.c), [&] { return origin() + ", " + to_string(target); });
    const auto record = [](Multiplied product) {
      product.certificate.assumed_in_search.clear();  // the only member in which certificates may differ
      return to_json(product.decision).dump() + to_json(product.certificate).dump();
    };
    records.expect(record(expected) == record(actual),
                   [&] { return origin() + "\n" + record(expected) + "\n" + record(actual); });

    auto real = sample_product(seed);
    real.alpha.imag(0), real.beta.imag(0);
    PlacedProduct placed_product(real, static_cast<unsigned>(random.between(1, 15)));
    multiply_unproven(real.product(), plan, cpu), multiply_unproven(placed_product.product(), plan, cuda);
    placed.expect(same_bits(real.c, placed_product.result()), [&] { return origin() + ", " + to_string(plan); });
    const auto here_too = multiply(real.product(), target, cpu), there_too = multiply(placed_product.product(), target, device);
    placed.expect(same_bits(real.c, placed_product.result()), [&] { return origin() + ", " + to_string(target); });
    placed_records.expect(record(here_too) == record(there_too),
                          [&] { return origin() + "\n" + record(here_too) + "\n" + record(there_too); });
  }
  bool good = true;
  for (const auto* section : {&plans, &targets, &records, &placed, &placed_records}) good = section->report() && good;
  return good;
}

}  // namespace
}  // namespace ozbound::mirror

int main() {
  using namespace ozbound;
  return mirror::compare_on_device([] {
    const gpu::CudaBackend device;
    return mirror::compare(CpuEngine(), mirror::counting(device));
  });
}
