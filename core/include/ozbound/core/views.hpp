// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <variant>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/place.hpp"
#include "ozbound/core/special.hpp"

namespace ozbound {

/// A read-only operand: a matrix of double or of float, in host memory unless at() says otherwise. Elements are read as bits,
/// exactly, in any floating-point environment.
class InputView {
 public:
  InputView() : view_(MatrixView<const double>{}) {}
  InputView(MatrixView<const double> view) : view_(view) {}  // NOLINT(google-explicit-constructor): a view of a view
  InputView(MatrixView<const float> view) : view_(view) {}   // NOLINT(google-explicit-constructor)
  InputView(MatrixView<double> view) : view_(MatrixView<const double>(view)) {}  // NOLINT(google-explicit-constructor)
  InputView(MatrixView<float> view) : view_(MatrixView<const float>(view)) {}    // NOLINT(google-explicit-constructor)
  template <std::floating_point T>
  InputView(const Matrix<T>& matrix) : view_(matrix.view()) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Index rows() const {
    return std::visit([](const auto& v) { return v.rows(); }, view_);
  }
  [[nodiscard]] Index cols() const {
    return std::visit([](const auto& v) { return v.cols(); }, view_);
  }
  [[nodiscard]] bool empty() const { return rows() == 0 || cols() == 0; }
  [[nodiscard]] bool is_double() const { return view_.index() == 0; }
  [[nodiscard]] const std::variant<MatrixView<const double>, MatrixView<const float>>& typed() const { return view_; }

  [[nodiscard]] Place place() const { return place_; }
  /// A view of the same addresses in another memory.
  [[nodiscard]] InputView at(Place place) const {
    auto view = *this;
    view.place_ = place;
    return view;
  }

  [[nodiscard]] InputView transposed() const {
    return std::visit([this](const auto& v) { return InputView(v.transposed()).at(place_); }, view_);
  }
  [[nodiscard]] InputView block(Index i, Index j, Index rows, Index cols) const {
    return std::visit([=, this](const auto& v) { return InputView(v.block(i, j, rows, cols)).at(place_); }, view_);
  }

  /// Element (i, j) as the bits of a binary64 number of the same value.
  [[nodiscard]] std::uint64_t bits(Index i, Index j) const {
    if (const auto* v = std::get_if<0>(&view_)) return bits_of((*v)(i, j));
    return widen_bits((*std::get_if<1>(&view_))(i, j));
  }

  /// Element (i, j), exactly. @pre the element is finite.
  [[nodiscard]] Dyadic element(Index i, Index j) const { return to_dyadic(bits(i, j), binary64); }

 private:
  std::variant<MatrixView<const double>, MatrixView<const float>> view_;
  Place place_;
};

/// C: a matrix of double or of float to be written.
class OutputView {
 public:
  OutputView(MatrixView<double> view) : view_(view) {}  // NOLINT(google-explicit-constructor): a view of a view
  OutputView(MatrixView<float> view) : view_(view) {}   // NOLINT(google-explicit-constructor)
  template <std::floating_point T>
  OutputView(Matrix<T>& matrix) : view_(matrix.view()) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Index rows() const {
    return std::visit([](const auto& v) { return v.rows(); }, view_);
  }
  [[nodiscard]] Index cols() const {
    return std::visit([](const auto& v) { return v.cols(); }, view_);
  }
  [[nodiscard]] bool is_double() const { return view_.index() == 0; }
  [[nodiscard]] const Format& format() const { return is_double() ? binary64 : binary32; }
  [[nodiscard]] const std::variant<MatrixView<double>, MatrixView<float>>& typed() const { return view_; }

  [[nodiscard]] Place place() const { return place_; }
  /// A view of the same addresses in another memory.
  [[nodiscard]] OutputView at(Place place) const {
    auto view = *this;
    view.place_ = place;
    return view;
  }

  [[nodiscard]] OutputView block(Index i, Index j, Index rows, Index cols) const {
    return std::visit([=, this](const auto& v) { return OutputView(v.block(i, j, rows, cols)).at(place_); }, view_);
  }
  [[nodiscard]] InputView as_input() const {
    return std::visit([this](const auto& v) { return InputView(v).at(place_); }, view_);
  }

  /// Writes the number of format() with these bits.
  void set_bits(Index i, Index j, std::uint64_t bits) const {
    if (const auto* v = std::get_if<0>(&view_))
      (*v)(i, j) = double_from_bits(bits);
    else
      (*std::get_if<1>(&view_))(i, j) = float_from_bits(bits);
  }

 private:
  std::variant<MatrixView<double>, MatrixView<float>> view_;
  Place place_;
};

}  // namespace ozbound
