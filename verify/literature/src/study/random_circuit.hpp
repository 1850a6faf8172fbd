// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound::study {

using Amplitude = std::complex<double>;

/// 2^qubits amplitudes; qubit 0 is the lowest bit of an index.
using State = std::vector<Amplitude>;

/// U on qubits first, …, first + d - 1: a 2^d x 2^d matrix, column-major, whose index has qubit `first` as its lowest bit.
/// Parts are multiples of 2^-62, at most 1 + 2^-40 in magnitude.
struct Gate {
  int first = 0;
  Index size = 1;  ///< 2^d
  std::vector<Amplitude> elements;

  [[nodiscard]] MatrixView<const Amplitude> view() const { return column_major(elements.data(), size, size, size); }
};

/// A brickwork: layers of gates on d neighbouring qubits each, every other layer d/2 qubits further up.
struct CircuitShape {
  int qubits = 1;       ///< from 1 to 30
  int gate_qubits = 1;  ///< d, from 1 to min(qubits, 8)
  int layers = 1;
};

/// Gates of layer t, in any order: random unitary matrices, the Q of QR of complex normal ones (the diagonal of R is positive),
/// rounded. The same bits on every platform. @throws std::invalid_argument for a shape out of range.
std::vector<std::vector<Gate>> random_circuit(const CircuitShape& shape, std::uint64_t seed);

/// |0 … 0>, and a normal random vector divided by its norm, whose parts are rounded to multiples of 2^-62.
State zero_state(int qubits);
State random_state(int qubits, std::uint64_t seed);

/// The state as a matrix of `size` rows, column-major, whose row is the gate's index: a copy.
std::vector<Amplitude> gathered(const State& state, const Gate& gate);
void scatter(const std::vector<Amplitude>& columns, const Gate& gate, State& state);

/// G* G - I, each part rounded once, and an upper bound of its norm, in that of vectors of amplitudes: before rounding.
Gate gram_excess(const Gate& gate);
double excess_norm_upper(const Gate& excess);

/// Upper bounds of ||x||, and of || |left factor of G| ||, |.| by parts: the real 2 size x 2 size matrix of G.
double norm_upper(const State& state);
double magnitude_norm_upper(const Gate& gate);

/// sqrt(x), rounded up. @pre x >= 0.
double root_upper(double x);

}  // namespace ozbound::study
