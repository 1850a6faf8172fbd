// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/literature/models/multiword.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound::models {
namespace {

using Words = std::vector<Matrix<float>>;

/// (p, q), 0-based, in the order of summation.
std::vector<std::pair<int, int>> pairs_of(const Multiword& method) {
  const int s = method.words;
  std::vector<std::pair<int, int>> pairs;
  for (int sum = method.products == WordProducts::all ? 2 * s - 2 : s - 1; sum >= 0; --sum)
    for (int p = 0; p < s; ++p)
      if (sum - p >= 0 && sum - p < s) pairs.emplace_back(p, sum - p);
  return pairs;
}

/// The next word of the rest of one element. The rest is exactly representable in binary32.
float next_word(double& left, const WordFormat& format) {
  const float word = round_to(format, left);
  if (!std::isfinite(word)) throw std::invalid_argument("an element is beyond the range of " + std::string(format.name));
  left -= static_cast<double>(word);
  return word;
}

/// Sums of |X_p| over words first <= p < last: at most 26 bits, exact.
Matrix<double> magnitudes(const Words& words, int first, int last) {
  Matrix<double> sums(words.front().rows(), words.front().cols());
  for (int p = first; p < last; ++p)
    for (Index t = 0; t < sums.rows() * sums.cols(); ++t)
      sums.data()[t] += std::fabs(static_cast<double>(words[static_cast<std::size_t>(p)].data()[t]));
  return sums;
}

Matrix<double> magnitudes(MatrixView<const float> x) {
  Matrix<double> all(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) all(i, j) = std::fabs(static_cast<double>(x(i, j)));
  return all;
}

using Entry = std::function<Magnitude(Index, Index)>;

void add_to(Matrix<Magnitude>& total, const Entry& entry) {
  for (Index i = 0; i < total.rows(); ++i)
    for (Index j = 0; j < total.cols(); ++j) total(i, j) = add_upper(total(i, j), entry(i, j));
}

/// total += X Y, for magnitudes whose products are representable as doubles.
void add_product(Matrix<Magnitude>& total, const Matrix<double>& x, const Matrix<double>& y) {
  add_to(total, [&](Index i, Index j) {
    Magnitude sum;
    for (Index l = 0; l < x.cols(); ++l) sum = add_upper(sum, Magnitude::of(x(i, l) * y(l, j)));
    return sum;
  });
}

void add_multiple(Matrix<Magnitude>& total, double factor, const Matrix<Magnitude>& x) {
  add_to(total, [&](Index i, Index j) { return multiply_upper(Magnitude::of(factor), x(i, j)); });
}

/// Sums of the rows.
std::vector<Magnitude> row_sums(MatrixView<const double> x) {
  std::vector<Magnitude> sums(static_cast<std::size_t>(x.rows()));
  for (Index i = 0; i < x.rows(); ++i)
    for (Index l = 0; l < x.cols(); ++l)
      sums[static_cast<std::size_t>(i)] = add_upper(sums[static_cast<std::size_t>(i)], Magnitude::of(x(i, l)));
  return sums;
}

/// Data that all bounds use.
struct Facts {
  Matrix<double> a, b;                     ///< |A|, |B|
  Matrix<Magnitude> whole, kept, omitted;  ///< |A||B|, and the sums of |A_p||B_q| over the multiplied and the omitted pairs
  double roundoff;                         ///< u_low^s, exact

  Facts(const Multiword& method, MatrixView<const float> x, MatrixView<const float> y)
      : a(magnitudes(x)),
        b(magnitudes(y)),
        whole(x.rows(), y.cols()),
        kept(x.rows(), y.cols()),
        omitted(x.rows(), y.cols()),
        roundoff(std::pow(method.format.unit_roundoff(), method.words)) {
    const auto a_words = split_words(x, method.format, method.words), b_words = split_words(y, method.format, method.words);
    const int s = method.words;
    add_product(whole, a, b);
    for (int p = 0; p < s; ++p) {
      const int last = method.products == WordProducts::all ? s : s - p;
      const auto word = magnitudes(a_words, p, p + 1);
      add_product(kept, word, magnitudes(b_words, 0, last));
      if (last < s) add_product(omitted, word, magnitudes(b_words, last, s));
    }
  }
};

/// (4), or (5) without its O term.
Matrix<Magnitude> printed(const Multiword& method, const Facts& facts) {
  const int s = method.words;
  const double u = facts.roundoff;
  const double roundings = static_cast<double>(facts.a.cols() + s * s - 1) * 0x1p-24;
  Matrix<Magnitude> total(facts.whole.rows(), facts.whole.cols());
  if (method.products == WordProducts::all) {
    add_multiple(total, 2 * u + u * u, facts.whole);
    add_multiple(total, roundings, facts.kept);
  } else {
    add_multiple(total, (s + 1) * u, facts.whole);
    add_multiple(total, roundings, facts.whole);
  }
  return total;
}

/// |AB - A'B'|, where A' and B' are the sums of the words. Each is off by at most u^s |x| + h.
void add_splitting(Matrix<Magnitude>& total, const Multiword& method, const Facts& facts) {
  const double u = facts.roundoff;
  const auto h = Magnitude::of(method.format.half_subnormal());
  const auto of_sums = multiply_upper(h, Magnitude::of(1 + u));
  const auto of_both = multiply_upper(multiply_upper(h, h), Magnitude::of(static_cast<double>(facts.a.cols())));
  const auto rows = row_sums(facts.a.view()), columns = row_sums(facts.b.view().transposed());
  add_multiple(total, 2 * u + u * u, facts.whole);
  add_to(total, [&](Index i, Index j) {
    const auto sums = add_upper(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
    return add_upper(multiply_upper(of_sums, sums), of_both);
  });
}

/// The unit's roundings of every product, and the roundings of the products' sum in binary32.
void add_roundings(Matrix<Magnitude>& total, const Multiword& method, const Facts& facts) {
  const auto k = facts.a.cols();
  const auto products = static_cast<Index>(pairs_of(method).size());
  const double of_unit = accumulation_factor_upper(method.unit, k);
  const double of_sum = accumulation_factor_upper(TensorCore::nearest(), products - 1);
  const double both = add_upper(add_upper(of_unit, of_sum), multiply_upper(of_unit, of_sum));
  const auto underflow = multiply_upper(Magnitude::of(static_cast<double>(k * products)), Magnitude::power_of_two(-149));
  add_multiple(total, both, facts.kept);
  add_to(total, [&](Index, Index) { return multiply_upper(Magnitude::of(add_upper(1, both)), underflow); });
}

}  // namespace

std::vector<Matrix<float>> split_words(MatrixView<const float> x, const WordFormat& format, int words) {
  const FloatEnvironment environment;
  if (words < 1 || words > 4) throw std::invalid_argument("there must be 1 to 4 words: " + std::to_string(words));
  Words all(static_cast<std::size_t>(words), Matrix<float>(x.rows(), x.cols()));
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      auto left = static_cast<double>(x(i, j));
      for (auto& word : all) word(i, j) = next_word(left, format);
    }
  return all;
}

Matrix<float> multiply(const Multiword& method, MatrixView<const float> a, MatrixView<const float> b) {
  const FloatEnvironment environment;
  const auto a_words = split_words(a, method.format, method.words), b_words = split_words(b, method.format, method.words);
  Matrix<float> c(a.rows(), b.cols());
  for (const auto& [p, q] : pairs_of(method)) {
    const auto product =
        gemm(method.unit, a_words[static_cast<std::size_t>(p)].view(), b_words[static_cast<std::size_t>(q)].view());
    for (Index t = 0; t < c.rows() * c.cols(); ++t) c.data()[t] += product.data()[t];
  }
  return c;
}

MultiwordBounds bounds(const Multiword& method, MatrixView<const float> a, MatrixView<const float> b) {
  const FloatEnvironment environment;
  if (a.cols() != b.rows()) throw std::invalid_argument("A has as many columns as B has rows");
  const Facts facts(method, a, b);
  MultiwordBounds result{printed(method, facts), Matrix<Magnitude>(a.rows(), b.cols())};
  add_splitting(result.upper, method, facts);
  add_to(result.upper, [&](Index i, Index j) { return facts.omitted(i, j); });
  add_roundings(result.upper, method, facts);
  return result;
}

}  // namespace ozbound::models
