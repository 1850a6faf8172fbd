// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ozbound/bounds/native_gemm.hpp"

namespace ozbound::test {

/// Orders of conventional summation that libraries use: C = beta C0, then alpha times the sum is added. `blocks` adds alpha
/// times the sum of three products at a time; `scaled_elements` multiplies each element of A by alpha, as netlib does.
enum class SummationOrder { forwards, backwards, pairwise, fused, blocks, scaled_elements };

inline constexpr SummationOrder all_orders[] = {SummationOrder::forwards, SummationOrder::backwards,
                                                SummationOrder::pairwise, SummationOrder::fused,
                                                SummationOrder::blocks,   SummationOrder::scaled_elements};

template <class T>
using Terms = std::vector<std::pair<T, T>>;

template <class T>
T conventional_sum(const Terms<T>& terms, std::size_t first, std::size_t last, SummationOrder order) {
  if (order == SummationOrder::pairwise && last - first > 1) {
    const auto middle = (first + last) / 2;
    return conventional_sum(terms, first, middle, order) + conventional_sum(terms, middle, last, order);
  }
  T total = 0;
  for (auto t = first; t < last; ++t) {
    const auto [x, y] = terms[order == SummationOrder::backwards ? last - 1 - (t - first) : t];
    if (order == SummationOrder::fused)
      total = std::fma(x, y, total);
    else
      total = total + x * y;
  }
  return total;
}

template <class T>
T conventional_entry(Terms<T> terms, T alpha, T beta_c0, SummationOrder order) {
  if (order == SummationOrder::scaled_elements) {
    for (auto& term : terms) term.first = term.first * alpha;
    return beta_c0 + conventional_sum(terms, 0, terms.size(), SummationOrder::forwards);
  }
  const auto block = order == SummationOrder::blocks ? std::size_t{3} : std::max<std::size_t>(terms.size(), 1);
  T c = beta_c0;
  for (std::size_t t = 0; t < terms.size(); t += block)
    c += alpha * conventional_sum(terms, t, std::min(t + block, terms.size()), order);
  return c;
}

/// A library whose four GEMMs sum in a given order. Complex products have real scalars.
class ConventionalGemm : public NativeGemm {
 public:
  explicit ConventionalGemm(SummationOrder order = SummationOrder::forwards) : order_(order) {}

  [[nodiscard]] std::string name() const override { return "conventional"; }
  void dgemm(const RealProduct& call) const override { multiply<double>(call); }
  void sgemm(const RealProduct& call) const override { multiply<float>(call); }
  void complex_gemm(const ComplexProduct& call) const override {
    if (call.c.is_double())
      multiply<double>(call);
    else
      multiply<float>(call);
  }
  [[nodiscard]] bool has_sgemm() const override { return true; }
  [[nodiscard]] bool has_complex() const override { return true; }

  mutable int calls = 0, complex_calls = 0;

 private:
  template <class T>
  static T value(const InputView& x, Index i, Index j) {
    return static_cast<T>(double_from_bits(x.bits(i, j)));
  }
  template <class T>
  static T value(const ComplexInputView& x, Index i, Index j, Part part) {
    return static_cast<T>(double_from_bits(x.bits(i, j, part)));
  }

  template <class T>
  void multiply(const RealProduct& call) const {
    ++calls;
    const auto alpha = static_cast<T>(call.alpha), beta = static_cast<T>(call.beta);
    for (Index i = 0; i < call.m(); ++i)
      for (Index j = 0; j < call.n(); ++j) {
        Terms<T> terms;
        for (Index l = 0; l < call.k(); ++l) terms.emplace_back(value<T>(call.a, i, l), value<T>(call.b, l, j));
        const T from_c0 = beta == 0 ? T{0} : beta * value<T>(call.c0, i, j);
        call.c.set_bits(i, j, bits_of(conventional_entry(terms, alpha, from_c0, order_)));
      }
  }

  template <class T>
  void multiply(const ComplexProduct& call) const {
    ++complex_calls;
    const auto alpha = static_cast<T>(call.alpha.real()), beta = static_cast<T>(call.beta.real());
    const auto& c = std::get<MatrixView<std::complex<T>>>(call.c.typed());
    for (Index i = 0; i < call.m(); ++i)
      for (Index j = 0; j < call.n(); ++j) {
        Terms<T> real, imaginary;
        for (Index l = 0; l < call.k(); ++l) {
          const T ar = value<T>(call.a, i, l, Part::real), ai = value<T>(call.a, i, l, Part::imaginary);
          const T br = value<T>(call.b, l, j, Part::real), bi = value<T>(call.b, l, j, Part::imaginary);
          real.emplace_back(ar, br), real.emplace_back(-ai, bi);
          imaginary.emplace_back(ar, bi), imaginary.emplace_back(ai, br);
        }
        const auto part = [&](const Terms<T>& terms, Part of) {
          if (beta == 0) return conventional_entry(terms, alpha, T{0}, order_);
          const T none = 0;  // beta's imaginary part; libraries multiply by it too, and 0 times an infinity is NaN
          return conventional_entry(terms, alpha,
                                    beta * value<T>(call.c0, i, j, of) - none * value<T>(call.c0, i, j, other(of)), order_);
        };
        const T re = part(real, Part::real), im = part(imaginary, Part::imaginary);
        c(i, j) = {re, im};
      }
  }

  SummationOrder order_;
};

}  // namespace ozbound::test
