// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/views.hpp"
#include "ozbound/verify/storage.hpp"

namespace ozbound {

/// A matrix in memory. At first every element and all padding are a signalling NaN. Code that reads padding gets NaN, and
/// intact() detects code that writes to it.
class StoredMatrix {
 public:
  StoredMatrix(Index rows, Index cols, Storage storage = {}) : rows_(rows), cols_(cols), storage_(storage) {
    const Index lines = storage.column_major ? cols : rows;
    const auto size = static_cast<std::size_t>(2 * storage.padding + lines * ld());
    if (storage.single)
      elements_ = std::vector<float>(size, float_from_bits(binary32_filler));
    else
      elements_ = std::vector<double>(size, double_from_bits(binary64_filler));
  }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] const Storage& storage() const { return storage_; }
  [[nodiscard]] Index ld() const { return std::max<Index>(1, storage_.column_major ? rows_ : cols_) + storage_.padding; }

  [[nodiscard]] OutputView output() {
    return std::visit([this](auto& elements) { return OutputView(view_of(elements.data())); }, elements_);
  }
  [[nodiscard]] InputView input() const {
    return std::visit([this](const auto& elements) { return InputView(view_of(elements.data())); }, elements_);
  }

  /// Sets element (i, j) to a number of the element type, given as a double. Exact except for NaN payloads.
  void set(Index i, Index j, double value) {
    std::visit(
        [&](auto& elements) {
          using T = typename std::decay_t<decltype(elements)>::value_type;
          view_of(elements.data())(i, j) = static_cast<T>(value);
        },
        elements_);
  }

  /// The bits of element (i, j) in its own format.
  [[nodiscard]] std::uint64_t bits(Index i, Index j) const {
    return std::visit([&](const auto& elements) { return bits_of(view_of(elements.data())(i, j)); }, elements_);
  }

  /// The value of element (i, j).
  [[nodiscard]] double value(Index i, Index j) const { return double_from_bits(input().bits(i, j)); }

  /// True if only elements were ever written.
  [[nodiscard]] bool intact() const {
    return std::visit(
        [this](const auto& elements) {
          std::vector<bool> used(elements.size());
          for (Index i = 0; i < rows_; ++i)
            for (Index j = 0; j < cols_; ++j) used[static_cast<std::size_t>(place(i, j))] = true;
          for (std::size_t t = 0; t < elements.size(); ++t)
            if (!used[t] && bits_of(elements[t]) != (storage_.single ? binary32_filler : binary64_filler)) return false;
          return true;
        },
        elements_);
  }

  /// True if element (i, j) still has its initial bits.
  [[nodiscard]] bool untouched(Index i, Index j) const {
    return bits(i, j) == (storage_.single ? binary32_filler : binary64_filler);
  }

 private:
  static constexpr std::uint64_t binary64_filler = 0x7ff4dead0badf00d;
  static constexpr std::uint64_t binary32_filler = 0x7fa0dead;

  [[nodiscard]] Index place(Index i, Index j) const {
    return storage_.padding + (storage_.column_major ? i + j * ld() : i * ld() + j);
  }

  template <class T>
  [[nodiscard]] MatrixView<T> view_of(T* data) const {
    T* const origin = data == nullptr ? nullptr : data + storage_.padding;
    return storage_.column_major ? ozbound::column_major(origin, rows_, cols_, ld()) : row_major(origin, rows_, cols_, ld());
  }

  Index rows_, cols_;
  Storage storage_;
  std::variant<std::vector<double>, std::vector<float>> elements_;
};

}  // namespace ozbound
