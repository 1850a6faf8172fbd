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

/// U on qubits first, …, first + d - 1, as a 2^d x 2^d matrix, column-major. Qubit `first` is the lowest bit of a row or column
/// index. Parts are multiples of 2^-62, at most 1 + 2^-40 in magnitude.
struct Gate {
  int first = 0;
  Index size = 1;  ///< 2^d
  std::vector<Amplitude> elements;

  [[nodiscard]] MatrixView<const Amplitude> view() const { return column_major(elements.data(), size, size, size); }
};

/// A brickwork circuit: layers of gates on d neighbouring qubits each. Every other layer is shifted by d/2 qubits.
struct CircuitShape {
  int qubits = 1;       ///< from 1 to 30
  int gate_qubits = 1;  ///< d, from 1 to min(qubits, 8)
  int layers = 1;
};

/// The gates of each layer t, which may be applied in any order. They are rounded random unitary matrices: the Q of the QR
/// factorisation of complex normal matrices, with a positive diagonal of R. The same bits on every platform. @throws
/// std::invalid_argument for a shape out of range.
std::vector<std::vector<Gate>> random_circuit(const CircuitShape& shape, std::uint64_t seed);

/// |0 … 0>; and a normal random vector divided by its norm, with parts rounded to multiples of 2^-62.
State zero_state(int qubits);
State random_state(int qubits, std::uint64_t seed);

/// A copy of the state as a matrix of `size` rows, column-major. The row is the gate's index.
std::vector<Amplitude> gathered(const State& state, const Gate& gate);
void scatter(const std::vector<Amplitude>& columns, const Gate& gate, State& state);

/// G* G - I, each part rounded once; and an upper bound of its norm before rounding, as an operator on vectors of amplitudes.
Gate gram_excess(const Gate& gate);
double excess_norm_upper(const Gate& excess);

/// Upper bounds of ||x||, and of || |left factor of G| ||, with |.| by parts: the norm of the real 2 size x 2 size matrix of G.
double norm_upper(const State& state);
double magnitude_norm_upper(const Gate& gate);

/// sqrt(x), rounded up. @pre x >= 0.
double root_upper(double x);

}  // namespace ozbound::study
