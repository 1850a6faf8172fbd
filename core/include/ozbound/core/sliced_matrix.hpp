// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ozbound/core/digits.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/views.hpp"

namespace ozbound {

/// The operand to slice: the rows of A, or the columns of B. Either is a set of `count` vectors along the inner dimension k.
enum class Side : std::uint8_t { rows_of_a, columns_of_b };

/// The vectors of an operand as rows: A itself, or B transposed.
[[nodiscard]] InputView vectors_of(InputView operand, Side side);

/// The scale and the special flag of a vector, found in one pass over the bit patterns.
struct VectorScale {
  std::int32_t exponent = 0;  ///< rho = 2^exponent; 0 for a vector of zeros
  bool special = false;       ///< holds a NaN or an infinity: each of its entries of C is special; its digits are zero
};

/// Digits of all vectors of an operand, in the memory of an engine's choice. Immutable.
class Slices {
 public:
  virtual ~Slices() = default;
  Slices(const Slices&) = delete;
  Slices& operator=(const Slices&) = delete;

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] Slicing slicing() const { return slicing_; }
  [[nodiscard]] Index count() const { return count_; }            ///< m or n
  [[nodiscard]] Index inner_dimension() const { return inner_; }  ///< k

  [[nodiscard]] virtual VectorScale scale(Index i) const = 0;

  /// Digit p (1-based) of element l of vector i.
  [[nodiscard]] virtual int digit(Index i, int p, Index l) const = 0;

  /// The sum of the digits of slice p of vector i.
  [[nodiscard]] virtual std::int64_t sum_of_digits(Index i, int p) const = 0;

  /// Exponent of the weight of digit p of vector i, relative to its rho.
  [[nodiscard]] virtual int weight_exponent(Index i, int p) const = 0;

 protected:
  Slices(Side side, Slicing slicing, Index count, Index inner) : side_(side), slicing_(slicing), count_(count), inner_(inner) {}

 private:
  Side side_;
  Slicing slicing_;
  Index count_;
  Index inner_;
};

/// The result of Engine::slice. Can be kept and multiplied often; copies share the digits.
class SlicedMatrix {
 public:
  /// @pre slices is not null.
  explicit SlicedMatrix(std::shared_ptr<const Slices> slices) : slices_(std::move(slices)) {}

  [[nodiscard]] const Slices& slices() const { return *slices_; }

  [[nodiscard]] Side side() const { return slices_->side(); }
  [[nodiscard]] Slicing slicing() const { return slices_->slicing(); }
  [[nodiscard]] Index count() const { return slices_->count(); }
  [[nodiscard]] Index inner_dimension() const { return slices_->inner_dimension(); }
  [[nodiscard]] int exponent(Index i) const { return slices_->scale(i).exponent; }
  [[nodiscard]] bool special(Index i) const { return slices_->scale(i).special; }
  [[nodiscard]] int digit(Index i, int p, Index l) const { return slices_->digit(i, p, l); }
  [[nodiscard]] std::int64_t sum_of_digits(Index i, int p) const { return slices_->sum_of_digits(i, p); }
  [[nodiscard]] int weight_exponent(Index i, int p) const { return slices_->weight_exponent(i, p); }

 private:
  std::shared_ptr<const Slices> slices_;
};

/// Scale of each vector of an operand under an encoding.
std::vector<VectorScale> vector_scales(InputView operand, Side side, Encoding encoding, int threads);

}  // namespace ozbound
