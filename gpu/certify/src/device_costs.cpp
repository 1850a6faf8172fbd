// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/gpu/device_costs.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "device_slices.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/gpu/cublas_gemm.hpp"
#include "ozbound/gpu/cuda_engine.hpp"

namespace ozbound::gpu {
namespace {

constexpr KernelTile tile{DeviceSlices::vector_step, DeviceSlices::vector_step};

/// Computes the product of a call with matrices on the device. The first call copies them to the device; its time is ignored if
/// there are further calls.
class ResidentProduct {
 public:
  void operator()(const RealProduct& product, const Decision& decision, const Backend& backend) {
    if (!holds(product)) a_ = product.a, b_ = product.b, near_ = backend.matrices().bring(product);
    static_cast<void>(multiply(near_ ? near_->product() : product, decision, backend));
  }

 private:
  [[nodiscard]] bool holds(const RealProduct& product) const {
    return a_ && same_elements(*a_, product.a) && same_elements(*b_, product.b) && a_->rows() == product.a.rows() &&
           b_->cols() == product.b.cols() && b_->rows() == product.b.rows();
  }

  std::optional<InputView> a_, b_;
  std::shared_ptr<const RealRepresentation> near_;  ///< shared: a std::function is copied
};

/// Seconds per element for copies to the device and back.
struct Transfer {
  double to, from;

  static Transfer measured(const Matrices& matrices) {
    constexpr Index n = 4096;
    Matrix<double> a(n, n), b(n, n), c(n, n);
    const auto elements = static_cast<double>(n) * static_cast<double>(n);
    const RealProduct product{a, b, c};
    const auto near = matrices.bring(product);
    return {median_seconds([&] { static_cast<void>(matrices.bring(product)); }, budget) / (2 * elements),
            median_seconds([&] { near->write_back(); }, budget) / elements};
  }
  static constexpr double budget = 2;  ///< seconds
};

/// Adds to the seconds of a term.
template <std::size_t n>
void add(const std::array<std::string_view, n>& terms, std::array<double, n>& seconds, std::string_view term, double more) {
  seconds[static_cast<std::size_t>(std::ranges::find(terms, term) - terms.begin())] += more;
}

/// Rates of products of host matrices, from the rates of products of device matrices.
Rates with_transfer(Rates rates, const Transfer& transfer) {
  add(slice_terms, rates.slices, "element", transfer.to);
  add(slice_terms, rates.slices, "entry", transfer.from);
  add(exact_terms, rates.exact, "element", transfer.to);
  add(exact_terms, rates.exact, "entry", transfer.from);
  if (rates.residues) {
    add(residue_terms, *rates.residues, "element", transfer.to);
    add(residue_terms, *rates.residues, "entry", transfer.from);
  }
  if (!rates.native) return rates;
  for (const auto* term : {"a", "b"}) add(native_terms, *rates.native, term, transfer.to);
  add(native_terms, *rates.native, "entry", transfer.from);
  return rates;
}

}  // namespace

Calibration this_device(int device) {
  const auto all = devices();
  if (device < 0 || device >= static_cast<int>(all.size()))
    throw std::invalid_argument("device: CUDA offers no device " + std::to_string(device));
  const auto& facts = all[static_cast<std::size_t>(device)];
  return {facts.name + ", compute capability " + facts.compute_capability,
          "automatic",
          OZBOUND_VERSION,
          tile,
          {},
          "cuda",
          cublas_name()};
}

std::optional<CalibratedCosts> device_costs(int device, int threads) { return known_costs(this_device(device), threads); }

Rates measure_device_rates(const Backend& backend, CalibrationOptions options) {
  auto samples = calibration_samples(true);
  options.multiply = ResidentProduct();
  return with_transfer(measure_rates(samples, backend, tile, options), Transfer::measured(backend.matrices()));
}

}  // namespace ozbound::gpu
