// SPDX-License-Identifier: BSD-3-Clause
#include "study/random_circuit.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ozbound/core/complex_gemm.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/verify/random_stream.hpp"

namespace ozbound::study {
namespace {

using Column = std::vector<Amplitude>;

/// conj(x) . y, by parts, without a library's complex product.
Amplitude inner(const Column& x, const Column& y) {
  double real = 0, imaginary = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    real += x[i].real() * y[i].real() + x[i].imag() * y[i].imag();
    imaginary += x[i].real() * y[i].imag() - x[i].imag() * y[i].real();
  }
  return {real, imaginary};
}

/// y -= c x.
void subtract(Column& y, const Amplitude& c, const Column& x) {
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] -= Amplitude(c.real() * x[i].real() - c.imag() * x[i].imag(), c.real() * x[i].imag() + c.imag() * x[i].real());
}

/// The next column of Q by Gram-Schmidt, applied twice, which is enough (Kahan).
void orthonormalise(Column& column, const std::vector<Column>& before) {
  for (int pass = 0; pass < 2; ++pass)
    for (const auto& other : before) subtract(column, inner(other, column), other);
  const double norm = std::sqrt(inner(column, column).real());
  for (auto& element : column) element = {element.real() / norm, element.imag() / norm};
}

double to_grid(double x) { return std::ldexp(std::nearbyint(std::ldexp(x, 62)), -62); }

Gate random_gate(int first, int qubits, RandomStream& random) {
  Gate gate{.first = first, .size = Index{1} << qubits, .elements = {}};
  std::vector<Column> columns;
  for (Index j = 0; j < gate.size; ++j) {
    Column column;
    for (Index i = 0; i < gate.size; ++i) {
      const double real = random.normal();
      column.emplace_back(real, random.normal());
    }
    orthonormalise(column, columns);
    columns.push_back(std::move(column));
  }
  for (const auto& column : columns)
    for (const auto& element : column) gate.elements.emplace_back(to_grid(element.real()), to_grid(element.imag()));
  return gate;
}

void check(const CircuitShape& shape) {
  if (shape.qubits < 1 || shape.qubits > 30) throw std::invalid_argument("qubits must be from 1 to 30");
  if (shape.gate_qubits < 1 || shape.gate_qubits > std::min(shape.qubits, 8))
    throw std::invalid_argument("gate_qubits must be from 1 to 8, and not above qubits");
  if (shape.layers < 0) throw std::invalid_argument("layers must not be negative");
}

/// Calls f(index of the first amplitude of a column) for every column of the state as a gate's matrix, in order.
template <class F>
void for_each_column(std::size_t amplitudes, const Gate& gate, F f) {
  const auto low = std::size_t{1} << gate.first, high = amplitudes / (low * static_cast<std::size_t>(gate.size));
  for (std::size_t h = 0; h < high; ++h)
    for (std::size_t l = 0; l < low; ++l) f(h * low * static_cast<std::size_t>(gate.size) + l);
}

}  // namespace

std::vector<std::vector<Gate>> random_circuit(const CircuitShape& shape, std::uint64_t seed) {
  check(shape);
  RandomStream random(seed);
  std::vector<std::vector<Gate>> layers;
  for (int layer = 0; layer < shape.layers; ++layer) {
    auto& gates = layers.emplace_back();
    const int offset = layer % 2 == 0 ? 0 : shape.gate_qubits / 2;
    for (int first = offset; first + shape.gate_qubits <= shape.qubits; first += shape.gate_qubits)
      gates.push_back(random_gate(first, shape.gate_qubits, random));
  }
  return layers;
}

State zero_state(int qubits) {
  State state(std::size_t{1} << qubits);
  state[0] = 1;
  return state;
}

State random_state(int qubits, std::uint64_t seed) {
  RandomStream random(seed);
  State state;
  for (std::size_t i = 0; i < std::size_t{1} << qubits; ++i) {
    const double real = random.normal();
    state.emplace_back(real, random.normal());
  }
  const double norm = std::sqrt(inner(state, state).real());
  for (auto& amplitude : state) amplitude = {to_grid(amplitude.real() / norm), to_grid(amplitude.imag() / norm)};
  return state;
}

std::vector<Amplitude> gathered(const State& state, const Gate& gate) {
  std::vector<Amplitude> columns;
  columns.reserve(state.size());
  for_each_column(state.size(), gate, [&](std::size_t begin) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(gate.size); ++r) columns.push_back(state[begin + (r << gate.first)]);
  });
  return columns;
}

void scatter(const std::vector<Amplitude>& columns, const Gate& gate, State& state) {
  std::size_t next = 0;
  for_each_column(state.size(), gate, [&](std::size_t begin) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(gate.size); ++r) state[begin + (r << gate.first)] = columns[next++];
  });
}

double root_upper(double x) { return x == 0 ? 0 : next_up(std::sqrt(x)); }

// Nine slices hold every multiple of 2^-62 in columns with elements up to 2.
Gate gram_excess(const Gate& gate) {
  Gate excess{.first = gate.first, .size = gate.size, .elements = std::vector<Amplitude>(gate.elements.size())};
  Matrix<Amplitude> identity(gate.size, gate.size);
  for (Index i = 0; i < gate.size; ++i) identity(i, i) = 1;
  const ComplexInputView g = gate.view();
  const auto c = column_major(excess.elements.data(), gate.size, gate.size, gate.size);
  multiply_unproven(ComplexProduct{.a = g.adjoint(), .b = g, .c = c, .beta = -1, .c0 = identity},
                    parse_plan("balanced:9x9:full:exact"), CpuEngine({.threads = 1}));
  return excess;
}

// The Frobenius norm. A part is at most (1 + 2^-52) times its rounded value, or half an eta more.
double excess_norm_upper(const Gate& excess) {
  double sum = 0;
  for (const auto& element : excess.elements)
    for (const double part : {element.real(), element.imag()}) {
      const double exact = add_upper(multiply_upper(std::abs(part), 1 + 0x1p-52), 0x1p-1074);
      sum = add_upper(sum, multiply_upper(exact, exact));
    }
  return root_upper(sum);
}

double norm_upper(const State& state) {
  double sum = 0;
  for (const auto& amplitude : state)
    for (const double part : {amplitude.real(), amplitude.imag()})
      sum = add_upper(sum, multiply_upper(std::abs(part), std::abs(part)));
  return root_upper(sum);
}

// ||X||_2^2 <= ||X||_1 ||X||_inf. Rows 2i and 2i + 1 of the real matrix have equal sums of magnitudes, and so do such columns.
double magnitude_norm_upper(const Gate& gate) {
  double rows = 0, columns = 0;
  for (Index i = 0; i < gate.size; ++i) {
    double row = 0, column = 0;
    for (Index j = 0; j < gate.size; ++j) {
      for (const double part : {gate.view()(i, j).real(), gate.view()(i, j).imag()}) row = add_upper(row, std::abs(part));
      for (const double part : {gate.view()(j, i).real(), gate.view()(j, i).imag()}) column = add_upper(column, std::abs(part));
    }
    rows = std::max(rows, row);
    columns = std::max(columns, column);
  }
  return root_upper(multiply_upper(rows, columns));
}

}  // namespace ozbound::study
