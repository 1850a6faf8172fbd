// SPDX-License-Identifier: BSD-3-Clause
#include "study/unitary_drift.hpp"

#include "ozbound/core/float_environment.hpp"

namespace ozbound::study {
namespace {

/// An upper bound of everything that underflows in any vector.
constexpr double underflow = 0x1p-1000;

Amplitude scaled(double factor, const Amplitude& x) { return {factor * x.real(), factor * x.imag()}; }

/// M X, where M is given by a gate's elements and X by columns.
State multiplied(const std::vector<Amplitude>& matrix, const State& x, std::size_t size) {
  State result(x.size());
#pragma omp parallel for schedule(static)
  for (std::size_t begin = 0; begin < x.size(); begin += size) {
    const FloatEnvironment environment;
    for (std::size_t l = 0; l < size; ++l) {
      const double real = x[begin + l].real(), imaginary = x[begin + l].imag();
      for (std::size_t r = 0; r < size; ++r) {
        const Amplitude element = matrix[r + l * size];
        result[begin + r] +=
            Amplitude(element.real() * real - element.imag() * imaginary, element.real() * imaginary + element.imag() * real);
      }
    }
  }
  return result;
}

}  // namespace

void UnitaryDrift::apply(const Gate& gate, const GateFacts& facts, const FixedPointState& before) {
  const auto size = static_cast<std::size_t>(gate.size);
  const auto psi = before.rounded();
  State phi(psi.size());
  for (std::size_t i = 0; i < phi.size(); ++i) phi[i] = psi[i] - drift_[i];
  const double of_psi = norm_upper(psi), of_phi = norm_upper(phi), of_drift = norm_upper(drift_);

  auto inner = gathered(drift_, gate);
  const auto correction = multiplied(facts.excess.elements, gathered(phi, gate), size);
  for (std::size_t i = 0; i < inner.size(); ++i) inner[i] += scaled(0.5, correction[i]);
  const double of_inner = norm_upper(inner);
  scatter(multiplied(gate.elements, inner, size), gate, drift_);

  // (C3), in the order of the derivation.
  const double gamma = (2 * static_cast<double>(size) + 4) * 0x1p-52, growth = root_upper(add_upper(1, facts.defect));
  const double phi_error = add_upper(error_upper(before), multiply_upper(0x1p-50, add_upper(of_psi, of_drift)));
  const double correction_error = add_upper(multiply_upper(facts.defect, phi_error),
                                            multiply_upper(gamma, multiply_upper(magnitude_norm_upper(facts.excess), of_phi)));
  const double inner_error = add_upper(add_upper(error_, correction_error), multiply_upper(0x1p-52, of_inner));
  const double rounding = multiply_upper(gamma, multiply_upper(facts.magnitude_norm, of_inner));
  const double second_order = multiply_upper(multiply_upper(facts.defect, facts.defect), add_upper(of_phi, phi_error));
  error_ = add_upper(add_upper(multiply_upper(growth, add_upper(inner_error, second_order)), rounding), underflow);
}

double UnitaryDrift::distance_upper(const State& x, const FixedPointState& psi) const {
  const auto difference = psi.subtracted_from(x);
  State sum(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] = difference[i] + drift_[i];
  const double roundings = multiply_upper(0x1p-50, add_upper(norm_upper(difference), norm_upper(drift_)));
  const double units = multiply_upper(root_upper(2 * static_cast<double>(x.size())), 0x1p-100);
  return add_upper(add_upper(norm_upper(sum), roundings), units);
}

}  // namespace ozbound::study
