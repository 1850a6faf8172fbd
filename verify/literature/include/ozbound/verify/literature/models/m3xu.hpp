// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/literature/models/word_format.hpp"

/// M3XU, functionally, bit by bit: Ha, Zhang, Kao, Hughes, Ro, Tseng, "M3XU: Achieving High-Precision and Complex Matrix
/// Multiplication with Low-Precision MXUs", sections III and IV. docs/models.md says which of the paper's claims hold.
namespace ozbound::models::m3xu {

/// The format of the operands. Results are FP64 for fp64, FP32 for the others. All numbers are read and written as double,
/// exactly.
enum class Mode : std::uint8_t { fp16, bf16, fp32, fp64 };

/// The exponent of a product when the terms of an instruction are aligned.
enum class Alignment : std::uint8_t {
  /// The sum of the operands' exponent fields, as adders deliver it. A zero or a subnormal number has the smallest normal
  /// exponent.
  fields,
  /// The exponent of the product's leading bit; zero products do not count.
  leading,
};

/// The unit. An instruction adds a few products to a running sum. It aligns all terms in a register of whole numbers with a
/// sign and `width` bits, in units of 2^(E + headroom - width), where every product and the running sum is below 2^E. Each
/// product of pieces that is not a multiple of the unit is rounded. Values beyond the register wrap around.
struct Unit {
  int piece_bits = 12;  ///< bits of a multiplier's operands, from 1 to 27
  int multipliers = 8;  ///< multipliers of a dot product, at least 1: 8 products of FP16 in one step
  int width = 48;       ///< at least 1
  int headroom = 0;     ///< bits of the width above the largest term, from 0 to width - 1
  Alignment alignment = Alignment::leading;
  Rounding aligned = Rounding::toward_zero;   ///< rounding of bits below the register
  Rounding result = Rounding::nearest_even;   ///< rounding of the register to the format of the result
  std::optional<int> second_step_shift = {};  ///< shift for operands in two pieces, 0 to 63; if empty, piece_bits. Section IV
                                              ///< says 16
};

/// The number of pieces of an operand: 1 for fp16 and bf16, 2 for fp32, 5 for fp64, with 12 bits each. They take as many steps.
/// @throws std::invalid_argument for parameters of the unit out of range, like all functions below.
int pieces(Mode mode, const Unit& unit);

/// The number of elements in an instruction: the multipliers divided by the pieces, 8, 4 and 1; half of it for complex numbers;
/// at least 1.
Index elements(Mode mode, const Unit& unit, bool complex = false);

/// A sum, and the counts of what the register lost.
struct Sum {
  double value = 0;
  Index overflows = 0;  ///< instructions whose sum wrapped around
  Index losses = 0;     ///< instructions with a non-zero part below the register's unit
};

/// The running sum plus a.b, instruction by instruction, each result rounded to the format; a zero is +0. NaN and infinities,
/// which the paper does not mention, are those of the terms.
/// @throws std::invalid_argument if an element, or the running sum, is not a number of its format, or a.size() != b.size().
Sum dot(Mode mode, const Unit& unit, std::span<const double> a, std::span<const double> b, double sum = 0);

/// FP32C, or two FP64. The first half of the steps gives the real part, with the signs of imaginary by imaginary flipped, the
/// second half the imaginary part. @throws as dot.
struct ComplexSum {
  Sum real, imaginary;
};
ComplexSum dot(Mode mode, const Unit& unit, std::span<const std::complex<double>> a, std::span<const std::complex<double>> b);

template <class T>
struct GemmResult {
  Matrix<T> c;
  Index overflows = 0;  ///< of all entries together
  Index losses = 0;
};

/// AB, every entry by `dot`: A is m x k, B k x n. @throws std::invalid_argument also if a.cols() != b.rows().
GemmResult<double> gemm(Mode mode, const Unit& unit, MatrixView<const double> a, MatrixView<const double> b);
GemmResult<std::complex<double>> gemm(Mode mode, const Unit& unit, MatrixView<const std::complex<double>> a,
                                      MatrixView<const std::complex<double>> b);

/// |C^ - AB| <= relative |A||B| + underflow, elementwise. Rounded up; infinite if the sums are too long for the bound.
struct Bound {
  double relative = 0;
  double underflow = 0;
};

/// The bound of real products of inner dimension k. Requires a second step with the right shift, and room for all terms of an
/// instruction, elements + 2 <= 2^headroom. Holds if nothing overflows the result's format. docs/models.md, (M1).
/// @throws std::invalid_argument if the unit does not meet these requirements, or k < 0.
Bound error_bound_upper(Mode mode, const Unit& unit, Index k);

}  // namespace ozbound::models::m3xu
