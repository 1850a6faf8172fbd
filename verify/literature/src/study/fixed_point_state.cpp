// SPDX-License-Identifier: BSD-3-Clause
#include "study/fixed_point_state.hpp"

#include <cmath>
#include <limits>

#include "ozbound/core/detail/outward.hpp"

namespace ozbound::study {
namespace {

__extension__ using Integer = __int128;

constexpr int state_bits = 100, gate_bits = 62, low_bits = 50;

/// x = high 2^50 + low, 0 <= low < 2^50.
struct Limbs {
  std::int64_t high, low;

  explicit Limbs(Integer x)
      : high(static_cast<std::int64_t>(x >> low_bits)), low(static_cast<std::int64_t>(x & ((Integer{1} << low_bits) - 1))) {}
};

/// A sum of at most 2^9 products of gate elements, below 2^63, and parts of a state, below 2^102.
struct Accumulator {
  Integer high = 0, low = 0;

  void add(std::int64_t gate, const Limbs& x) {
    high += Integer{gate} * x.high;
    low += Integer{gate} * x.low;
  }
  void subtract(std::int64_t gate, const Limbs& x) { add(-gate, x); }

  /// The sum times 2^-62, rounded down.
  [[nodiscard]] Integer rounded() const { return (high + (low >> low_bits)) >> (gate_bits - low_bits); }
};

std::int64_t fixed(double x) { return static_cast<std::int64_t>(std::ldexp(x, gate_bits)); }

struct FixedGate {
  std::vector<std::int64_t> real, imaginary;  ///< row-major

  explicit FixedGate(const Gate& gate) {
    for (Index i = 0; i < gate.size; ++i)
      for (Index j = 0; j < gate.size; ++j) {
        real.push_back(fixed(gate.view()(i, j).real()));
        imaginary.push_back(fixed(gate.view()(i, j).imag()));
      }
  }
};

/// True if x is not NaN and an Integer can hold it.
bool is_amplitude(double x) { return std::abs(x) < 0x1p26; }

/// |x| as a double, rounded up and down: the first 53 of 128 bits.
double magnitude_upper(Integer x) {
  const auto size = static_cast<double>(x < 0 ? -x : x);
  return size < 0x1p53 ? size : next_up(size);
}
double magnitude_lower(Integer x) {
  const auto size = static_cast<double>(x < 0 ? -x : x);
  return size < 0x1p53 ? size : next_down(size);
}

}  // namespace

FixedPointState::FixedPointState(const State& state) {
  for (const auto& amplitude : state) {
    real_.push_back(static_cast<Integer>(std::ldexp(amplitude.real(), state_bits)));
    imaginary_.push_back(static_cast<Integer>(std::ldexp(amplitude.imag(), state_bits)));
  }
}

void FixedPointState::apply(const Gate& gate, double defect) {
  const FixedGate fixed_gate(gate);
  const auto size = static_cast<std::size_t>(gate.size), low = std::size_t{1} << gate.first;
#pragma omp parallel for
  for (std::int64_t column = 0; column < static_cast<std::int64_t>(real_.size() / size); ++column) {
    const auto c = static_cast<std::size_t>(column);
    const auto begin = c / low * low * size + c % low;
    std::vector<Limbs> real, imaginary;
    for (std::size_t r = 0; r < size; ++r) {
      real.emplace_back(real_[begin + r * low]);
      imaginary.emplace_back(imaginary_[begin + r * low]);
    }
    for (std::size_t r = 0; r < size; ++r) {
      Accumulator of_real, of_imaginary;
      for (std::size_t l = 0; l < size; ++l) {
        const auto g = fixed_gate.real[r * size + l], h = fixed_gate.imaginary[r * size + l];
        of_real.add(g, real[l]);
        of_real.subtract(h, imaginary[l]);
        of_imaginary.add(g, imaginary[l]);
        of_imaginary.add(h, real[l]);
      }
      real_[begin + r * low] = of_real.rounded();
      imaginary_[begin + r * low] = of_imaginary.rounded();
    }
  }
  // Every part gets an error below 2^-100, and the earlier error grows by the gate's norm.
  const double growth = root_upper(add_upper(1, defect));
  const double rounding = multiply_upper(root_upper(2 * static_cast<double>(real_.size())), std::ldexp(1.0, -state_bits));
  error_ = add_upper(multiply_upper(growth, error_), rounding);
}

State FixedPointState::rounded() const {
  State state;
  for (std::size_t i = 0; i < real_.size(); ++i)
    state.emplace_back(std::ldexp(static_cast<double>(real_[i]), -state_bits),
                       std::ldexp(static_cast<double>(imaginary_[i]), -state_bits));
  return state;
}

State FixedPointState::subtracted_from(const State& x) const {
  const auto part = [](double minuend, Integer value) {
    return is_amplitude(minuend)
               ? std::ldexp(static_cast<double>(static_cast<Integer>(std::ldexp(minuend, state_bits)) - value), -state_bits)
               : std::numeric_limits<double>::infinity();
  };
  State difference;
  for (std::size_t i = 0; i < x.size(); ++i)
    difference.emplace_back(part(x[i].real(), real_[i]), part(x[i].imag(), imaginary_[i]));
  return difference;
}

FixedPointState::Comparison FixedPointState::compare(std::size_t index, bool imaginary, double x) const {
  const Integer value = imaginary ? imaginary_[index] : real_[index];
  if (!is_amplitude(x)) return {std::numeric_limits<double>::infinity(), std::ldexp(magnitude_lower(value), -state_bits)};
  const double scaled = std::ldexp(x, state_bits);
  const auto nearest = static_cast<Integer>(scaled);  // rounds towards zero, with an error below 1, or 0 from 2^53 on
  const double inexact = std::abs(scaled) < 0x1p53 && static_cast<double>(nearest) != scaled ? 1 : 0;
  return {std::ldexp(add_upper(magnitude_upper(nearest - value), inexact), -state_bits),
          std::ldexp(magnitude_lower(value), -state_bits)};
}

double FixedPointState::distance_upper(const State& x) const {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (const bool imaginary : {false, true}) {
      const double error = compare(i, imaginary, imaginary ? x[i].imag() : x[i].real()).error_upper;
      sum = add_upper(sum, multiply_upper(error, error));
    }
  return root_upper(sum);
}

}  // namespace ozbound::study
