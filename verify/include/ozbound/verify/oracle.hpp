// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/problem.hpp"

namespace ozbound {

/// The inputs of C = alpha A B + beta C0: A is m x k, B k x n, C0 m x n (read only if beta != 0). The matrices must outlive all
/// objects that hold these inputs.
///
/// For a complex product, rows 2i and 2i + 1 of C are the real and the imaginary parts of row i (ComplexOperands makes such
/// matrices). Complex scalars require a complex product. With S = A B, the real part in row 2i is alpha S_2i - imaginary_alpha
/// S_2i+1 + beta c0_2i - imaginary_beta c0_2i+1, and the imaginary part in row 2i + 1 is alpha S_2i+1 + imaginary_alpha S_2i +
/// beta c0_2i+1 + imaginary_beta c0_2i.
struct Operands {
  MatrixView<const double> a, b;
  double alpha = 1;
  double beta = 0;
  MatrixView<const double> c0 = {};
  double imaginary_alpha = 0;
  double imaginary_beta = 0;
  bool complex = false;  ///< the product is complex; complex scalars imply it
};

/// One of the products, or of the elements of C0, that make up a row of C.
struct RowTerm {
  double factor;
  Index row;
};

/// The terms of a row with non-zero factors.
struct RowTerms {
  RowTerm terms[2];
  int count = 0;

  [[nodiscard]] const RowTerm* begin() const { return terms; }
  [[nodiscard]] const RowTerm* end() const { return terms + count; }
};

/// The rows of A B that make up row i of C: with alpha, and with plus or minus imaginary_alpha.
RowTerms product_terms(const Operands& operands, Index i);

/// The rows of C0 that make up row i of C, with beta, and with plus or minus imaginary_beta.
RowTerms c0_terms(const Operands& operands, Index i);

/// A B of a problem, which must outlive the result.
inline Operands operands(const Problem& problem) { return {.a = problem.a.view(), .b = problem.b.view()}; }

/// The format that an entry of C is rounded to. A double holds all its numbers exactly.
enum class ResultFormat { of_double, of_float };

/// The unit roundoff u: 2^-53 or 2^-24.
constexpr double unit_roundoff(ResultFormat format) { return format == ResultFormat::of_double ? 0x1p-53 : 0x1p-24; }

/// log2(eta), eta the smallest subnormal: -1074 or -149.
constexpr int smallest_exponent(ResultFormat format) { return format == ResultFormat::of_double ? -1074 : -149; }

/// The largest exponent of a finite number: 1023 or 127.
constexpr int largest_exponent(ResultFormat format) { return format == ResultFormat::of_double ? 1023 : 127; }

/// The truth about one entry c = sum_l alpha a_il b_lj + beta c0_ij, and how far a computed value is from it.
struct OracleEntry {
  /// The kind of c by the inputs' NaNs and infinities. Finite values beyond the range of the format are `finite`.
  enum class Kind { finite, positive_infinity, negative_infinity, nan };

  Kind kind = Kind::finite;

  /// c rounded once to the format, to nearest, ties to even. It may be subnormal, -0 (a negative c that underflows) or +-Inf (c
  /// from 2^1024 - 2^970 on in binary64). An exact zero is +0. If kind is not finite, `rounded` is that infinity or NaN.
  double rounded = 0;
  bool rounding_known = true;  ///< false if the oracle's own error leaves `rounded` undecided

  /// |computed - c|, rounded upward. A computed infinity stands for all numbers that round to it: max(0, 2^1024 - 2^970 -+ c).
  /// Infinite if the kinds differ (a NaN where c is finite), 0 if both are the same infinity or both NaN.
  Magnitude error_upper;

  Magnitude value_lower, value_upper;  ///< |c|; infinite if kind is not finite, as are the next two
  Magnitude scale_lower, scale_upper;  ///< M = |alpha| sum_l |a_il||b_lj| + |beta||c0_ij|

  /// |computed - c| in two parts: error_halves eta/2, an integer of at most 2^53 of them, and the rest, rounded upward. Targets
  /// allow some eta/2 beside tau M, which may be too small to be seen in error_upper.
  std::uint64_t error_halves = 0;
  Magnitude error_rest_upper;
};

/// max(0, |computed - c| - halves eta/2), rounded upward. It loses nothing to cancellation, as error_upper less halves eta/2
/// would. @pre halves <= 2^53; `format` is the one that the entry was evaluated for.
Magnitude error_beyond_upper(const OracleEntry& entry, std::uint64_t halves, ResultFormat format);

/// True only if |computed - c| <= allowed + halves eta/2. False may also mean that the two agree to 2^-51 of the larger, but
/// not that eta/2 was too small to be seen beside tau M, up to errors of 2^53 eta/2. @pre as above
bool error_is_within(const OracleEntry& entry, const Magnitude& allowed, std::uint64_t halves, ResultFormat format);

/// The exact product, for judging computed products.
///
/// NaN and infinities depend on the inputs only. c is NaN if any factor of its terms alpha a_il b_lj and beta c0_ij is NaN, any
/// term is 0 * Inf, or both infinities occur among the terms. Otherwise, if an infinity occurs, c is that infinity. beta = 0
/// never reads C0, alpha = 0 never reads A or B. Safe to call from many threads.
class Oracle {
 public:
  virtual ~Oracle() = default;
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  [[nodiscard]] Index rows() const { return operands_.a.rows(); }
  [[nodiscard]] Index cols() const { return operands_.b.cols(); }
  [[nodiscard]] Index inner() const { return operands_.a.cols(); }
  [[nodiscard]] const Operands& operands() const { return operands_; }

  /// Entry (i, j), 0-based, and the error of `computed`, a number of the format. @pre 0 <= i < rows(), 0 <= j < cols().
  [[nodiscard]] OracleEntry evaluate(Index i, Index j, double computed, ResultFormat format = ResultFormat::of_double) const;

  /// c rounded once, as OracleEntry::rounded. @throws std::domain_error if the oracle's own error leaves it undecided.
  [[nodiscard]] double rounded(Index i, Index j) const;
  [[nodiscard]] float rounded_float(Index i, Index j) const;

 protected:
  /// @throws std::invalid_argument if a.cols() != b.rows(), if c0 is not m x n although beta != 0, or if m is odd although the
  /// product is complex or a scalar has an imaginary part.
  explicit Oracle(const Operands& operands);

 private:
  /// @pre a plain floating-point environment.
  [[nodiscard]] virtual OracleEntry judge(Index i, Index j, double computed, ResultFormat format) const = 0;

  Operands operands_;
};

}  // namespace ozbound
