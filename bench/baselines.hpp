// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "isa.hpp"
#include "ozbound/core/matrix.hpp"

namespace ozbound::bench {

// Other methods for an accurate product, for comparison. A is m x k, B is k x n, C is m x n; no overflow, no underflow.

/// The fastest panel kernels that this processor runs.
const PanelKernels& best_panels();

/// The instruction set of best_panels: `AVX512F`, `AVX2` or `generic`.
const char* best_panels_name();

/// C = A B in double-double arithmetic, rounded. |C - AB| <= u|C| + gamma |A||B|, gamma = (k - 1) d / (1 - (k - 1) d), d = 3
/// u^2 / (1 - 4 u): Muller, Rideau, Formalization of double-word arithmetic (2022), for each of k - 1 additions; the first one
/// is exact.
void double_double_gemm(const PanelKernels& kernels, const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c,
                        int threads);

/// C = A B, every entry by Dot2. |C - AB| <= u|AB| + gamma_k^2 |A||B|, gamma_k = k u / (1 - k u): Ogita, Rump, Oishi, Accurate
/// sum and dot product (2005), Proposition 5.5.
void dot2_gemm(const PanelKernels& kernels, const Matrix<double>& a, const Matrix<double>& b, Matrix<double>& c, int threads);

/// The first rows of C in __float128. |C - AB| <= u|C| + (k - 1) 2^-113 / (1 - (k - 1) 2^-113) |A||B|, because __float128 holds
/// products of doubles exactly.
class QuadRows {
 public:
  /// Converts a and b; this is not timed. @pre a and b outlive this object.
  QuadRows(const Matrix<double>& a, const Matrix<double>& b, Index rows);
  ~QuadRows();
  QuadRows(const QuadRows&) = delete;
  QuadRows& operator=(const QuadRows&) = delete;

  void multiply(int threads);
  [[nodiscard]] double entry(Index i, Index j) const;  ///< rounded to double

 private:
  struct Numbers;
  std::unique_ptr<Numbers> numbers_;
};

/// The entries of some rows and some columns of C, at equal distances. MPFR sums each entry at a precision in bits: products
/// are exact, and each addition is rounded once.
class MpfrEntries {
 public:
  /// Converts a and b; this is not timed.
  MpfrEntries(const Matrix<double>& a, const Matrix<double>& b, Index rows, Index columns, long precision_bits);
  ~MpfrEntries();
  MpfrEntries(const MpfrEntries&) = delete;
  MpfrEntries& operator=(const MpfrEntries&) = delete;

  void multiply(int threads);
  [[nodiscard]] Index rows() const;
  [[nodiscard]] Index columns() const;
  [[nodiscard]] Index row(Index sampled) const;     ///< in C
  [[nodiscard]] Index column(Index sampled) const;  ///< in C
  [[nodiscard]] double entry(Index sampled_row, Index sampled_column) const;

 private:
  struct Numbers;
  std::unique_ptr<Numbers> numbers_;
};

}  // namespace ozbound::bench
