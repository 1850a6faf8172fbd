// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/gemmul8_scaling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/rounded.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound::models {
namespace {

constexpr std::array<int, 20> all_moduli{256, 255, 253, 251, 247, 241, 239, 233, 229, 227,
                                         223, 217, 211, 199, 197, 193, 191, 181, 179, 173};

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

std::span<const int> moduli_of(const Gemmul8Fast& method) {
  require(method.moduli >= 2 && method.moduli <= std::ssize(all_moduli),
          "moduli must be from 2 to 20: " + std::to_string(method.moduli));
  return std::span(all_moduli).first(static_cast<std::size_t>(method.moduli));
}

Whole product_of(std::span<const int> moduli) {
  Whole product = 1;
  for (const int p : moduli) product *= p;
  return product;
}

/// log2 of the moduli's product P. The program uses log2(P - 1), rounded down to 24 bits. For no N here is log2 P close enough
/// to an integer for the difference to matter.
double log2_of(std::span<const int> moduli) {
  double sum = 0;
  for (const int p : moduli) sum += std::log2(p);
  return sum;
}

/// (R1).
int shift_of(std::span<const int> moduli, std::span<const double> line) {
  double largest = 0, squares = 0;
  for (const double x : line) {
    require(std::isfinite(x), "the elements must be finite");
    largest = std::max(largest, std::fabs(x));
    squares += x * x;
  }
  if (largest == 0) return 0;
  require(squares >= 0x1p-1022 && std::isfinite(squares), "the squares of the elements must be in the range of FP64");
  const int exponent = std::ilogb(squares);
  const double norm = 0.5 * std::log2(std::ldexp(squares, -exponent)) + exponent;  // the exponent is added without halving
  const double room = (log2_of(moduli) / 2 - 0.5) - 2 - std::max(1.0, norm);
  return static_cast<int>(std::floor(room)) - std::ilogb(largest);
}

/// A row, or a column, as integers trunc(x 2^shift).
struct Integers {
  int shift;
  std::vector<Whole> values;

  Integers(std::span<const int> moduli, const std::vector<double>& line) : shift(shift_of(moduli, line)) {
    for (const double x : line) {
      const auto [magnitude, exponent, negative] = to_dyadic(x);
      const auto size = shifted<Whole>(Whole(magnitude), -(exponent + shift), Rounding::toward_zero);
      values.push_back(negative ? Whole(-size) : size);
    }
  }
};

/// The residue of least magnitude; at half of the modulus, the negative one.
int residue(const Whole& x, int modulus) {
  const int least = static_cast<int>(x % modulus);
  const int positive = least < 0 ? least + modulus : least;
  return 2 * positive >= modulus ? positive - modulus : positive;
}

/// A sum of products of residues as INT32 holds it, with a flag that is set if it wrapped around.
struct ResidueSum {
  std::int32_t value;
  bool overflowed;
};

ResidueSum residue_sum(const std::vector<int>& x, const std::vector<int>& y) {
  std::int64_t sum = 0;
  for (std::size_t l = 0; l < x.size(); ++l) sum += std::int64_t{x[l]} * y[l];
  const auto wrapped = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
  return {wrapped, wrapped != sum};
}

std::vector<int> residues(const Integers& line, int modulus) {
  std::vector<int> all;
  for (const auto& x : line.values) all.push_back(residue(x, modulus));
  return all;
}

/// Garner's reconstruction, one modulus after the other: the integer below the moduli's product with these residues.
Whole recovered(std::span<const int> moduli, const std::vector<std::int32_t>& sums) {
  Whole x = 0, product = 1;
  for (std::size_t t = 0; t < moduli.size(); ++t) {
    const int p = moduli[t], step = static_cast<int>(product % p);
    int digit = 0;
    const auto wanted = ((sums[t] % p) + p) % p;
    for (auto have = static_cast<int>(x % p); have != wanted; ++digit) have = (have + step) % p;
    x += product * digit;
    product *= p;
  }
  return 2 * x >= product ? Whole(x - product) : x;
}

std::vector<double> row_of(MatrixView<const double> x, Index i) {
  std::vector<double> row;
  for (Index l = 0; l < x.cols(); ++l) row.push_back(x(i, l));
  return row;
}

std::vector<Integers> integers_of(std::span<const int> moduli, MatrixView<const double> x) {
  std::vector<Integers> rows;
  for (Index i = 0; i < x.rows(); ++i) rows.emplace_back(moduli, row_of(x, i));
  return rows;
}

Whole exact_sum(const Integers& x, const Integers& y) {
  Whole sum = 0;
  for (std::size_t l = 0; l < x.values.size(); ++l) sum += x.values[l] * y.values[l];
  return sum;
}

/// Residues of all rows (columns) for each modulus.
std::vector<std::vector<std::vector<int>>> all_residues(std::span<const int> moduli, const std::vector<Integers>& lines) {
  std::vector<std::vector<std::vector<int>>> all;
  for (const auto& line : lines) {
    auto& of_line = all.emplace_back();
    for (const int p : moduli) of_line.push_back(residues(line, p));
  }
  return all;
}

}  // namespace

int gemmul8_shift(const Gemmul8Fast& method, std::span<const double> line) {
  const FloatEnvironment environment;
  return shift_of(moduli_of(method), line);
}

Gemmul8Product multiply(const Gemmul8Fast& method, MatrixView<const double> a, MatrixView<const double> b) {
  const FloatEnvironment environment;
  const auto moduli = moduli_of(method);
  require(a.cols() == b.rows(), "a must have as many columns as b has rows");
  const auto modulus = product_of(moduli);
  const auto rows = integers_of(moduli, a), columns = integers_of(moduli, b.transposed());
  const auto of_rows = all_residues(moduli, rows), of_columns = all_residues(moduli, columns);
  Gemmul8Product result{.c = Matrix<double>(a.rows(), b.cols())};
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < columns.size(); ++j) {
      std::vector<std::int32_t> sums;
      bool overflowed = false;
      for (std::size_t t = 0; t < moduli.size(); ++t) {
        const auto [sum, beyond] = residue_sum(of_rows[i][t], of_columns[j][t]);
        sums.push_back(sum);
        overflowed = overflowed || beyond;
      }
      const auto integer = recovered(moduli, sums);
      const bool negative = integer < 0;
      result.c(static_cast<Index>(i), static_cast<Index>(j)) =
          rounded<Whole>(negative ? Whole(-integer) : integer, -rows[i].shift - columns[j].shift, negative, binary64_word,
                         Rounding::nearest_even);
      result.overflowed += overflowed ? 1 : 0;
      result.wrapped += 2 * abs(exact_sum(rows[i], columns[j])) >= modulus ? 1 : 0;
    }
  return result;
}

}  // namespace ozbound::models
