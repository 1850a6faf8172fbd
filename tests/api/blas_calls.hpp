// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bounds/products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "ozbound/blas.hpp"

namespace ozbound::test {

inline constexpr Layout layouts[] = {Layout::row_major, Layout::column_major};
inline constexpr Op ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};

inline const ProductCount products;

/// Options for tests of slices: choices by the count of products, the same on every machine.
inline BlasOptions counting(BlasOptions options) {
  if (options.costs == nullptr) options.costs = &products;
  return options;
}

/// A matrix as a BLAS stores it, between canaries.
template <class T>
struct Stored {
  static constexpr T canary = static_cast<T>(-12345.678F);
  static constexpr Index margin = 5;

  Index rows, cols, ld;  ///< as stored
  bool by_rows;
  std::vector<T> memory;

  Stored(Layout layout, Index r, Index c, Index padding)
      : rows(r),
        cols(c),
        ld(std::max<Index>(1, layout == Layout::row_major ? c : r) + padding),
        by_rows(layout == Layout::row_major),
        memory(static_cast<std::size_t>(2 * margin + ld * (by_rows ? r : c)), canary) {}

  T* data() { return memory.data() + margin; }
  T& at(Index i, Index j) { return data()[by_rows ? i * ld + j : j * ld + i]; }

  /// True if the elements beside the matrix are unchanged.
  [[nodiscard]] bool canaries_live() {
    auto copy = *this;
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) copy.at(i, j) = canary;
    return std::all_of(copy.memory.begin(), copy.memory.end(), [](T x) { return x == canary; });
  }
};

/// One call: the operands as stored, and in the form that the oracle reads.
template <class T>
struct BlasCall {
  Layout layout;
  Op op_a, op_b;
  T alpha, beta;
  Stored<T> a, b, c;
  SampleProduct product;
  bool counts = true;  ///< counts products if options name no costs

  BlasCall(Layout order, Op oa, Op ob, Index m, Index n, Index k, Index padding, RandomBits& random)
      : layout(order),
        op_a(oa),
        op_b(ob),
        alpha(random.once_in(2) ? T{1} : static_cast<T>(-1.5)),
        beta(random.once_in(2) ? T{0} : static_cast<T>(0.75)),
        a(order, oa == Op::none ? m : k, oa == Op::none ? k : m, padding),
        b(order, ob == Op::none ? k : n, ob == Op::none ? n : k, 2 * padding),
        c(order, m, n, 3 * padding),
        product(product_of({Family::wide_exponents, m, n, k, 1, random()})) {
    product.narrow = std::is_same_v<T, float>;
    product.alpha = static_cast<double>(alpha);
    product.beta = static_cast<double>(beta);
    product.c0 = Matrix<double>(m, n);
    for (Index i = 0; i < m; ++i)
      for (Index l = 0; l < k; ++l) set(product.problem.a(i, l), op_a == Op::none ? a.at(i, l) : a.at(l, i));
    for (Index l = 0; l < k; ++l)
      for (Index j = 0; j < n; ++j) set(product.problem.b(l, j), op_b == Op::none ? b.at(l, j) : b.at(j, l));
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        product.c0(i, j) = std::ldexp(static_cast<double>(i - j), 3);
        set(product.c0(i, j), c.at(i, j));
        if (beta == 0) c.at(i, j) = std::numeric_limits<T>::quiet_NaN();  // never read
      }
  }

  static void set(double& wide, T& stored) { wide = static_cast<double>(stored = static_cast<T>(wide)); }

  /// Runs the call to a target or under a decision.
  template <class Choice>
  Certificate run(const Choice& choice, const BlasOptions& options = {}) {
    return gemm(layout, op_a, op_b, product.m(), product.n(), product.k(), alpha, a.data(), a.ld, b.data(), b.ld, beta,
                c.data(), c.ld, choice, counts ? counting(options) : options);
  }

  [[nodiscard]] Decision decision(const Target& target, const BlasOptions& options = {}) {
    return decide(layout, op_a, op_b, product.m(), product.n(), product.k(), alpha, a.data(), a.ld, b.data(), b.ld, beta,
                  beta == 0 ? nullptr : c.data(), c.ld, target, counts ? counting(options) : options);
  }

  /// C as computed, in the form that the oracles take.
  Computed computed(Certificate certificate) {
    Computed result{{}, std::move(certificate), Result(product.m(), product.n(), product.narrow)};
    for (Index i = 0; i < product.m(); ++i)
      for (Index j = 0; j < product.n(); ++j) result.c.output().set_bits(i, j, bits_of(c.at(i, j)));
    return result;
  }
};

}  // namespace ozbound::test
