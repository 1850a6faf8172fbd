// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <variant>

#include "ozbound/core/views.hpp"

namespace ozbound {

/// A component of a complex number.
enum class Part : std::uint8_t { real, imaginary };

inline constexpr Part both_parts[] = {Part::real, Part::imaginary};
constexpr Part other(Part part) { return part == Part::real ? Part::imaginary : Part::real; }

/// A view of the real or the imaginary parts of a complex matrix, without a copy.
template <class Real, class Complex>
MatrixView<Real> part_of(const MatrixView<Complex>& view, Part part) {
  auto* const parts = reinterpret_cast<Real*>(view.data());  // [complex.numbers.general] gives access to the parts as an array
  return {parts == nullptr || part == Part::real ? parts : parts + 1, view.rows(), view.cols(), 2 * view.row_stride(),
          2 * view.col_stride()};
}

/// A read-only complex operand: complex<double> or complex<float>, conjugated or not.
class ComplexInputView {
 public:
  ComplexInputView() : view_(MatrixView<const std::complex<double>>{}) {}
  ComplexInputView(MatrixView<const std::complex<double>> view) : view_(view) {}  // NOLINT(google-explicit-constructor)
  ComplexInputView(MatrixView<const std::complex<float>> view) : view_(view) {}   // NOLINT(google-explicit-constructor)
  ComplexInputView(MatrixView<std::complex<double>> view)  // NOLINT(google-explicit-constructor): a view of a view
      : view_(MatrixView<const std::complex<double>>(view)) {}
  ComplexInputView(MatrixView<std::complex<float>> view)  // NOLINT(google-explicit-constructor)
      : view_(MatrixView<const std::complex<float>>(view)) {}
  template <std::floating_point T>
  ComplexInputView(const Matrix<std::complex<T>>& matrix) : view_(matrix.view()) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Index rows() const {
    return std::visit([](const auto& v) { return v.rows(); }, view_);
  }
  [[nodiscard]] Index cols() const {
    return std::visit([](const auto& v) { return v.cols(); }, view_);
  }
  [[nodiscard]] bool empty() const { return rows() == 0 || cols() == 0; }
  [[nodiscard]] bool is_double() const { return view_.index() == 0; }
  [[nodiscard]] bool conjugated() const { return conjugated_; }
  /// The elements in memory, before conjugation.
  [[nodiscard]] const std::variant<MatrixView<const std::complex<double>>, MatrixView<const std::complex<float>>>& typed()
      const {
    return view_;
  }

  [[nodiscard]] Place place() const { return place_; }
  /// A view of the same addresses in another memory.
  [[nodiscard]] ComplexInputView at(Place place) const {
    auto view = *this;
    view.place_ = place;
    return view;
  }

  [[nodiscard]] ComplexInputView transposed() const {
    return std::visit([this](const auto& v) { return ComplexInputView(v.transposed(), conjugated_).at(place_); }, view_);
  }
  [[nodiscard]] ComplexInputView conjugate() const {
    auto view = *this;
    view.conjugated_ = !conjugated_;
    return view;
  }
  [[nodiscard]] ComplexInputView adjoint() const { return transposed().conjugate(); }

  /// A component of element (i, j) as the bits of a binary64 number of the same value. Conjugation flips the sign bit, also of
  /// a NaN.
  [[nodiscard]] std::uint64_t bits(Index i, Index j, Part of) const {
    const auto flip = conjugated_ && of == Part::imaginary ? binary64.sign : 0;
    return stored_parts(of).bits(i, j) ^ flip;
  }

  /// A component of element (i, j), exactly. @pre The component is finite.
  [[nodiscard]] Dyadic element(Index i, Index j, Part of) const { return to_dyadic(bits(i, j, of), binary64); }

  /// A view of the real or imaginary parts in memory, before conjugation.
  [[nodiscard]] InputView stored_parts(Part of) const {
    if (const auto* v = std::get_if<0>(&view_)) return InputView(part_of<const double>(*v, of)).at(place_);
    return InputView(part_of<const float>(*std::get_if<1>(&view_), of)).at(place_);
  }

 private:
  template <class View>
  ComplexInputView(const View& view, bool conjugated) : view_(view), conjugated_(conjugated) {}

  std::variant<MatrixView<const std::complex<double>>, MatrixView<const std::complex<float>>> view_;
  bool conjugated_ = false;
  Place place_;
};

/// C: a complex matrix to be written.
class ComplexOutputView {
 public:
  ComplexOutputView(MatrixView<std::complex<double>> view) : view_(view) {}  // NOLINT(google-explicit-constructor)
  ComplexOutputView(MatrixView<std::complex<float>> view) : view_(view) {}   // NOLINT(google-explicit-constructor)
  template <std::floating_point T>
  ComplexOutputView(Matrix<std::complex<T>>& matrix) : view_(matrix.view()) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Index rows() const {
    return std::visit([](const auto& v) { return v.rows(); }, view_);
  }
  [[nodiscard]] Index cols() const {
    return std::visit([](const auto& v) { return v.cols(); }, view_);
  }
  [[nodiscard]] bool is_double() const { return view_.index() == 0; }
  [[nodiscard]] const Format& format() const { return is_double() ? binary64 : binary32; }
  [[nodiscard]] const std::variant<MatrixView<std::complex<double>>, MatrixView<std::complex<float>>>& typed() const {
    return view_;
  }
  [[nodiscard]] Place place() const { return place_; }
  /// A view of the same addresses in another memory.
  [[nodiscard]] ComplexOutputView at(Place place) const {
    auto view = *this;
    view.place_ = place;
    return view;
  }
  [[nodiscard]] ComplexInputView as_input() const {
    return std::visit([this](const auto& v) { return ComplexInputView(v).at(place_); }, view_);
  }
  /// A view of the real or imaginary parts in memory.
  [[nodiscard]] OutputView parts(Part of) const {
    if (const auto* v = std::get_if<0>(&view_)) return OutputView(part_of<double>(*v, of)).at(place_);
    return OutputView(part_of<float>(*std::get_if<1>(&view_), of)).at(place_);
  }

 private:
  std::variant<MatrixView<std::complex<double>>, MatrixView<std::complex<float>>> view_;
  Place place_;
};

}  // namespace ozbound
