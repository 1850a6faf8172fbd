// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mirror/runner.hpp"
#include "ozbound/core/engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "properties/sampling.hpp"
#include "properties/stored_matrix.hpp"
#include "support/classified.hpp"

// Random products with everything they depend on, and a comparison of all results of two engines, bit for bit.

namespace ozbound::mirror {

using test::RandomBits;

/// C = alpha A B + beta C0 in memory, under a plan. C is as if never written. The error bound is optional.
struct SampledProduct {
  std::string origin;  ///< how to reproduce the product
  SplitPlan plan;
  StoredMatrix a, b, c0, c;
  double alpha = 1;
  double beta = 0;
  std::optional<EntryBound> error = {};

  [[nodiscard]] Index m() const { return a.rows(); }
  [[nodiscard]] Index n() const { return b.cols(); }
  [[nodiscard]] Index k() const { return a.cols(); }
};

inline std::string describe(const SampledProduct& product) {
  return to_string(product.plan) + ", " + std::to_string(product.m()) + " x " + std::to_string(product.n()) + " x " +
         std::to_string(product.k()) + ", " + product.origin;
}

/// An operand of any storage with classified numbers and, in some cases, specials.
inline StoredMatrix sample_matrix(Index rows, Index cols, Side side, bool near, bool specials, RandomBits& random) {
  const bool single = random.once_in(3);
  StoredMatrix matrix(rows, cols, case_sampling::sample_storage(single, random));
  case_sampling::sample_operand(rows, cols, single, side, near, random,
                                [&](Index i, Index j, double value) { matrix.set(i, j, value); });
  if (specials && rows > 0 && cols > 0)
    for (int t = random.below(4); t > 0; --t) {
      const auto i = random.below(static_cast<int>(rows));
      const auto j = random.below(static_cast<int>(cols));
      matrix.set(i, j, case_sampling::sample_special(random));
    }
  return matrix;
}

/// Bounds from far below to above the last bit, in the form of real ones: sums of minima.
inline EntryBound sample_bound(Index m, Index n, RandomBits& random) {
  EntryBound bound;
  const int depth = random.between(20, 140);
  const auto norms = [&](Index count) {
    std::vector<double> values;
    for (Index i = 0; i < count; ++i)
      values.push_back(random.once_in(8) ? 0 : std::abs(test::sample_below<double>(-depth / 2, random.below(12), random)));
    return values;
  };
  for (int t = random.between(1, 3); t > 0; --t) {
    auto& term = bound.terms.emplace_back();
    for (int h = random.between(1, 3); h > 0; --h) {
      auto rows = norms(m);
      auto columns = norms(n);
      term.alternatives.push_back({std::move(rows), std::move(columns)});
    }
  }
  if (random.once_in(4)) bound.uniform = std::ldexp(1.0, -depth);
  return bound;
}

inline SampledProduct sample_product(Index largest, std::uint64_t seed) {
  RandomBits random(seed);
  const auto plan = case_sampling::sample_plan(random, random.once_in(4) ? max_slices : 8);
  const auto shape = case_sampling::sample_shape(largest, random);
  const bool near = random.once_in(2), specials = random.once_in(4);
  auto a = sample_matrix(shape.m, shape.k, Side::rows_of_a, near, specials, random);
  auto b = sample_matrix(shape.k, shape.n, Side::columns_of_b, near, specials, random);
  auto c0 = sample_matrix(shape.m, shape.n, Side::rows_of_a, near, specials, random);
  StoredMatrix c(shape.m, shape.n, case_sampling::sample_storage(random.once_in(3), random));
  SampledProduct product{"seed " + std::to_string(seed), plan, std::move(a), std::move(b), std::move(c0), std::move(c)};
  product.alpha = case_sampling::sample_scalar(random);
  product.beta = case_sampling::sample_scalar(random);
  if (specials && random.once_in(4)) product.alpha = case_sampling::sample_special(random);
  if (specials && random.once_in(4)) product.beta = case_sampling::sample_special(random);
  if (random.once_in(3)) product.error = sample_bound(shape.m, shape.n, random);
  return product;
}

inline std::string hex(std::uint64_t bits) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
  return text;
}

/// Compares every number that slices consist of.
inline void compare_slices(const SlicedMatrix& x, const SlicedMatrix& y, const SampledProduct& product, Section& section) {
  const auto which = [&](const char* what, Index i) {
    return std::string(what) + " of vector " + std::to_string(i) + (x.side() == Side::rows_of_a ? " of A, " : " of B, ") +
           describe(product);
  };
  for (Index i = 0; i < x.count(); ++i) {
    section.expect(x.exponent(i) == y.exponent(i) && x.special(i) == y.special(i), [&] { return which("scale", i); });
    for (int p = 1; p <= x.slicing().slices; ++p) {
      bool equal = x.special(i) || x.weight_exponent(i, p) == y.weight_exponent(i, p);
      equal = equal && x.sum_of_digits(i, p) == y.sum_of_digits(i, p);
      for (Index l = 0; l < x.inner_dimension(); ++l) equal = equal && x.digit(i, p, l) == y.digit(i, p, l);
      section.expect(equal, [&] { return which(("slice " + std::to_string(p)).c_str(), i); });
    }
  }
}

inline void compare_group_sums(const std::vector<Matrix<std::int64_t>>& x, const std::vector<Matrix<std::int64_t>>& y,
                               const SampledProduct& product, Section& section) {
  section.expect(x.size() == y.size(), [&] { return "number of groups, " + describe(product); });
  for (std::size_t t = 0; t < x.size(); ++t)
    for (Index i = 0; i < product.m(); ++i)
      for (Index j = 0; j < product.n(); ++j)
        section.expect(x[t](i, j) == y[t](i, j), [&] {
          return "sum " + std::to_string(t) + " of (" + std::to_string(i) + ", " + std::to_string(j) +
                 "): " + std::to_string(x[t](i, j)) + ", " + std::to_string(y[t](i, j)) + ", " + describe(product);
        });
}

inline void compare_results(const StoredMatrix& x, const StoredMatrix& y, const SampledProduct& product, const char* what,
                            Section& section) {
  for (Index i = 0; i < product.m(); ++i)
    for (Index j = 0; j < product.n(); ++j)
      section.expect(x.bits(i, j) == y.bits(i, j), [&] {
        return std::string(what) + " (" + std::to_string(i) + ", " + std::to_string(j) + "): " + hex(x.bits(i, j)) + ", " +
               hex(y.bits(i, j)) + ", " + describe(product);
      });
  section.expect(y.intact(), [&] { return std::string(what) + " is written beside its elements, " + describe(product); });
}

}  // namespace ozbound::mirror
