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
#include "support/classified.hpp"
#include "support/generators.hpp"
#include "support/plan_reference.hpp"
#include "support/stored_matrix.hpp"

namespace ozbound::test {

/// Any valid plan; at most `most_slices` slices on either side.
inline SplitPlan sample_plan(RandomBits& random, int most_slices = max_slices) {
  SplitPlan plan;
  const auto encodings = all_encodings();
  plan.a.encoding = encodings[static_cast<std::size_t>(random.below(static_cast<int>(encodings.size())))];
  plan.b.encoding = plan.a.encoding;
  if (plan.a.encoding.kind != Encoding::Kind::balanced && random.once_in(2))
    plan.b.encoding = random.once_in(2) ? Encoding::nearest(plan.a.encoding.beta) : Encoding::truncated(plan.a.encoding.beta);
  plan.a.slices = random.between(1, most_slices);
  plan.b.slices = random.between(1, most_slices);
  plan.cut = random.once_in(3) ? plan.a.slices + plan.b.slices : random.between(2, plan.a.slices + plan.b.slices);
  constexpr Accumulation accumulations[] = {Accumulation::exact, Accumulation::per_product, Accumulation::per_diagonal};
  plan.accumulation = random.pick(accumulations);
  return plan;
}

/// Any way of working that must not matter.
inline CpuEngine::Options sample_options(RandomBits& random) {
  constexpr Index blocks[] = {0, 1, 2, 3, 7, 64, 1000000};
  constexpr Index tiles[] = {0, 1, 2, 3, 5, 8};
  CpuEngine::Options options;
  options.threads = random.between(1, 3);
  options.inner_block = random.pick(blocks);
  options.row_tile = random.pick(tiles);
  options.column_tile = random.pick(tiles);
  return options;
}

inline Storage sample_storage(bool single, RandomBits& random) {
  Storage storage{single, random.once_in(2), 0};
  if (random.once_in(2)) storage.padding = random.between(1, 5);
  return storage;
}

/// Finite vectors of every row class, lying in an operand as rows or as columns; some are zero. `near` keeps their maxima
/// within 2^-9 … 2^9.
inline void fill(StoredMatrix& operand, Side side, bool near, RandomBits& random) {
  const auto draw = [&]<class T>() {
    const Index count = side == Side::rows_of_a ? operand.rows() : operand.cols();
    const Index length = side == Side::rows_of_a ? operand.cols() : operand.rows();
    for (Index i = 0; i < count; ++i) {
      const auto kind = random.pick(row_classes);
      const auto exponent = near ? ExponentClass::near_one : random.pick(exponent_classes);
      const T top = random.once_in(8) ? T{0} : sample<T>(exponent, random.pick(significand_classes), random.once_in(2), random);
      const Index place = length == 0 ? 0 : random.below(static_cast<int>(length));
      for (Index l = 0; l < length; ++l) {
        T x = top;
        if (l != place && top != 0) {
          const int e = std::ilogb(top);
          switch (kind) {
            case RowClass::alike: x = sample_below<T>(e, random.below(2), random); break;
            case RowClass::spread: x = sample_below<T>(e, random.below(70), random); break;
            case RowClass::dominated: x = sample_below<T>(e, random.between(50, 2200), random); break;
            case RowClass::any: x = near ? sample_below<T>(e, random.below(20), random) : sample<T>(random); break;
          }
        }
        if (side == Side::rows_of_a)
          operand.set(i, l, x);
        else
          operand.set(l, i, x);
      }
    }
  };
  if (operand.storage().single)
    draw.template operator()<float>();
  else
    draw.template operator()<double>();
}

/// Puts NaNs and infinities in about one of `odds` places.
inline void strew_specials(StoredMatrix& matrix, int odds, RandomBits& random) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j)
      if (random.once_in(odds)) {
        const double specials[] = {inf, -inf, inf, -inf, std::numeric_limits<double>::quiet_NaN()};
        matrix.set(i, j, random.pick(specials));
      }
}

inline double sample_scalar(RandomBits& random) {
  const double usual[] = {1, -1, 0, 1, -1, 0.5, 3, -0x1.5555555555555p-2};
  if (!random.once_in(3)) return random.pick(usual);
  return random.once_in(2) ? sample<double>(ExponentClass::near_one, SignificandClass::uniform, random.once_in(2), random)
                           : sample<double>(random);
}

/// A call with everything that it refers to.
struct OwnedCall {
  enum class C0 { unread, in_place, separate };

  StoredMatrix a, b, c, c0;
  double alpha = 1;
  double beta = 0;
  C0 source = C0::unread;  ///< what C0 is: what beta = 0 leaves unread is a matrix of NaN

  [[nodiscard]] GemmCall call() {
    return {a.input(), b.input(), c.output(), alpha, beta, source == C0::in_place ? c.input() : c0.input()};
  }

  /// C0 before the call, as numbers.
  [[nodiscard]] const StoredMatrix& c0_values() const { return source == C0::in_place ? c : c0; }
};

struct CallShape {
  Index m, n, k;
  bool near = true;    ///< operands of moderate size: entries neither overflow nor underflow
  bool floats = true;  ///< operands and C may be float
};

inline OwnedCall sample_call(const CallShape& shape, RandomBits& random) {
  const auto storage = [&] { return sample_storage(shape.floats && random.once_in(3), random); };
  const auto a = storage();
  const auto b = storage();
  const auto c = storage();
  const auto c0 = storage();
  constexpr OwnedCall::C0 sources[] = {OwnedCall::C0::unread, OwnedCall::C0::in_place, OwnedCall::C0::separate};
  OwnedCall call{StoredMatrix(shape.m, shape.k, a), StoredMatrix(shape.k, shape.n, b), StoredMatrix(shape.m, shape.n, c),
                 StoredMatrix(shape.m, shape.n, c0)};
  call.source = random.pick(sources);
  fill(call.a, Side::rows_of_a, shape.near, random);
  fill(call.b, Side::columns_of_b, shape.near, random);
  call.alpha = sample_scalar(random);
  call.beta = call.source == OwnedCall::C0::unread ? 0.0 : sample_scalar(random);
  if (call.source == OwnedCall::C0::in_place) fill(call.c, Side::rows_of_a, shape.near, random);
  if (call.source == OwnedCall::C0::separate) fill(call.c0, Side::rows_of_a, shape.near, random);
  return call;
}

/// Entry (i, j) of C under a plan, by definition: bits in C's format. `before` is the call before it ran.
inline std::uint64_t expected_bits(const OwnedCall& before, const PlanReference& reference, Index i, Index j) {
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

/// Every entry of `c` has the bits of `expected`, row by row.
inline testing::AssertionResult same_bits(const StoredMatrix& c, const std::vector<std::uint64_t>& expected) {
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      if (const auto bits = expected[static_cast<std::size_t>(i * c.cols() + j)]; c.bits(i, j) != bits)
        return testing::AssertionFailure() << "C(" << i << ", " << j << ") is " << hex(c.bits(i, j)) << ", not " << hex(bits);
  return testing::AssertionSuccess();
}

inline std::string describe(const OwnedCall& call, const SplitPlan& plan, const CpuEngine::Options& options) {
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

/// Runs the call, and compares every bit of C with the definition and every element beside C with what it was.
inline testing::AssertionResult multiplies_rightly(OwnedCall call, const SplitPlan& plan, const CpuEngine::Options& options,
                                                   double workspace = unlimited_workspace) {
  std::vector<std::uint64_t> expected;
  const PlanReference reference(call.a.input(), call.b.input(), plan);
  for (Index i = 0; i < call.c.rows(); ++i)
    for (Index j = 0; j < call.c.cols(); ++j) expected.push_back(expected_bits(call, reference, i, j));
  const auto a = bits_of_matrix(call.a);
  const auto b = bits_of_matrix(call.b);
  const auto c0 = bits_of_matrix(call.c0);
  gemm(call.call(), plan, CpuEngine(options), workspace);
  auto result = same_bits(call.c, expected);
  if (result && !(call.a.intact() && call.b.intact() && call.c.intact() && call.c0.intact()))
    result = testing::AssertionFailure() << "an element outside the matrices was written";
  if (result && (bits_of_matrix(call.a) != a || bits_of_matrix(call.b) != b || bits_of_matrix(call.c0) != c0))
    result = testing::AssertionFailure() << "an input was written";
  if (!result) result << "; " << describe(call, plan, options);
  return result;
}

/// alpha A B + beta C0 under a plan, for matrices of doubles: one call of gemm.
inline Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b, const SplitPlan& plan, double alpha = 1,
                              double beta = 0, const Matrix<double>& c0 = {},
                              const CpuEngine::Options& options = {.threads = 1}) {
  Matrix<double> c(a.rows(), b.cols());
  gemm({a, b, c, alpha, beta, c0}, plan, CpuEngine(options));
  return c;
}

}  // namespace ozbound::test
