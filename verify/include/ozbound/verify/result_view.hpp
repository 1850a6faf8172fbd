// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/oracle.hpp"

namespace ozbound {

/// A computed C of doubles or floats, read exactly as doubles, with its own format. The matrix must outlive the view.
class ResultView {
 public:
  template <class T>
    requires std::is_same_v<std::remove_const_t<T>, double>
  ResultView(MatrixView<T> c) : doubles_(c) {}  // NOLINT(google-explicit-constructor): any result is a ResultView

  template <class T>
    requires std::is_same_v<std::remove_const_t<T>, float>
  ResultView(MatrixView<T> c) : format_(ResultFormat::of_float), floats_(c) {}  // NOLINT(google-explicit-constructor)

  ResultView(const Matrix<double>& c) : ResultView(c.view()) {}  // NOLINT(google-explicit-constructor)
  ResultView(const Matrix<float>& c) : ResultView(c.view()) {}   // NOLINT(google-explicit-constructor)

  [[nodiscard]] ResultFormat format() const { return format_; }
  [[nodiscard]] Index rows() const { return format_ == ResultFormat::of_double ? doubles_.rows() : floats_.rows(); }
  [[nodiscard]] Index cols() const { return format_ == ResultFormat::of_double ? doubles_.cols() : floats_.cols(); }

  double operator()(Index i, Index j) const;

 private:
  ResultFormat format_ = ResultFormat::of_double;
  MatrixView<const double> doubles_;
  MatrixView<const float> floats_;
};

}  // namespace ozbound
