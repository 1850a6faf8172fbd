// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <variant>

#include "ozbound/core/complex_views.hpp"
#include "properties/stored_matrix.hpp"

namespace ozbound {

/// A complex matrix in memory: a StoredMatrix of its parts, side by side, with its canaries.
class StoredComplex {
 public:
  /// `storage.padding` counts real numbers and is made even.
  StoredComplex(Index rows, Index cols, Storage storage = {})
      : rows_(rows),
        cols_(cols),
        parts_(storage.column_major ? 2 * rows : rows, storage.column_major ? cols : 2 * cols, even(storage)) {}

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] const Storage& storage() const { return parts_.storage(); }
  [[nodiscard]] bool intact() const { return parts_.intact(); }

  void set(Index i, Index j, Part of, double x) { parts_.set(row(i, of), col(j, of), x); }
  void set(Index i, Index j, std::complex<double> x) { set(i, j, Part::real, x.real()), set(i, j, Part::imaginary, x.imag()); }
  [[nodiscard]] double value(Index i, Index j, Part of) const { return parts_.value(row(i, of), col(j, of)); }
  [[nodiscard]] std::uint64_t bits(Index i, Index j, Part of) const { return parts_.bits(row(i, of), col(j, of)); }

  /// The parts in memory.
  [[nodiscard]] StoredMatrix& parts() { return parts_; }

  /// A view of these parts, or of a copy with the same layout elsewhere.
  [[nodiscard]] ComplexOutputView output(const OutputView& parts) const {
    return std::visit(
        [this]<class Real>(const MatrixView<Real>& v) { return ComplexOutputView(complex_view<std::complex<Real>>(v)); },
        parts.typed());
  }

  [[nodiscard]] ComplexInputView input() const {
    return std::visit(
        [this]<class Real>(const MatrixView<const Real>& v) {
          return ComplexInputView(complex_view<const std::complex<Real>>(v));
        },
        parts_.input().typed());
  }
  [[nodiscard]] ComplexOutputView output() { return output(parts_.output()); }

 private:
  static Storage even(Storage storage) {
    storage.padding += storage.padding % 2;
    return storage;
  }
  [[nodiscard]] Index row(Index i, Part of) const { return storage().column_major ? 2 * i + static_cast<Index>(of) : i; }
  [[nodiscard]] Index col(Index j, Part of) const { return storage().column_major ? j : 2 * j + static_cast<Index>(of); }

  template <class Complex, class View>
  [[nodiscard]] MatrixView<Complex> complex_view(const View& v) const {
    const Index ld = (parts_.ld() + 1) / 2;  // 1 for a matrix without elements
    return {reinterpret_cast<Complex*>(v.data()), rows_, cols_, storage().column_major ? 1 : ld,
            storage().column_major ? ld : 1};
  }

  Index rows_, cols_;
  StoredMatrix parts_;
};

}  // namespace ozbound
