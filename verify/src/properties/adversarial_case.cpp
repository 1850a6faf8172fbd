// SPDX-License-Identifier: BSD-3-Clause
#include "properties/adversarial_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ozbound/core/dyadic.hpp"
#include "ozbound/verify/problem.hpp"
#include "properties/sampling.hpp"

namespace ozbound::case_sampling {
namespace {

/// Gives a case the elements of a problem, which are binary64.
void take_family(GemmCase& gemm_case, Family family, Index k, RandomBits& random) {
  Recipe recipe{family, gemm_case.m(), gemm_case.n(), k};
  recipe.phi = 0.5 * random.between(0, 8);
  recipe.seed = random();
  auto problem = generate(recipe);
  gemm_case.a.values = std::move(problem.a), gemm_case.b.values = std::move(problem.b);
  gemm_case.a.storage.single = gemm_case.b.storage.single = false;
}

void take_some_family(GemmCase& gemm_case, RandomBits& random) {
  const auto families = all_families();
  const auto family = families[static_cast<std::size_t>(random.below(static_cast<int>(families.size())))];
  take_family(gemm_case, family, gemm_case.k(), random);
}

struct InnerLength {
  int columns, repeat;
};

InnerLength sample_inner_length(RandomBits& random) {
  // 131071 = floor((2^31 - 1) / 128^2), and the next; 133144 = floor((2^31 - 1) / 127^2), and the next.
  constexpr InnerLength limits[] = {{1, 131071}, {1, 131072}, {2, 65536},  {1, 133144},
                                    {4, 33286},  {8, 16643},  {1, 133145}, {5, 26629}};
  if (!random.once_in(3)) return random.pick(limits);
  const int columns = random.between(1, 4);
  return {columns, random.between(1, 133145 / columns)};
}

/// Makes a case with one entry, of which the checker examines every digit. Sums of digits are often as large as possible.
void lengthen(GemmCase& gemm_case, RandomBits& random) {
  const auto length = sample_inner_length(random);
  const auto a = gemm_case.a.values, b = gemm_case.b.values;
  gemm_case.a.values = Matrix<double>(1, length.columns);
  gemm_case.b.values = Matrix<double>(length.columns, 1);
  for (Index l = 0; l < length.columns; ++l) {
    gemm_case.a.values(0, l) = a(0, l % a.cols());
    gemm_case.b.values(l, 0) = b(l % b.rows(), 0);
  }
  const double c0 = gemm_case.c0.values(0, 0);
  gemm_case.c0.values = Matrix<double>(1, 1);
  gemm_case.c0.values(0, 0) = c0;
  gemm_case.inner_repeat = length.repeat;
  if (random.once_in(2)) take_family(gemm_case, Family::maximal_digits_positive, length.columns, random);
}

void fill(CaseMatrix& matrix, double scale, const double (&factors)[6], RandomBits& random) {
  matrix.storage.single = false;
  for (Index t = 0; t < matrix.values.rows() * matrix.values.cols(); ++t) {
    const double magnitude = scale * random.pick(factors);
    matrix.values.data()[t] = random.once_in(4) ? -magnitude : magnitude;
  }
}

/// Replaces A by A times 2^-e and alpha by 2^e, or keeps A and sets alpha = 1.
void approach_overflow(GemmCase& gemm_case, RandomBits& random) {
  const bool single = gemm_case.c.single;
  const double u = single ? 0x1p-24 : 0x1p-53;
  const double largest = single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  const double large[] = {1, 1, 1 - u, 0.5, u / 2, 0.75}, small[] = {1, 1, 1 - 0x1p-53, 1 + 0x1p-52, 0.5, 0};
  const int e = random.once_in(2) ? random.between(-60, 1000) : 0;
  fill(gemm_case.a, std::ldexp(largest, -std::max(e, 0)), large, random);
  fill(gemm_case.b, 1, small, random);
  gemm_case.alpha = std::ldexp(1.0, std::max(e, 0));
}

/// Sets C0 to the negated product in floating point, for entries where that is a number.
void cancel(GemmCase& gemm_case) {
  gemm_case.c0.storage.single = false;
  gemm_case.beta = 1;
  for (Index i = 0; i < gemm_case.m(); ++i)
    for (Index j = 0; j < gemm_case.n(); ++j) {
      double sum = 0;
      for (Index l = 0; l < gemm_case.k(); ++l) sum += gemm_case.a.values(i, l) * gemm_case.b.values(l, j);
      const double product = gemm_case.alpha * sum;
      if (std::isfinite(product)) gemm_case.c0.values(i, j) = -product;
    }
}

}  // namespace

void attack(GemmCase& gemm_case, RandomBits& random) {
  if (random.once_in(2)) gemm_case.alpha = sample<double>(random);
  if (random.once_in(2)) gemm_case.beta = sample<double>(random);
  const auto kind = random.pick(attack_weights);
  if (gemm_case.m() == 0 || gemm_case.n() == 0 || gemm_case.k() == 0) return;
  switch (kind) {
    case Attack::long_inner: return lengthen(gemm_case, random);
    case Attack::family: return take_some_family(gemm_case, random);
    case Attack::overflow: return approach_overflow(gemm_case, random);
    case Attack::cancelling: return cancel(gemm_case);
    case Attack::none: break;
  }
}

}  // namespace ozbound::case_sampling
