// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/fp16_slices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "models/rounded.hpp"
#include "ozbound/core/dyadic.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound::models {
namespace {

constexpr Index longest_inner = Index{1} << 22;

template <class T>
constexpr int precision = std::numeric_limits<T>::digits;

template <class T>
constexpr const WordFormat& format = std::is_same_v<T, double> ? binary64_word : binary32_word;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

/// x = sum_p slices[p] 2^exponents[p] + rests.back(). rests[p] is the rest after the first p slices; rests[0] = x.
template <class T>
struct Line {
  std::vector<std::vector<float>> slices;
  std::vector<int> exponents;
  std::vector<std::vector<T>> rests;
  Index lost = 0;  ///< elements that binary16 cannot hold
};

template <class T>
T largest(const std::vector<T>& x) {
  T most = 0;
  for (const T element : x) most = std::max(most, std::abs(element));
  return most;
}

/// ceil(log2 x) of x > 0.
template <class T>
int ceil_log2(T x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == T(0.5) ? exponent - 1 : exponent;
}

/// One pass of Algorithm 1's loop: the next slice of the rest.
template <class T>
void split_once(Line<T>& line, int rho, T top) {
  const int tau = ceil_log2(top);
  const T sigma = std::ldexp(T(1), rho + tau);
  auto& slice = line.slices.emplace_back();
  auto rest = line.rests.back();
  for (T& x : rest) {
    const T part = (x + sigma) - sigma;
    x -= part;
    const auto scaled = static_cast<double>(std::ldexp(part, -tau));
    slice.push_back(round_to(binary16_word, scaled));
    line.lost += static_cast<double>(slice.back()) == scaled ? 0 : 1;
  }
  line.exponents.push_back(tau);
  line.rests.push_back(std::move(rest));
}

/// Algorithm 1, until the rest is 0. @pre check_elements(x).
template <class T>
Line<T> split(std::vector<T> x, int bits) {
  Line<T> line;
  line.rests.push_back(std::move(x));
  for (T top = largest(line.rests[0]); top != 0; top = largest(line.rests.back())) split_once(line, precision<T> - bits, top);
  return line;
}

template <class T>
std::vector<Line<T>> split_rows(MatrixView<const T> matrix, int bits) {
  std::vector<Line<T>> lines;
  for (Index i = 0; i < matrix.rows(); ++i) {
    std::vector<T> row;
    for (Index l = 0; l < matrix.cols(); ++l) row.push_back(matrix(i, l));
    lines.push_back(split(std::move(row), bits));
  }
  return lines;
}

template <class T>
int slices_of(const std::vector<Line<T>>& lines) {
  std::size_t most = 0;
  for (const auto& line : lines) most = std::max(most, line.slices.size());
  return static_cast<int>(most);
}

/// A block of A times a block of B, sliced: the products of slices p + q <= cut among the first slices_a and slices_b, numbered
/// from 1.
template <class T>
struct Sliced {
  std::vector<Line<T>> rows, columns;
  int slices_a = 0, slices_b = 0, cut = 0;
  Index products = 0;  ///< number of products of slices

  [[nodiscard]] bool multiplies(int p, int q) const { return p + q <= cut; }
  [[nodiscard]] bool leaves_out() const { return cut < slices_a + slices_b; }
};

/// |X| v, computed in the format.
template <class T>
std::vector<T> magnitude_times(MatrixView<const T> x, const std::vector<T>& v) {
  std::vector<T> sums(static_cast<std::size_t>(x.rows()));
  for (Index i = 0; i < x.rows(); ++i)
    for (Index l = 0; l < x.cols(); ++l)
      sums[static_cast<std::size_t>(i)] += std::abs(x(i, l)) * v[static_cast<std::size_t>(l)];
  return sums;
}

/// |2^c slice d| v, computed in the format; 0 beyond the last slice.
template <class T>
T slice_times(const Line<T>& line, int d, const std::vector<T>& v) {
  T sum = 0;
  if (d > static_cast<int>(line.slices.size())) return sum;
  const auto& slice = line.slices[static_cast<std::size_t>(d - 1)];
  for (std::size_t l = 0; l < v.size(); ++l)
    sum += std::ldexp(static_cast<T>(std::abs(slice[l])), line.exponents[static_cast<std::size_t>(d - 1)]) * v[l];
  return sum;
}

/// Algorithm 3, with two changes: a row of zeros counts as done, and the algorithm ends with the last slice of A.
template <class T>
std::optional<int> estimated_slices(const std::vector<Line<T>>& rows, MatrixView<const T> a, MatrixView<const T> b) {
  const std::vector<T> ones(static_cast<std::size_t>(b.cols()), T(1));
  const auto v = magnitude_times(b, ones);
  const auto sums = magnitude_times(a, v);
  const T factor = 2 * std::sqrt(static_cast<T>(a.cols())) * std::ldexp(T(1), -precision<T>);
  for (int d = 2; d <= slices_of(rows); ++d) {
    bool enough = true;
    for (std::size_t i = 0; i < rows.size() && enough; ++i) {
      const T wanted = factor * sums[i], left = static_cast<T>(d + 1) * slice_times(rows[i], d, v);
      enough = wanted > left || (wanted == 0 && left == 0);
    }
    if (enough) return d;
  }
  return std::nullopt;
}

template <class T>
void choose_products(Sliced<T>& sliced, const Fp16Slices& method, MatrixView<const T> a, MatrixView<const T> b) {
  const int all_of_a = slices_of(sliced.rows), all_of_b = slices_of(sliced.columns);
  auto d = method.slices;
  if (method.mode == SliceMode::correctly_rounded)
    d = std::nullopt;
  else if (!d)
    d = estimated_slices(sliced.rows, a, b);
  const bool fast = d && (method.fast || !method.slices);
  if (d) d = std::min(*d, all_of_a + all_of_b);  // there are no more slices
  sliced.slices_a = std::min(all_of_a, d.value_or(all_of_a));
  sliced.slices_b = std::min(all_of_b, d.value_or(all_of_b));
  sliced.cut = fast ? *d + 1 : sliced.slices_a + sliced.slices_b;
  for (int p = 1; p <= sliced.slices_a; ++p)
    for (int q = 1; q <= sliced.slices_b; ++q) sliced.products += sliced.multiplies(p, q) ? 1 : 0;
}

template <class T>
Sliced<T> slice(const Fp16Slices& method, int bits, MatrixView<const T> a, MatrixView<const T> b) {
  Sliced<T> sliced{.rows = split_rows(a, bits), .columns = split_rows(b.transposed(), bits)};
  choose_products(sliced, method, a, b);
  return sliced;
}

/// ceil(n / ceil(n / most)): blocks of nearly equal size, at least 1.
Index block_size(Index n, Index most) {
  if (n == 0 || most == 0) return std::max<Index>(n, 1);
  most = std::min(n, most);
  const Index count = (n + most - 1) / most;
  return (n + count - 1) / count;
}

void check(const Fp16Slices& method) {
  check_unit(method.unit);
  require(!method.slices || *method.slices >= 1, "slices must be positive");
  require(!method.bits || (*method.bits >= 1 && *method.bits <= 16), "bits must be from 1 to 16");
  require(method.block >= 0, "block must not be negative");
  require(method.inner_block >= 0, "inner_block must not be negative");
}

template <class T>
void check_elements(MatrixView<const T> matrix, int bits) {
  const int exponent = std::numeric_limits<T>::max_exponent - 1 - (precision<T> - bits);
  const T most = std::ldexp(T(1), exponent);
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index l = 0; l < matrix.cols(); ++l) {
      if (!std::isfinite(matrix(i, l))) throw std::invalid_argument("the elements must be finite");
      if (std::abs(matrix(i, l)) > most)
        throw std::invalid_argument("the elements must be at most 2^" + std::to_string(exponent) + ", where sigma overflows");
    }
}

/// Calls f(first row, first column, the blocks of the inner dimension) for every block of C.
template <class T, class F>
void for_each_block(const Fp16Slices& method, MatrixView<const T> a, MatrixView<const T> b, F f) {
  check(method);
  require(a.cols() == b.rows(), "a must have as many columns as b has rows");
  const Index m = a.rows(), n = b.cols(), k = a.cols();
  const Index bm = block_size(m, method.block), bn = block_size(n, method.block), bk = block_size(k, method.inner_block);
  const int bits = method.bits ? *method.bits : bits_of_fp16_slices(bk);
  check_elements(a, bits), check_elements(b, bits);
  for (Index i = 0; i < m; i += bm)
    for (Index j = 0; j < n; j += bn) {
      std::vector<Sliced<T>> parts;
      for (Index l = 0; l < k; l += bk) {
        const Index length = std::min(bk, k - l);
        parts.push_back(
            slice(method, bits, a.block(i, l, std::min(bm, m - i), length), b.block(l, j, length, std::min(bn, n - j))));
      }
      f(i, j, parts);
    }
}

/// Sums in the format, term by term.
template <class T>
struct FloatingSum {
  T value = 0;
  void add(float term, int exponent) { value += std::ldexp(static_cast<T>(term), exponent); }
};

/// Sums exactly and rounds once, like NearSum if its terms are numbers of the format.
template <class T>
class RoundedSum {
 public:
  void add(float term, int exponent) {
    const auto [magnitude, unit, negative] = to_dyadic(term);
    if (magnitude == 0) return;
    const int last = unit + exponent;
    if (sum_ == 0) grid_ = last;
    if (last < grid_) {
      sum_ <<= grid_ - last;
      grid_ = last;
    }
    const Whole aligned = Whole(magnitude) << (last - grid_);
    sum_ += negative ? Whole(-aligned) : aligned;
  }

  [[nodiscard]] T value() const {
    const auto size = static_cast<T>(rounded<Whole>(abs(sum_), grid_, false, format<T>, Rounding::nearest_even));
    return sum_ < 0 ? -size : size;
  }

 private:
  Whole sum_ = 0;
  int grid_ = 0;
};

struct Losses {
  Index sums = 0, scalings = 0;
};

/// True if term 2^exponent is not representable in the format.
template <class T>
bool is_lost(float term, int exponent) {
  return std::ldexp(std::ldexp(static_cast<T>(term), exponent), -exponent) != static_cast<T>(term);
}

/// Algorithm 2 for one entry, with the loop over q outside the loop over p.
template <class T, class Sum>
void add_products(const TensorCore& unit, const Sliced<T>& part, std::size_t i, std::size_t j, Sum& sum, Losses& losses) {
  const auto &row = part.rows[i], &column = part.columns[j];
  const int of_row = std::min(part.slices_a, static_cast<int>(row.slices.size()));
  const int of_column = std::min(part.slices_b, static_cast<int>(column.slices.size()));
  for (int q = 1; q <= of_column; ++q)
    for (int p = 1; p <= of_row && part.multiplies(p, q); ++p) {
      const auto r = static_cast<std::size_t>(p - 1), c = static_cast<std::size_t>(q - 1);
      const auto [term, exact] = dot(unit, row.slices[r], column.slices[c]);
      const int exponent = row.exponents[r] + column.exponents[c];
      losses.sums += exact ? 0 : 1;
      losses.scalings += is_lost<T>(term, exponent) ? 1 : 0;
      sum.add(term, exponent);
    }
}

template <class T>
T entry(const Fp16Slices& method, const std::vector<Sliced<T>>& parts, std::size_t i, std::size_t j, Losses& losses) {
  if (method.mode == SliceMode::correctly_rounded) {
    RoundedSum<T> sum;
    for (const auto& part : parts) add_products(method.unit, part, i, j, sum, losses);
    return sum.value();
  }
  FloatingSum<T> sum;
  for (const auto& part : parts) add_products(method.unit, part, i, j, sum, losses);
  return sum.value;
}

template <class T>
void add_facts(Fp16Product<T>& product, const Sliced<T>& part) {
  product.slices_a = std::max(product.slices_a, part.slices_a);
  product.slices_b = std::max(product.slices_b, part.slices_b);
  product.products += part.products;
  product.fast = product.fast || part.leaves_out();
  for (const auto* lines : {&part.rows, &part.columns})
    for (const auto& line : *lines) product.lost_conversions += line.lost;
}

template <class T>
Fp16Product<T> product(const Fp16Slices& method, MatrixView<const T> a, MatrixView<const T> b) {
  const FloatEnvironment environment;
  Fp16Product<T> result{.c = Matrix<T>(a.rows(), b.cols())};
  for_each_block(method, a, b, [&](Index first_row, Index first_column, const std::vector<Sliced<T>>& parts) {
    for (const auto& part : parts) add_facts(result, part);
    if (parts.empty()) return;
    Losses losses;
    for (std::size_t i = 0; i < parts[0].rows.size(); ++i)
      for (std::size_t j = 0; j < parts[0].columns.size(); ++j)
        result.c(first_row + static_cast<Index>(i), first_column + static_cast<Index>(j)) = entry(method, parts, i, j, losses);
    result.lost_sums += losses.sums;
    result.lost_scalings += losses.scalings;
  });
  return result;
}

using Magnitudes = std::vector<Magnitude>;

template <class X>
Magnitudes magnitudes(const std::vector<X>& x, int exponent = 0) {
  Magnitudes all;
  for (const X element : x)
    all.push_back(multiply_upper(Magnitude::of(static_cast<double>(element)), Magnitude::power_of_two(exponent)));
  return all;
}

Magnitude dot_upper(const Magnitudes& x, const Magnitudes& y) {
  Magnitude sum;
  for (std::size_t l = 0; l < x.size(); ++l) sum = add_upper(sum, multiply_upper(x[l], y[l]));
  return sum;
}

/// A line for the bound: |slice p|, |rest p| and the sum of the first `count` |slice|, with their exponents.
template <class T>
struct LineMagnitudes {
  std::vector<Magnitudes> slices, rests;
  Magnitudes sum;

  LineMagnitudes(const Line<T>& line, int count) : sum(line.rests[0].size()) {
    const auto most = std::min(static_cast<std::size_t>(count), line.slices.size());
    for (std::size_t p = 0; p < most; ++p) {
      slices.push_back(magnitudes(line.slices[p], line.exponents[p]));
      for (std::size_t l = 0; l < sum.size(); ++l) sum[l] = add_upper(sum[l], slices.back()[l]);
    }
    for (std::size_t p = 0; p <= most; ++p) rests.push_back(magnitudes(line.rests[p]));
  }

  /// The rest after the first p slices.
  [[nodiscard]] const Magnitudes& rest(int p) const { return rests[std::min(static_cast<std::size_t>(p), rests.size() - 1)]; }
};

/// (F1) for one entry and one block of the inner dimension: the omitted products.
template <class T>
Magnitude omitted_upper(const Sliced<T>& part, const LineMagnitudes<T>& row, const LineMagnitudes<T>& column) {
  auto total = dot_upper(row.rest(part.slices_a), column.rest(0));
  for (int p = 1; p <= static_cast<int>(row.slices.size()); ++p) {
    const int multiplied = std::clamp(part.cut - p, 0, part.slices_b);
    total = add_upper(total, dot_upper(row.slices[static_cast<std::size_t>(p - 1)], column.rest(multiplied)));
  }
  return total;
}

template <class T>
std::vector<LineMagnitudes<T>> line_magnitudes(const std::vector<Line<T>>& lines, int count) {
  std::vector<LineMagnitudes<T>> all;
  for (const auto& line : lines) all.emplace_back(line, count);
  return all;
}

void check_exact(const Fp16Slices& method, Index inner) {
  require(method.mode == SliceMode::estimated, "mode: the correctly rounded one has no other error than its rounding");
  if (inner == 0) return;
  const int most = std::min(11, bits_of_fp16_slices(inner));
  require(method.bits.value_or(bits_of_fp16_slices(inner)) <= most,
          "bits: more than " + std::to_string(most) + " may be rounded in binary16 or in the unit");
}

/// The error of so many additions in a format. Before scaling, the magnitudes of the terms add up to `terms`.
template <class T>
Magnitude summation_upper(Index count, const Magnitude& terms) {
  const auto underflow =
      multiply_upper(Magnitude::of(static_cast<double>(count)), Magnitude::power_of_two(format<T>.least_exponent - 1));
  const auto factor =
      multiply_upper(Magnitude::of(static_cast<double>(std::max<Index>(count - 1, 0))), Magnitude::power_of_two(-precision<T>));
  return add_upper(underflow, multiply_upper(factor, add_upper(terms, underflow)));
}

template <class T>
Matrix<Magnitude> bound(const Fp16Slices& method, MatrixView<const T> a, MatrixView<const T> b) {
  check(method);
  check_exact(method, a.cols() == 0 ? 0 : block_size(a.cols(), method.inner_block));
  const FloatEnvironment environment;
  Matrix<Magnitude> total(a.rows(), b.cols());
  for_each_block(method, a, b, [&](Index first_row, Index first_column, const std::vector<Sliced<T>>& parts) {
    if (parts.empty()) return;
    const Index rows = std::ssize(parts[0].rows), columns = std::ssize(parts[0].columns);
    Matrix<Magnitude> omitted(rows, columns), terms(rows, columns);
    Index count = 0;
    for (const auto& part : parts) {
      const auto of_rows = line_magnitudes(part.rows, part.slices_a), of_columns = line_magnitudes(part.columns, part.slices_b);
      count += part.products;
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) {
          const auto &row = of_rows[static_cast<std::size_t>(i)], &column = of_columns[static_cast<std::size_t>(j)];
          omitted(i, j) = add_upper(omitted(i, j), omitted_upper(part, row, column));
          terms(i, j) = add_upper(terms(i, j), dot_upper(row.sum, column.sum));
        }
    }
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j)
        total(first_row + i, first_column + j) = add_upper(omitted(i, j), summation_upper<T>(count, terms(i, j)));
  });
  return total;
}

}  // namespace

int bits_of_fp16_slices(Index n) {
  require(n >= 1 && n <= longest_inner,
          "the inner dimension, or its blocks, must be from 1 to 2^22, beyond which slices have no bit: " + std::to_string(n));
  int bits = 12;
  while (n > Index{1} << (24 - 2 * bits)) --bits;
  return bits;
}

Fp16Product<double> multiply(const Fp16Slices& method, MatrixView<const double> a, MatrixView<const double> b) {
  return product(method, a, b);
}
Fp16Product<float> multiply(const Fp16Slices& method, MatrixView<const float> a, MatrixView<const float> b) {
  return product(method, a, b);
}

Matrix<Magnitude> bound_upper(const Fp16Slices& method, MatrixView<const double> a, MatrixView<const double> b) {
  return bound(method, a, b);
}
Matrix<Magnitude> bound_upper(const Fp16Slices& method, MatrixView<const float> a, MatrixView<const float> b) {
  return bound(method, a, b);
}

}  // namespace ozbound::models
