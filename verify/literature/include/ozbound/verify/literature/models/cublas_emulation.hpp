// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/entry_selection.hpp"
#include "ozbound/verify/magnitude.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/result_view.hpp"

/// cuBLAS's FP64 products by fixed-point emulation (13.0 and 13.1; eager, a fixed number of mantissa bits), bit for bit. The
/// rule was found by probing, since the source is closed. docs/models.md has the evidence, docs/derivations/cublas_emulation.md
/// the rule's steps (C1) to (C6) and the bound.
namespace ozbound::models {

struct CublasEmulation {
  int mantissa_bits = 55;  ///< M, 8 to 64, the range that was probed
  int pieces = 0;          ///< of the inner dimension: 0 for the rule's own (C1); other values only to find out what a device
                           ///< does

  /// The slice count s: so many 8-bit digits hold the 8s - 1 bits of an element, floor(M / 8) + 1.
  [[nodiscard]] int slices() const { return mantissa_bits / 8 + 1; }
};

/// (C1): the lengths of the pieces into which the inner dimension k of an m x n product is cut, in the order in which their
/// results are added. One piece if all sizes are below 1024, otherwise units of 128, shorter pieces first. Empty for k = 0.
/// @throws std::invalid_argument for a negative size.
std::vector<Index> cublas_pieces(Index m, Index n, Index k);

/// C = alpha A B + beta C0 as cuBLAS's emulation computes it, and a bound of its error, entry by entry. A is m x k, B k x n.
/// Keeps A and B as digits, 2s bytes an element; C0 must outlive the product.
class CublasProduct {
 public:
  /// @throws std::invalid_argument for mantissa bits outside 8 to 64, pieces < 0 or more than the units of 128, a.cols() !=
  /// b.rows(), a C0 of another size, complex scalars, and an operand or a scalar that is not finite, because cuBLAS multiplies
  /// non-finite values natively.
  CublasProduct(const CublasEmulation& method, const Operands& operands);

  [[nodiscard]] Index rows() const { return operands_.a.rows(); }
  [[nodiscard]] Index cols() const { return operands_.b.cols(); }

  /// Entry (i, j), 0-based. An overflow is infinite. Safe to call from many threads.
  [[nodiscard]] double entry(Index i, Index j) const;

  /// A bound of |entry(i, j) - (alpha A B + beta C0)_ij|: (C12). Infinite if an intermediate result may overflow.
  [[nodiscard]] Magnitude bound_upper(Index i, Index j) const;

 private:
  /// Data of a row of A, or a column of B, in one piece, that the bound uses. Norms are Euclidean and rounded up.
  struct Line {
    int exponent = 0;             ///< e of (C2)
    std::vector<double> digits;   ///< norm of digit p at p - 1, in its units 2^(e + 1 - 8p)
    std::vector<double> tails;    ///< norm of the rest after q digits, at q from 0 to s, in the units of digit q
    std::vector<double> leading;  ///< sum of the first q entries of `digits`, each times 2^(-8p), at q
  };

  /// All rows of A, or all columns of B.
  struct Lines {
    std::vector<std::int16_t> digits;  ///< of each piece, one after the other: line by line, slice by slice
    std::vector<Line> lines;           ///< of each piece, one after the other
  };

  struct Piece {
    Index begin, length;
  };

  [[nodiscard]] Lines split(MatrixView<const double> lines) const;
  void split(MatrixView<const double> lines, Index i, const Piece& piece, std::int16_t* digits, Line& line) const;
  [[nodiscard]] const std::int16_t* digits(const Lines& lines, Index i, const Piece& piece, int slice) const;
  [[nodiscard]] double piece_entry(std::size_t r, Index i, Index j) const;
  [[nodiscard]] const Line& row(std::size_t r, Index i) const;
  [[nodiscard]] const Line& column(std::size_t r, Index j) const;

  Operands operands_;
  int slices_;
  std::vector<Piece> pieces_;
  Lines a_, b_;
};

/// The whole product. @throws std::invalid_argument as CublasProduct does.
Matrix<double> multiply(const CublasEmulation& method, const Operands& operands);

/// The comparison of a C with the formula, number by number. (The sign of a zero was not probed, and does not count.)
struct CublasComparison {
  Index entries = 0;         ///< compared
  Index differing = 0;       ///< compared entries that differ from the formula's
  Index row = -1, col = -1;  ///< the first that differs; -1 if none does
  double computed = 0;       ///< its value in C
  double expected = 0;       ///< its value by the formula
};

/// @throws std::invalid_argument if C is not as large as the product.
CublasComparison compare(const CublasProduct& product, const ResultView& c, const EntrySelection& selection);

}  // namespace ozbound::models
