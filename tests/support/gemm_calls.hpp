// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "properties/sampling.hpp"
#include "support/classified.hpp"
#include "support/generators.hpp"
#include "support/plan_reference.hpp"
#include "support/stored_matrix.hpp"

namespace ozbound::test {

/// Finite vectors of every row class, stored in an operand as rows or as columns; some are zero. `near` keeps their maxima
/// within 2^-9 … 2^9.
inline void fill(StoredMatrix& operand, Side side, bool near, RandomBits& random) {
  sample_operand(operand.rows(), operand.cols(), operand.storage().single, side, near, random,
                 [&](Index i, Index j, double x) { operand.set(i, j, x); });
}

/// Puts NaNs and infinities in about one of `odds` places.
inline void strew_specials(StoredMatrix& matrix, int odds, RandomBits& random) {
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j)
      if (random.once_in(odds)) matrix.set(i, j, sample_special(random));
}

/// A call that owns everything it refers to.
struct OwnedProduct {
  enum class C0 { unread, in_place, separate };

  StoredMatrix a, b, c, c0;
  double alpha = 1;
  double beta = 0;
  C0 source = C0::unread;  ///< the kind of C0; an unread C0 (beta = 0) is a matrix of NaN

  [[nodiscard]] RealProduct product() {
    return {a.input(), b.input(), c.output(), alpha, beta, source == C0::in_place ? c.input() : c0.input()};
  }

  /// The values of C0 before the call.
  [[nodiscard]] const StoredMatrix& c0_values() const { return source == C0::in_place ? c : c0; }
};

struct CallShape {
  Index m, n, k;
  bool near = true;    ///< operands of moderate size: entries neither overflow nor underflow
  bool floats = true;  ///< operands and C may be float
};

inline OwnedProduct sample_call(const CallShape& shape, RandomBits& random) {
  const auto storage = [&] { return sample_storage(shape.floats && random.once_in(3), random); };
  const auto a = storage();
  const auto b = storage();
  const auto c = storage();
  const auto c0 = storage();
  constexpr OwnedProduct::C0 sources[] = {OwnedProduct::C0::unread, OwnedProduct::C0::in_place, OwnedProduct::C0::separate};
  OwnedProduct call{StoredMatrix(shape.m, shape.k, a), StoredMatrix(shape.k, shape.n, b), StoredMatrix(shape.m, shape.n, c),
                    StoredMatrix(shape.m, shape.n, c0)};
  call.source = random.pick(sources);
  fill(call.a, Side::rows_of_a, shape.near, random);
  fill(call.b, Side::columns_of_b, shape.near, random);
  call.alpha = sample_scalar(random);
  call.beta = call.source == OwnedProduct::C0::unread ? 0.0 : sample_scalar(random);
  if (call.source == OwnedProduct::C0::in_place) fill(call.c, Side::rows_of_a, shape.near, random);
  if (call.source == OwnedProduct::C0::separate) fill(call.c0, Side::rows_of_a, shape.near, random);
  return call;
}

/// Entry (i, j) of C under a plan, by definition, as bits in C's format. `before` is the call before it ran.
inline std::uint64_t expected_bits(const OwnedProduct& before, const PlanReference& reference, Index i, Index j) {
  const bool single = before.c.storage().single;
  std::vector<std::vector<double>> terms;
  const bool product = before.alpha != 0;
  for (Index l = 0; product && l < before.a.cols(); ++l)
    terms.push_back({before.alpha, before.a.value(i, l), before.b.value(l, j)});
  if (before.beta != 0) terms.push_back({before.beta, before.c0_values().value(i, j)});
  if (const auto special = special_bits(terms, single); special != 0) return special;
  Exact value;
  if (product && before.a.cols() > 0) value = Exact(before.alpha) * reference.sum(i, j);
  if (before.beta != 0) value = value + Exact(before.beta) * Exact(before.c0_values().value(i, j));
  return rounded_bits(value, single);
}

/// All bits of C, row by row.
inline std::vector<std::uint64_t> bits_of_matrix(const StoredMatrix& c) {
  std::vector<std::uint64_t> bits;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) bits.push_back(c.bits(i, j));
  return bits;
}

inline std::vector<std::uint64_t> bits_of_matrix(const Matrix<double>& c) { return bits_of_matrix(stored(c)); }

inline std::string hex(std::uint64_t bits) {
  std::ostringstream text;
  text << std::hex << "0x" << bits;
  return text.str();
}

/// Success if every entry of `c` has the bits of `expected`, row by row.
inline testing::AssertionResult same_bits(const StoredMatrix& c, const std::vector<std::uint64_t>& expected) {
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      if (const auto bits = expected[static_cast<std::size_t>(i * c.cols() + j)]; c.bits(i, j) != bits)
        return testing::AssertionFailure() << "C(" << i << ", " << j << ") is " << hex(c.bits(i, j)) << ", not " << hex(bits);
  return testing::AssertionSuccess();
}

inline std::string describe(const OwnedProduct& call, const Plan& plan, const CpuEngine::Options& options) {
  std::ostringstream text;
  const auto storage = [&](const StoredMatrix& matrix) {
    text << (matrix.storage().single ? " float" : " double") << (matrix.storage().column_major ? " column-major" : " row-major")
         << " +" << matrix.storage().padding;
  };
  text << "m " << call.c.rows() << ", n " << call.c.cols() << ", k " << call.a.cols() << ", plan " << to_string(plan)
       << std::hexfloat << ", alpha " << call.alpha << ", beta " << call.beta << std::defaultfloat << ", C0 "
       << static_cast<int>(call.source) << ", threads " << options.threads << ", inner_block " << options.inner_block
       << ", row_tile " << options.row_tile << ", column_tile " << options.column_tile << "; A";
  storage(call.a), text << "; B", storage(call.b), text << "; C", storage(call.c), text << "; C0", storage(call.c0);
  return text.str();
}

/// Runs the call, compares every bit of C with the definition, and checks that elements beside C are unchanged.
inline testing::AssertionResult multiplies_rightly(OwnedProduct call, const Plan& plan, const CpuEngine::Options& options,
                                                   double workspace = unlimited_workspace) {
  std::vector<std::uint64_t> expected;
  const PlanReference reference(call.a.input(), call.b.input(), plan.split());
  for (Index i = 0; i < call.c.rows(); ++i)
    for (Index j = 0; j < call.c.cols(); ++j) expected.push_back(expected_bits(call, reference, i, j));
  const auto a = bits_of_matrix(call.a);
  const auto b = bits_of_matrix(call.b);
  const auto c0 = bits_of_matrix(call.c0);
  multiply_unproven(call.product(), plan, CpuEngine(options), workspace);
  auto result = same_bits(call.c, expected);
  if (result && !(call.a.intact() && call.b.intact() && call.c.intact() && call.c0.intact()))
    result = testing::AssertionFailure() << "an element outside the matrices was written";
  if (result && (bits_of_matrix(call.a) != a || bits_of_matrix(call.b) != b || bits_of_matrix(call.c0) != c0))
    result = testing::AssertionFailure() << "an input was written";
  if (!result) result << "; " << describe(call, plan, options);
  return result;
}

/// alpha A B + beta C0 under a plan, for matrices of doubles, by one call of gemm.
inline Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b, const Plan& plan, double alpha = 1,
                              double beta = 0, const Matrix<double>& c0 = {},
                              const CpuEngine::Options& options = {.threads = 1}) {
  Matrix<double> c(a.rows(), b.cols());
  multiply_unproven({a, b, c, alpha, beta, c0}, plan, CpuEngine(options));
  return c;
}

}  // namespace ozbound::test
