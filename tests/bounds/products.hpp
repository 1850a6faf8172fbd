// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ozbound/bounds/detail/findings.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/problem.hpp"
#include "ozbound/verify/verdict.hpp"
#include "support/classified.hpp"

namespace ozbound::test {

/// The inputs of C = alpha A B + beta C0, with C in doubles or in floats.
struct SampleProduct {
  Problem problem;
  double alpha = 1;
  double beta = 0;
  Matrix<double> c0 = {};
  bool narrow = false;
  Encoding encoding = Encoding::balanced();

  [[nodiscard]] Index m() const { return problem.a.rows(); }
  [[nodiscard]] Index n() const { return problem.b.cols(); }
  [[nodiscard]] Index k() const { return problem.a.cols(); }
  [[nodiscard]] Operands operands() const { return {problem.a.view(), problem.b.view(), alpha, beta, c0.view()}; }

  /// The product without a C.
  [[nodiscard]] RealProduct stated() const {
    return {problem.a, problem.b, unwritten(m(), n(), narrow ? binary32 : binary64), alpha, beta, c0};
  }

  [[nodiscard]] std::string describe() const {
    std::ostringstream text;
    text << generate_command(problem.recipe) << std::hexfloat << ", alpha " << alpha << ", beta " << beta
         << (narrow ? ", C of floats" : "") << ", " << to_string(encoding);
    return text.str();
  }
};

inline SampleProduct product_of(const Recipe& recipe) { return {.problem = generate(recipe)}; }

inline SampleProduct product_of(Matrix<double> a, Matrix<double> b) {
  const Recipe shape{Family::uniform, a.rows(), b.cols(), a.cols()};
  return {.problem = {shape, std::move(a), std::move(b)}};
}

inline Matrix<double> matrix_of(Index rows, Index cols, const std::vector<double>& values) {
  Matrix<double> matrix(rows, cols);
  std::copy(values.begin(), values.end(), matrix.data());
  return matrix;
}

/// C of either format.
class Result {
 public:
  Result(Index m, Index n, bool narrow) : narrow_(narrow), doubles_(narrow ? 0 : m, n), floats_(narrow ? m : 0, n) {}

  [[nodiscard]] OutputView output() { return narrow_ ? OutputView(floats_) : OutputView(doubles_); }
  [[nodiscard]] InputView input() const { return narrow_ ? InputView(floats_) : InputView(doubles_); }
  [[nodiscard]] ResultView view() const { return narrow_ ? ResultView(floats_) : ResultView(doubles_); }

  /// The bits of all entries, as doubles of the same value.
  [[nodiscard]] std::vector<std::uint64_t> bits() const {
    std::vector<std::uint64_t> all;
    for (Index i = 0; i < input().rows(); ++i)
      for (Index j = 0; j < input().cols(); ++j) all.push_back(input().bits(i, j));
    return all;
  }

 private:
  bool narrow_;
  Matrix<double> doubles_;
  Matrix<float> floats_;
};

/// C as computed, with its decision and certificate.
struct Computed {
  Decision decision;
  Certificate certificate;
  Result c;
};

inline Computed compute_with(const SampleProduct& product, const Decision& decision, const Backend& backend,
                             const MultiplyOptions& options = {}) {
  Computed computed{decision, {}, Result(product.m(), product.n(), product.narrow)};
  const RealProduct real{product.problem.a, product.problem.b, computed.c.output(), product.alpha, product.beta, product.c0};
  computed.certificate = multiply(real, decision, backend, options);
  return computed;
}

inline Decision decide_for(const SampleProduct& product, const Target& target, const Backend& backend) {
  return decide_by(product.encoding, product.stated(), target, backend);
}

inline Computed compute(const SampleProduct& product, const Target& target, const Backend& backend) {
  return compute_with(product, decide_for(product, target, backend), backend);
}

/// True if a verdict's error is within the certificate's ratio of what the target allows, plus underflow. A verdict rounds
/// errors up and allowances down, by a few 2^-52 each.
inline bool ratio_covers(const Certificate& certificate, const Verdict& met) {
  if (certificate.target.kind == Target::Kind::correctly_rounded) return true;
  const auto terms = static_cast<double>(std::max<Index>(certificate.k, 1) * std::max<Index>(met.entries, 1));
  const auto underflow = multiply_upper(Magnitude::of(certificate.narrow ? 0x1p-149 : 0x1p-1074), Magnitude::of(terms));
  const auto share = multiply_upper(Magnitude::of(certificate.ratio * (1 + 0x1p-49)), met.bound);
  return !(met.error > add_upper(share, underflow));
}

/// Success if C is infinite only where the exact entry rounds to that infinity or the inputs are not finite.
inline testing::AssertionResult infinite_where_exact(const Result& c, const ExactOracle& oracle) {
  for (Index i = 0; i < c.input().rows(); ++i)
    for (Index j = 0; j < c.input().cols(); ++j) {
      const double x = double_from_bits(c.input().bits(i, j));
      const bool narrow = c.view().format() == ResultFormat::of_float;
      if (std::isinf(x) && x != (narrow ? double{oracle.rounded_float(i, j)} : oracle.rounded(i, j)))
        return testing::AssertionFailure() << "entry (" << i << ", " << j << ") is infinite";
    }
  return testing::AssertionSuccess();
}

/// Success if the exact oracle finds every entry within the certificate's bound and, if the certificate says so, within its
/// target. A certificate without any guarantee claims nothing.
inline testing::AssertionResult tells_the_truth(const SampleProduct& product, const Computed& computed) {
  const ExactOracle oracle(product.operands());
  const auto& certificate = computed.certificate;
  if (std::isinf(certificate.bound.underflow) && !certificate.holds) return testing::AssertionSuccess();
  if (auto infinite = infinite_where_exact(computed.c, oracle); !infinite)
    return infinite << to_json(certificate).dump(1) << product.describe();
  const JudgeOptions options{.reproduction = product.describe() + ", target " + to_string(certificate.target)};
  const auto within = verify(computed.c.view(), oracle, certificate.bound.over(computed.c.input()), options);
  if (!within.holds()) return testing::AssertionFailure() << to_json(certificate).dump(1) << '\n' << explain(within);
  if (certificate.holds != (certificate.ratio <= 1)) return testing::AssertionFailure() << to_json(certificate).dump(1);
  if (!certificate.holds) return testing::AssertionSuccess();
  const auto met = verify(computed.c.view(), oracle, certificate.target, options);
  if (!met.holds() || !ratio_covers(certificate, met))
    return testing::AssertionFailure() << to_json(certificate).dump(1) << '\n' << explain(met);
  return testing::AssertionSuccess();
}

/// Success if tells_the_truth() holds and the certificate says that the target holds.
inline testing::AssertionResult keeps_its_target(const SampleProduct& product, const Computed& computed) {
  if (!computed.certificate.holds)
    return testing::AssertionFailure() << product.describe() << '\n' << to_json(computed.certificate).dump(1);
  return tells_the_truth(product, computed);
}

inline testing::AssertionResult same_bits(const Result& x, const Result& y) {
  return x.bits() == y.bits() ? testing::AssertionSuccess() : testing::AssertionFailure() << "the results differ";
}

/// A random scalar: mostly +-1 and other ordinary numbers, some near the ends of the format.
inline double sample_scalar(RandomBits& random) {
  static constexpr double ordinary[] = {1, -1, 0, 2, -0.5, 3.7, -1e-5, 0x1.fffffffffffffp0};
  static constexpr double extreme[] = {0x1p-1074, -0x1p-1022, 1e300, 0x1p1023, -0x1.8p-700};
  return random.once_in(4) ? random.pick(extreme) : random.pick(ordinary);
}

/// Random alpha, beta, C0 and format for a problem.
inline SampleProduct sample_product(const Recipe& recipe, RandomBits& random) {
  auto product = product_of(recipe);
  product.narrow = random.once_in(4);
  if (random.once_in(2)) product.alpha = sample_scalar(random);
  if (random.once_in(2)) product.beta = sample_scalar(random);
  product.c0 = Matrix<double>(recipe.m, recipe.n);
  for (Index i = 0; i < recipe.m; ++i)
    for (Index j = 0; j < recipe.n; ++j)
      product.c0(i, j) = random.once_in(3) ? sample<double>(random)
                                           : std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), -63);
  return product;
}

/// Random small sizes. `cancellation` is also square, where B is A's inverse.
inline Recipe sample_recipe(Family family, double phi, int largest, RandomBits& random) {
  Recipe recipe{family, random.between(1, largest), random.between(1, largest), random.between(1, 3 * largest), phi, random()};
  if (family == Family::cancellation && random.once_in(2)) recipe.m = recipe.n = recipe.k = random.between(2, largest);
  return recipe;
}

}  // namespace ozbound::test
