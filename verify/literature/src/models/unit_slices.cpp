// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/unit_slices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <vector>

#include "models/rounded.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound::models {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

/// A row, or a column, as sum_p digits[p][l] 2^(exponent - bits (p + 1)), p from 0.
struct SlicedVector {
  int exponent = 0;
  std::vector<std::vector<std::int64_t>> digits;
  bool exact = true;
};

/// |x| = significand 2^unit, x finite.
struct Parts {
  std::uint64_t significand;
  int unit;
};

Parts parts(double x) {
  const int unit = x == 0 ? 0 : std::ilogb(x) - 52;
  return {static_cast<std::uint64_t>(std::ldexp(std::abs(x), -unit)), unit};
}

/// The weight of the last set bit of x, as a power of two; undefined for 0.
int last_bit(double x) {
  const auto [significand, unit] = parts(x);
  return significand == 0 ? std::numeric_limits<int>::max() : unit + std::countr_zero(significand);
}

/// Bits [low, low + bits) of |x|, with the sign of x.
std::int64_t digit(double x, int low, int bits) {
  const auto [significand, unit] = parts(x);
  const int shift = low - unit;
  if (shift >= 53 || shift <= -bits) return 0;
  const auto aligned = shift >= 0 ? significand >> shift : significand << -shift;  // modulo 2^64; only the low bits matter
  const auto magnitude = static_cast<std::int64_t>(aligned & ((std::uint64_t{1} << bits) - 1));
  return x < 0 ? -magnitude : magnitude;
}

SlicedVector sliced(MatrixView<const double> row, const UnitSlices& slicing) {
  SlicedVector result;
  bool any = false;
  for (Index l = 0; l < row.cols(); ++l) {
    const double x = row(0, l);
    require(std::isfinite(x), "elements must be finite");
    if (x == 0) continue;
    const int above = std::ilogb(x) + 1;
    result.exponent = any ? std::max(result.exponent, above) : above;
    any = true;
  }
  for (int p = 0; p < slicing.slices; ++p) {
    auto& slice = result.digits.emplace_back();
    for (Index l = 0; l < row.cols(); ++l)
      slice.push_back(digit(row(0, l), result.exponent - slicing.bits * (p + 1), slicing.bits));
  }
  const int last = result.exponent - slicing.bits * slicing.slices;
  for (Index l = 0; l < row.cols(); ++l) result.exact = result.exact && last_bit(row(0, l)) >= last;
  return result;
}

/// All rows, sliced, and the facts about all of them.
std::vector<SlicedVector> sliced_rows(MatrixView<const double> matrix, const UnitSlices& slicing, UnitProduct& facts) {
  std::vector<SlicedVector> rows;
  for (Index i = 0; i < matrix.rows(); ++i) {
    const auto& row = rows.emplace_back(sliced(matrix.block(i, 0, 1, matrix.cols()), slicing));
    facts.exact_slices = facts.exact_slices && row.exact;
    for (const auto& slice : row.digits)
      for (const auto digit : slice) facts.largest_digit = std::max(facts.largest_digit, std::abs(digit));
  }
  return rows;
}

/// The sum of the products of two slices. Records the partial sums of a 64-bit accumulator.
std::int64_t accumulated(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b, UnitProduct& facts) {
  std::int64_t sum = 0;
  for (std::size_t l = 0; l < a.size(); ++l) {
    sum += a[l] * b[l];
    facts.largest_sum = std::max(facts.largest_sum, std::abs(sum));
  }
  return sum;
}

bool multiplied(const UnitSlices& slicing, int p, int q) {
  return slicing.products == SliceProducts::all || p + q <= slicing.slices - 1;  // p and q from 0
}

double entry(const SlicedVector& row, const SlicedVector& column, const UnitSlices& slicing, UnitProduct& facts) {
  Whole sum = 0;
  for (int p = 0; p < slicing.slices; ++p)
    for (int q = 0; q < slicing.slices; ++q) {
      if (!multiplied(slicing, p, q)) continue;
      const Whole term =
          accumulated(row.digits[static_cast<std::size_t>(p)], column.digits[static_cast<std::size_t>(q)], facts);
      sum += term << static_cast<unsigned>(slicing.bits * (2 * slicing.slices - 2 - p - q));
    }
  return rounded<Whole>(abs(sum), row.exponent + column.exponent - 2 * slicing.bits * slicing.slices, sum < 0, binary64_word,
                        Rounding::nearest_even);
}

}  // namespace

UnitProduct multiply(const MatrixUnit& unit, const UnitSlices& slicing, MatrixView<const double> a,
                     MatrixView<const double> b) {
  const FloatEnvironment environment;
  require(slicing.bits >= 1 && slicing.bits <= 20, "bits must be from 1 to 20");
  require(slicing.slices >= 1 && slicing.bits * slicing.slices <= 4000,
          "slices must be positive and bits * slices at most 4000");
  require(a.cols() == b.rows(), "a must have as many columns as b has rows");
  require(a.cols() <= Index{1} << 22, "the inner dimension must be at most 2^22");
  UnitProduct result{.c = Matrix<double>(a.rows(), b.cols())};
  const auto rows = sliced_rows(a, slicing, result);
  const auto columns = sliced_rows(b.transposed(), slicing, result);
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j)
      result.c(i, j) = entry(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)], slicing, result);
  for (int p = 0; p < slicing.slices; ++p)
    for (int q = 0; q < slicing.slices; ++q) result.products += multiplied(slicing, p, q) ? 1 : 0;
  result.inputs_fit = result.largest_digit < Index{1} << unit.input_bits;
  result.sums_fit = result.largest_sum <= unit.largest_sum();
  return result;
}

}  // namespace ozbound::models
