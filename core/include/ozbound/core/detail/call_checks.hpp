// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "ozbound/core/detail/overlap.hpp"
#include "ozbound/core/matrices.hpp"

namespace ozbound {

// Checks that every product makes, with the same messages. @throws std::invalid_argument naming the argument.

inline std::string shape_text(Index rows, Index cols) { return std::to_string(rows) + " x " + std::to_string(cols); }

template <class A, class B>
void check_factors(const A& a, const B& b) {
  if (b.rows() != a.cols())
    throw std::invalid_argument("b must have a's inner dimension, " + std::to_string(a.cols()) +
                                " rows: " + shape_text(b.rows(), b.cols()));
}

template <class Matrix>
void check_c(const std::string& name, const Matrix& matrix, Index rows, Index cols) {
  if (matrix.rows() != rows || matrix.cols() != cols)
    throw std::invalid_argument(name + " must be " + shape_text(rows, cols) + (name == "c0" ? " where beta is not 0: " : ": ") +
                                shape_text(matrix.rows(), matrix.cols()));
}

/// Checks that a matrix of a product lies in the same memory as c. @param name name of the matrix `x` for the message
template <class Input, class Output>
void check_place(const std::string& name, const Input& x, const Output& c) {
  if (x.place() != c.place())
    throw std::invalid_argument(name + " must lie where c does: in " + to_string(x.place()) + ", not in " +
                                to_string(c.place()));
}

/// Checks that C shares no memory with A, B or itself, and that C0 is either C or shares no memory with it. @param c0 null if
/// C0 is not read
template <class Input, class Output>
void check_overlaps(const Input& a, const Input& b, const Output& c, const Input* c0) {
  if (overlaps_itself(c)) throw std::invalid_argument("c must not overlap itself: its strides are too small");
  if (overlap(a, c)) throw std::invalid_argument("a must not overlap c");
  if (overlap(b, c)) throw std::invalid_argument("b must not overlap c");
  if (c0 != nullptr && !same_elements(*c0, c) && overlap(*c0, c)) throw std::invalid_argument("c0 must be c or not overlap it");
}

/// Checks that `by` can reach a product's matrices. @param by has reaches(Place) @pre product.check_shapes() passes
template <class Reaching>
void check_reached(const Product& product, const Reaching& by) {
  if (!by.reaches(product.place()))
    throw std::invalid_argument("a, b and c must lie where the engine takes them from, not in " + to_string(product.place()));
}

/// The exception for a workspace cap below the smallest number of bytes that a product needs.
inline std::invalid_argument workspace_below(double least, Index k) {
  return std::invalid_argument("workspace must be at least " + std::to_string(static_cast<Index>(std::ceil(least))) +
                               " bytes for k = " + std::to_string(k));
}

}  // namespace ozbound
