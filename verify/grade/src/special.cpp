// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "conventional.hpp"
#include "ozbound/verify/exact_oracle.hpp"
#include "ozbound/verify/random_stream.hpp"
#include "parts.hpp"
#include "snippet.hpp"
#include "stored_call.hpp"
#include "tally.hpp"

namespace ozbound::grading {
namespace {

using Limits = std::numeric_limits<double>;

constexpr double infinity = Limits::infinity();
const double nan = Limits::quiet_NaN();
const double signalling_nan = std::bit_cast<double>(0x7ff4000000000123U);
const double payload_nan = std::bit_cast<double>(0x7ff8000000abcdefU);

/// A, B and C0 with elements +-1, +-1.25, +-1.5 and +-1.75, or all positive. Sums of their products are exact in 24 bits, so
/// that a library of low accuracy does not fail because of it.
struct Values {
  Matrix<double> a, b, c0;

  [[nodiscard]] Operands operands(double alpha = 1, double beta = 0) const {
    return {.a = a.view(), .b = b.view(), .alpha = alpha, .beta = beta, .c0 = c0.view()};
  }
  [[nodiscard]] std::string shape() const { return fmt::format("{} x {} x {}", a.rows(), b.cols(), a.cols()); }
};

Matrix<double> nonzero(RandomStream& random, Index rows, Index cols, bool positive) {
  Matrix<double> matrix(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const double magnitude = 1 + 0.25 * static_cast<double>(random.below(4));
      matrix(i, j) = !positive && (random.bits() & 1) != 0 ? -magnitude : magnitude;
    }
  return matrix;
}

Values values(Index m, Index n, Index k, std::uint64_t seed, bool positive = false) {
  RandomStream random(seed);
  auto a = nonzero(random, m, k, positive);
  auto b = nonzero(random, k, n, positive);
  return {std::move(a), std::move(b), nonzero(random, m, n, positive)};
}

/// Shapes of one entry, of a corner of a kernel, and of several kernels.
std::vector<CaseShape> shapes(const GradeOptions& options) {
  if (options.quick) return {{1, 1, 1}, {5, 7, 3}, {9, 17, 12}};
  return {{1, 1, 1}, {1, 9, 4}, {9, 1, 4}, {5, 7, 3}, {33, 17, 65}, {70, 130, 40}, {130, 70, 300}};
}

constexpr Storage storages[] = {{}, {.transpose_a = true}, {.transpose_b = true}, {.transpose_a = true, .transpose_b = true}};

/// The whole grade of special values: a library and the findings.
class SpecialValues {
 public:
  SpecialValues(const ForeignGemm& gemm, const GradeOptions& options) : gemm_(gemm), options_(options) {}

  /// Judges products in both layouts by the exact product. NaNs and infinities must be where IEEE 754 puts them; all other
  /// entries must be within the bound.
  /// @return true if the worst entry of every contradicting product is zero
  bool judge(Tally& tally, const Operands& in, const Storage& storage, const std::string& what) const {
    const ExactOracle oracle(in);
    bool zero = true;
    for (const auto& [layout, c] : products(gemm_, in, storage)) {
      const auto judged = judge_conventional(c, oracle);
      zero = zero && (judged.holds() || judged.computed == 0);
      tally.expect(
          judged.holds() && judged.overflowed == 0,
          [&, &lay = layout] {
            return fmt::format("{}, {} x {} x {}, {}: {}", what, in.a.rows(), in.b.cols(), in.a.cols(), to_string(lay),
                               explain(judged));
          },
          [&, &lay = layout](const std::string& test) { return entry_snippet(gemm_, test, in, lay, Judged::finite); });
    }
    return zero;
  }

  /// Calls visit(values, shape's words) for each shape.
  template <class Visit>
  void each_shape(Visit visit, bool positive = false) const {
    for (const auto& [m, n, k] : shapes(options_)) visit(values(m, n, k, options_.seed, positive));
  }

  /// Puts `x` at the first, a middle and the last element of the operand that `choose` picks, one at a time, in every storage.
  template <class Choose>
  void planted(Tally& tally, double x, Choose choose, double alpha = 1, double beta = 0) const {
    each_shape([&](Values v) {
      Matrix<double>& operand = choose(v);
      const Index size = operand.rows() * operand.cols();
      for (const Index place : {Index{0}, size / 2, size - 1}) {
        const double saved = std::exchange(operand.data()[place], x);
        const auto words = fmt::format("{} at ({}, {})", x, place / operand.cols(), place % operand.cols());
        for (const auto& storage : storages) judge(tally, v.operands(alpha, beta), storage, words);
        operand.data()[place] = saved;
      }
    });
  }

  [[nodiscard]] Finding nan_in_a() const {
    Tally tally({"special.nan-in-a", "a_il = NaN and B(l, :) != 0: row i of C is NaN, and no other entry is",
                 fmt::format("{}, 6.2.3; {}", ieee754, blas_exceptions)});
    planted(tally, nan, [](Values& v) -> auto& { return v.a; });
    return tally.finding();
  }

  [[nodiscard]] Finding nan_in_b() const {
    Tally tally({"special.nan-in-b", "b_lj = NaN and A(:, l) != 0: column j of C is NaN, and no other entry is",
                 fmt::format("{}, 6.2.3; {}", ieee754, blas_exceptions)});
    planted(tally, nan, [](Values& v) -> auto& { return v.b; });
    return tally.finding();
  }

  [[nodiscard]] Finding nan_in_c() const {
    Tally tally({"special.nan-in-c", "c_ij = NaN and beta != 0: entry (i, j) of the result is NaN, and no other entry is",
                 fmt::format("{}, 6.2.3; {}", ieee754, blas_exceptions)});
    for (const double beta : {1.0, 0.5}) planted(tally, nan, [](Values& v) -> auto& { return v.c0; }, 1, beta);
    return tally.finding();
  }

  [[nodiscard]] Finding infinities() const {
    Tally tally({"special.infinity",
                 "one infinite element among nonzero finite ones: its entries of C are the infinity of the product's sign, no "
                 "other entry is infinite or NaN",
                 fmt::format("{}, 6.1; {}", ieee754, blas_exceptions)});
    for (const double x : {infinity, -infinity}) {
      planted(tally, x, [](Values& v) -> auto& { return v.a; });
      planted(tally, x, [](Values& v) -> auto& { return v.b; });
      planted(tally, x, [](Values& v) -> auto& { return v.c0; }, 1, 1);
    }
    return tally.finding();
  }

  [[nodiscard]] Finding opposite_infinities() const {
    Tally tally({"special.infinity-minus-infinity", "an entry whose terms hold both infinities is NaN",
                 fmt::format("{}, 7.2 d; {}", ieee754, blas_exceptions)});
    each_shape(
        [&](Values v) {
          if (v.a.cols() < 2) return;
          v.a(0, 0) = infinity;
          v.a(0, v.a.cols() - 1) = -infinity;
          judge(tally, v.operands(), {}, "+inf and -inf in row 0 of A");
          v.c0(0, 0) = infinity;
          v.a(0, 0) = 1;
          judge(tally, v.operands(1, 1), {}, "-inf in row 0 of A, +inf at C0(0, 0)");
        },
        true);
    return tally.finding();
  }

  /// The reference BLAS skipped zeros of B for decades. A special value that meets a zero need not reach C.
  [[nodiscard]] Finding zero_times_special() const {
    Tally tally({"special.zero-times-special",
                 "0 * NaN and 0 * Inf among the terms make an entry NaN. Left open: a product with a zero element may be "
                 "skipped, as the reference BLAS did",
                 fmt::format("{}, 6.2.3 and 7.2 b; {}; {}", ieee754, blas_exceptions, level3_blas)},
                Outcome::differs);
    for (const double x : {nan, infinity})
      each_shape([&](Values v) {
        v.a(0, 0) = x;
        for (Index j = 0; j < v.b.cols(); ++j) v.b(0, j) = 0;
        judge(tally, v.operands(), {}, fmt::format("{} at A(0, 0), row 0 of B zero", x));
        v = values(v.a.rows(), v.b.cols(), v.a.cols(), options_.seed);
        v.b(0, 0) = x;
        for (Index i = 0; i < v.a.rows(); ++i) v.a(i, 0) = 0;
        judge(tally, v.operands(), {}, fmt::format("{} at B(0, 0), column 0 of A zero", x));
      });
    return tally.finding();
  }

  [[nodiscard]] Finding beta_zero() const {
    Tally tally({"special.beta-zero-ignores-c", "beta = 0: C := alpha AB whatever C holds: NaN, signalling NaN, Inf",
                 fmt::format("{}: C need not be set on entry when beta is zero; {}", level3_blas, blas_exceptions)});
    for (const double x : {nan, signalling_nan, infinity})
      for (const double alpha : {1.0, -1.5, 0.0})
        each_shape([&](Values v) {
          std::fill_n(v.c0.data(), v.c0.rows() * v.c0.cols(), x);
          for (const auto& storage : storages)
            judge(tally, v.operands(alpha, 0), storage, fmt::format("C full of {}, alpha = {}", x, alpha));
          const auto none = values(v.c0.rows(), v.c0.cols(), 0, options_.seed);
          judge(tally, {none.a.view(), none.b.view(), alpha, 0, v.c0.view()}, {}, fmt::format("C full of {}, k = 0", x));
        });
    // Some libraries scale C by other code if C is large.
    auto large = options_.quick ? values(150, 30, 3, options_.seed) : values(530, 140, 3, options_.seed);
    std::fill_n(large.c0.data(), large.c0.rows() * large.c0.cols(), nan);
    judge(tally, large.operands(), {}, "C full of nan");
    return tally.finding();
  }

  [[nodiscard]] Finding alpha_zero() const {
    Tally tally({"special.alpha-zero", "alpha = 0: C := beta C, within gamma_{k+3} |beta||C|, for finite A and B",
                 fmt::format("{}; {}", level3_blas, higham)});
    for (const double beta : {0.0, 1.0, -1.0, 1.25})
      each_shape([&](const Values& v) { judge(tally, v.operands(0, beta), {}, fmt::format("beta = {}", beta)); });
    return tally.finding();
  }

  [[nodiscard]] Finding alpha_zero_ignores() const {
    Tally tally({"special.alpha-zero-ignores-a-and-b",
                 "alpha = 0: C := beta C whatever A and B hold. The reference BLAS does so by an early return; its "
                 "documentation long left it open",
                 fmt::format("Reference BLAS, dgemm; {}", blas_exceptions)},
                Outcome::differs);
    for (const double x : {nan, infinity})
      for (const double beta : {0.0, 1.0, 0.5})
        each_shape([&](Values v) {
          std::fill_n(v.a.data(), v.a.rows() * v.a.cols(), x);
          std::fill_n(v.b.data(), v.b.rows() * v.b.cols(), x);
          judge(tally, v.operands(0, beta), {}, fmt::format("A and B full of {}, beta = {}", x, beta));
        });
    return tally.finding();
  }

  [[nodiscard]] Finding inner_zero() const {
    Tally tally({"special.k-zero", "k = 0: C := beta C; beta = 0 makes C zero, beta = 1 leaves it, NaN included",
                 fmt::format("{}; Reference BLAS, dgemm", level3_blas)});
    for (const double x : {2.5, infinity, nan})
      for (const double beta : {0.0, 1.0, -0.5}) {
        auto v = values(3, 4, 0, options_.seed);
        v.c0(1, 2) = beta == 0 ? 1 : x;
        for (const double alpha : {1.0, 0.0})
          judge(tally, v.operands(alpha, beta), {}, fmt::format("C(1, 2) = {}, beta = {}", x, beta));
      }
    return tally.finding();
  }

  /// Makes every entry special: alpha or beta is `x`, and all elements are positive.
  void judge_scalar(Tally& tally, double x) const {
    each_shape(
        [&](const Values& v) {
          judge(tally, v.operands(x, 0), {}, fmt::format("alpha = {}, beta = 0", x));
          judge(tally, v.operands(x, 1), {}, fmt::format("alpha = {}, beta = 1", x));
          judge(tally, v.operands(1, x), {}, fmt::format("alpha = 1, beta = {}", x));
        },
        true);
  }

  [[nodiscard]] Finding nan_scalar() const {
    Tally tally({"special.nan-scalar",
                 "alpha = NaN or beta = NaN makes every entry NaN; in particular beta = NaN is not beta = 0",
                 fmt::format("{}, 5.11 (NaN == 0 is false) and 6.2.3; {}", ieee754, blas_exceptions)});
    judge_scalar(tally, nan);
    return tally.finding();
  }

  [[nodiscard]] Finding infinite_scalar() const {
    Tally tally({"special.infinite-scalar", "A, B, C > 0: alpha = Inf or beta = Inf makes every entry +Inf",
                 fmt::format("{}, 6.1; {}", ieee754, blas_exceptions)});
    judge_scalar(tally, infinity);
    return tally.finding();
  }

  /// Judges A scaled by 2^a_scale, B by 2^b_scale. Returns true if the worst entry of every contradiction is zero.
  [[nodiscard]] bool all_zero_in_scaled(Tally& tally, int a_scale, int b_scale) const {
    bool zero = true;
    each_shape([&](Values v) {
      for (Index t = 0; t < v.a.rows() * v.a.cols(); ++t) v.a.data()[t] = std::ldexp(v.a.data()[t], a_scale);
      for (Index t = 0; t < v.b.rows() * v.b.cols(); ++t) v.b.data()[t] = std::ldexp(v.b.data()[t], b_scale);
      for (const auto& storage : storages)
        zero = judge(tally, v.operands(), storage, fmt::format("A in +-2^{} [1, 2), B in +-2^{} [1, 2)", a_scale, b_scale)) &&
               zero;
    });
    return zero;
  }

  [[nodiscard]] Finding subnormal_inputs() const {
    Tally tally({"special.subnormal-inputs",
                 "subnormal elements are numbers like others: A of +-2^-1030 [1, 2), B of +-2^600 [1, 2) give "
                 "|C^ - AB| <= k u |A||B| + k eta/2, and so do A and B exchanged",
                 fmt::format("{}, 3.4; {}", ieee754, jeannerod_rump)});
    const bool zero_a = all_zero_in_scaled(tally, -1030, 600);
    const bool zero_b = all_zero_in_scaled(tally, 600, -1030);
    return tally.finding(!tally.clean() && zero_a && zero_b ? "subnormal inputs are treated as zero" : "");
  }

  [[nodiscard]] Finding subnormal_results() const {
    Tally tally({"special.subnormal-results",
                 "products of normal numbers that are subnormal are kept: A of +-2^-520 [1, 2), B of +-2^-520 [1, 2) give "
                 "|C^ - AB| <= k u |A||B| + k eta/2",
                 fmt::format("{}, 7.5 (gradual underflow); {}", ieee754, jeannerod_rump)});
    const bool zero = all_zero_in_scaled(tally, -520, -520);
    return tally.finding(!tally.clean() && zero ? "subnormal results are flushed to zero" : "");
  }

  /// x = 1.5 2^-1022 and y = 2^-1022: x - y = 2^-1023 is exact, and so is every sum of such terms.
  [[nodiscard]] Finding subnormal_differences() const {
    Tally tally({"special.subnormal-differences",
                 "x != y imply x - y != 0: 1.5 2^-1022 - 2^-1022 = 2^-1023 in every entry, exactly",
                 fmt::format("{}, 7.5 (gradual underflow)", ieee754)});
    for (const auto& [m, n, unused] : shapes(options_)) {
      Values v{Matrix<double>(m, 2), Matrix<double>(2, n), Matrix<double>(m, n)};
      for (Index i = 0; i < m; ++i) v.a(i, 0) = 0x1.8p-1022, v.a(i, 1) = 0x1p-1022;
      for (Index j = 0; j < n; ++j) v.b(0, j) = 1, v.b(1, j) = -1;
      judge(tally, v.operands(), {}, "differences of normal numbers");
    }
    return tally.finding();
  }

  [[nodiscard]] Finding overflow() const {
    Tally tally(
        {"special.overflow",
         "A, B > 0: an entry of 2^1024 or more is +Inf, -Inf for alpha = -1; one below 2^1022 is finite within k u |A||B|",
         fmt::format("{}, 7.4", ieee754)});
    each_shape(
        [&](Values v) {
          for (Index t = 0; t < v.a.rows() * v.a.cols(); ++t) v.a.data()[t] *= 0x1p1000;
          for (Index j = 0; j < v.b.cols(); ++j) {
            const double scale = j % 2 == 0 ? 0x1p24 : 0x1p9;
            for (Index l = 0; l < v.b.rows(); ++l) v.b(l, j) *= scale;
          }
          for (const double alpha : {1.0, -1.0}) judge(tally, v.operands(alpha), {}, fmt::format("alpha = {}", alpha));
        },
        true);
    return tally.finding();
  }

  /// 2^1023 + 2^1023 - 2^1023, and 2^-10 (2^515 2^515): finite results with partial results beyond the range.
  [[nodiscard]] Finding intermediate_overflow() const {
    Tally tally(
        {"special.intermediate-overflow",
         "2^1023 + 2^1023 - 2^1023 = 2^1023 and 2^-10 (2^515 * 2^515) = 2^1020. Left open: partial results may be Inf, and "
         "the entry then Inf or NaN",
         fmt::format("{}, 7.4; {}", ieee754, level3_blas)},
        Outcome::differs);
    const double big = 0x1p1023;
    const double a[] = {big, big, -big, 0x1p515};
    const double b[] = {1, 1, 1, 0x1p515};
    const auto expect = [&](Index first, Index k, double alpha, double exact, const char* what) {
      const Operands in{.a = row_major(a + first, 1, k, 4), .b = row_major(b + first, k, 1, 1), .alpha = alpha};
      for (const auto& [storage, c] : products(gemm_, in))
        tally.expect(c(0, 0) == exact,
                     [&, &lay = storage, x = c(0, 0)] { return fmt::format("the {} is {}, {}", what, x, to_string(lay)); });
    };
    expect(0, 3, 1, big, "sum");
    expect(3, 1, 0x1p-10, 0x1p1020, "scaled product");
    return tally.finding();
  }

  [[nodiscard]] Finding nan_payload() const {
    Tally tally({"special.nan-payload",
                 "the NaN in C is quiet and has the payload of the only NaN among the inputs. IEEE 754 recommends it without "
                 "asking for it",
                 fmt::format("{}, 6.2.3", ieee754)},
                Outcome::differs);
    each_shape([&](Values v) {
      v.a(0, 0) = payload_nan;
      for (const auto& [storage, c] : products(gemm_, v.operands())) {
        const auto bits = std::bit_cast<std::uint64_t>(c(0, 0)) & ~(std::uint64_t{1} << 63);
        tally.expect(bits == std::bit_cast<std::uint64_t>(payload_nan), [&] {
          return fmt::format("{}: {:#x} became {:#x}", v.shape(), std::bit_cast<std::uint64_t>(payload_nan), bits);
        });
      }
    });
    return tally.finding();
  }

  [[nodiscard]] Finding zero_sign() const {
    Tally tally({"special.zero-sign",
                 "an exactly zero entry is +0: 1 * 3 - 1 * 3, and -1 * 0. Left open: a sum that starts from its first term "
                 "keeps the -0 of -1 * 0",
                 fmt::format("{}, 6.3", ieee754)},
                Outcome::differs);
    const double a[] = {1, 1};
    const double difference[] = {3, -3};
    const double zero[] = {-0.0, -0.0};
    for (const auto* b : {difference, zero})
      for (const auto& [storage, all] : products(gemm_, {.a = row_major(a, 1, 2, 2), .b = row_major(b, 2, 1, 1)})) {
        const double c = all(0, 0);
        tally.expect(c == 0 && !std::signbit(c), [&] { return fmt::format("(1, 1) ({}, {})^T = {}", b[0], b[1], c); });
      }
    return tally.finding();
  }

 private:
  const ForeignGemm& gemm_;
  const GradeOptions& options_;
};

}  // namespace

Findings grade_special(const ForeignGemm& gemm, const GradeOptions& options) {
  const SpecialValues of(gemm, options);
  return {{of.nan_in_a(), of.nan_in_b(), of.nan_in_c(), of.infinities(), of.opposite_infinities(), of.zero_times_special(),
           of.nan_scalar(), of.infinite_scalar(), of.beta_zero(), of.alpha_zero(), of.alpha_zero_ignores(), of.inner_zero(),
           of.subnormal_inputs(), of.subnormal_results(), of.subnormal_differences(), of.overflow(), of.intermediate_overflow(),
           of.nan_payload(), of.zero_sign()},
          {}};
}

}  // namespace ozbound::grading
