// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ozbound/core/matrix.hpp"
#include "ozbound/verify/oracle.hpp"

/// A second, slow implementation of cuBLAS's emulation by its rule (docs/derivations/cublas_emulation.md, C1 to C6), without
/// code of the model: digits from the first one on, products of all pairs one by one.
namespace ozbound::test {

__extension__ using CublasInteger = __int128;

/// The M of `cublas:M`.
inline int cublas_bits(const std::string& plan) { return std::stoi(plan.substr(std::string("cublas:").size())); }

/// A row or a column in one piece.
struct CublasLine {
  int exponent = -1022;
  std::vector<std::vector<int>> digits;  ///< [l][p - 1]

  CublasLine(const std::vector<double>& x, int slices) {
    for (const double element : x) {
      int exponent_here = 0;
      const double m = std::frexp(std::fabs(element), &exponent_here);
      if (element != 0) exponent = std::max(exponent, exponent_here);         // of the largest; bumped below
      const double least = exponent_here == -1022 ? 63.0 / 64 : 127.0 / 128;  // below the normal numbers
      if (m >= least && exponent_here >= exponent) bumped_ = std::max(bumped_, exponent_here + 1);
    }
    exponent = std::max(exponent, bumped_);
    for (const double element : x) digits.push_back(digits_of(element, slices));
  }

 private:
  /// Digit p is the floor of (x + 128 (256^(s-p-1) + ... + 1)) / 256^(s-p): the later digits are -128 ... 127 of each unit.
  [[nodiscard]] std::vector<int> digits_of(double x, int slices) const {
    CublasInteger integer = 0;
    double scaled = std::trunc(std::ldexp(x, 8 * slices - 1 - exponent));
    for (int bit = 80; bit >= 0; --bit)  // beyond 2^63 as well
      if (const double power = std::ldexp(1.0, bit); std::fabs(scaled) >= power) {
        integer += (scaled < 0 ? -1 : 1) * (CublasInteger{1} << bit);
        scaled -= std::copysign(power, scaled);
      }
    std::vector<int> all;
    for (int p = 1; p <= slices; ++p) {
      CublasInteger below = 0, unit = 1;
      for (int q = p; q < slices; ++q) below = below * 256 + 128, unit *= 256;
      const CublasInteger shifted = integer + below;
      CublasInteger digit = shifted / unit;
      if (digit * unit > shifted) --digit;
      all.push_back(static_cast<int>(digit));
      integer -= digit * unit;
    }
    return all;
  }

  int bumped_ = -1022;
};

/// The range [begin, end) of every piece of the inner dimension.
inline std::vector<std::pair<Index, Index>> cublas_ranges(Index m, Index n, Index k) {
  if (k == 0) return {};
  if (std::max({m, n, k}) < 1024) return {{0, k}};
  const Index units = (k + 127) / 128, tiles = ((m + 127) / 128) * ((n + 127) / 128);
  const Index pieces = std::min(units, std::max((32 + tiles - 1) / tiles, (k + 1) / 8192));
  std::vector<std::pair<Index, Index>> ranges;
  Index unit = 0;
  for (Index r = 0; r < pieces; ++r) {
    const Index next = unit + units / pieces + (r >= pieces - units % pieces ? 1 : 0);
    ranges.emplace_back(unit * 128, std::min(next * 128, k));
    unit = next;
  }
  return ranges;
}

/// Cuts rows of A and columns of B once; `entry` then multiplies.
class CublasReference {
 public:
  CublasReference(const Operands& operands, int mantissa_bits)
      : CublasReference(operands, mantissa_bits, cublas_ranges(operands.a.rows(), operands.b.cols(), operands.a.cols())) {}

  /// For some rows and columns of a product whose inner dimension is cut into these ranges.
  CublasReference(const Operands& operands, int mantissa_bits, const std::vector<std::pair<Index, Index>>& ranges)
      : operands_(operands), slices_(mantissa_bits / 8 + 1) {
    const Index m = operands.a.rows(), n = operands.b.cols();
    for (const auto& [begin, end] : ranges) {
      auto& piece = pieces_.emplace_back();
      for (Index i = 0; i < m; ++i) piece.rows.push_back(line(begin, end, [&](Index l) { return operands.a(i, l); }));
      for (Index j = 0; j < n; ++j) piece.columns.push_back(line(begin, end, [&](Index l) { return operands.b(l, j); }));
    }
  }

  [[nodiscard]] double entry(Index i, Index j) const {
    double c = operands_.beta == 0 ? 0 : operands_.beta * operands_.c0(i, j);
    for (const auto& piece : pieces_)
      c = std::fma(operands_.alpha, of(piece.rows[static_cast<std::size_t>(i)], piece.columns[static_cast<std::size_t>(j)]), c);
    return c;
  }

 private:
  struct Piece {
    std::vector<CublasLine> rows, columns;
  };

  template <class Element>
  [[nodiscard]] CublasLine line(Index begin, Index end, const Element& element) const {
    std::vector<double> x;
    for (Index l = begin; l < end; ++l) x.push_back(element(l));
    return {x, slices_};
  }

  [[nodiscard]] double of(const CublasLine& row, const CublasLine& column) const {
    double sum = 0;
    const auto length = row.digits.size(), padded = (length + 127) / 128 * 128;
    for (int d = 2; d <= slices_ + 1; ++d) {
      std::int64_t products = 0;
      std::size_t terms = 0;
      for (int pair = 1; pair < d; ++pair) {
        if (terms > 0 && terms + padded > 33025)
          sum += std::ldexp(static_cast<double>(products), 2 - 8 * d), products = 0, terms = 0;
        const auto p = static_cast<std::size_t>(d % 2 == 1 ? d - pair : pair), q = static_cast<std::size_t>(d) - p;
        for (std::size_t l = 0; l < length; ++l) products += row.digits[l][p - 1] * column.digits[l][q - 1];
        terms += padded;
      }
      sum += std::ldexp(static_cast<double>(products), 2 - 8 * d);
    }
    return std::ldexp(sum, row.exponent + column.exponent);
  }

  Operands operands_;
  int slices_;
  std::vector<Piece> pieces_;
};

}  // namespace ozbound::test
