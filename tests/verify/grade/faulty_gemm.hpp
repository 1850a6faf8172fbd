// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ozbound/verify/grade/grade.hpp"

namespace ozbound {

/// The fault of a FaultyGemm. The last values are no faults but permitted behaviour of other libraries.
enum class Fault {
  none,
  strassen,                ///< one level, if m, n and k are even and at least 64
  single_precision,        ///< sums rounded to 24 bits
  three_slices,            ///< 21 bits of each row of A and column of B
  fast_growth,             ///< each sum is off by k^2 u |a||b| / 8
  late_growth,             ///< each sum of more than 32 terms is off by k u |a||b| / 2
  subnormals_are_zero,     ///< in inputs only
  subnormals_are_doubled,  ///< in inputs and results
  flushes_results,         ///< products and sums below 2^-1022 become 0
  overflow_is_nan,
  saturates,  ///< the largest finite number instead of infinity
  beta_zero_reads_c,
  beta_zero_reads_large_c,  ///< for C with 140 rows or more
  beta_nan_is_zero,
  swallows_nan,
  swallows_nan_in_c,
  nan_spreads,  ///< NaN spreads to the next row of C
  infinity_is_nan,
  keeps_infinity,  ///< Inf - Inf = Inf
  forgets_beta_without_alpha,
  forgets_beta_without_k,
  infinite_scalar_is_nan,
  irreproducible,  ///< the order of summation changes from call to call
  writes_past_ld,  ///< one element below each column
  writes_before_c,
  writes_past_large_ld,  ///< if ldc exceeds its minimum by more than 3
  changes_a,
  touches_a,          ///< writes an element of A and restores it
  exits,              ///< ends the process with 0 if m = 17
  exits_on_a_fault,   ///< has its own handler for SIGSEGV from its first call on, and reads past A if m = 17
  misreads_letters,   ///< C(0, 0) is wrong if op is not given as N or T; likewise in the next three
  misreads_large_ld,  ///< if A is transposed and lda exceeds its minimum by more than 7
  wrong_update,       ///< if alpha = -1 and beta = 1
  wrong_same_matrix,  ///< if A and B are the same memory
  wraps_offsets,      ///< offsets wrap at 32 bits
  reads_past_a,
  reads_before_b,
  wrong_transposition,  ///< rows of a transposed A in reverse
  wrong_row_major,      ///< columns of C in reverse
  drops_fifth_term,     ///< if k = 5
  writes_empty_c,
  wrong_when_shifted,  ///< C(0, 0) is wrong if A does not start at a multiple of 64 bytes
  wrong_at_63_rows,    ///< C(0, 0) is wrong if m = 63

  starts_with_first_term,  ///< -0 survives
  multiplies_by_zero_alpha,
  skips_zeros_of_b,
  drops_nan_payload,
  order_by_address,
  order_by_place,
  order_by_transposition,
};

/// A dgemm of plain loops with one fault.
class FaultyGemm final : public ForeignGemm {
 public:
  explicit FaultyGemm(Fault fault, bool takes_row_major = true) : fault_(fault), takes_row_major_(takes_row_major) {}

  [[nodiscard]] std::string name() const override { return "plain loops"; }
  [[nodiscard]] bool takes_row_major() const override { return takes_row_major_; }

  void dgemm(const BlasCall& call) const override {
    ++calls_;
    if (call.m == 0 || call.n == 0) {
      if (fault_ == Fault::writes_empty_c) *call.c = 0;
      return;
    }
    misbehave(call);
    const Operands in = read(call);
    const auto products = call.alpha == 0 && fault_ != Fault::multiplies_by_zero_alpha
                              ? std::vector<double>(static_cast<std::size_t>(call.m * call.n))
                              : multiply(in, reinterpret_cast<std::uintptr_t>(call.a), call.transpose_a);
    for (Index i = 0; i < call.m; ++i)
      for (Index j = 0; j < call.n; ++j) store(call, i, j, products[static_cast<std::size_t>(i * call.n + j)]);
    write_elsewhere(call);
  }

 private:
  /// Copies of op(A) by rows and op(B) by columns.
  struct Operands {
    Index m, n, k;
    std::vector<double> a, b;

    [[nodiscard]] const double* row(Index i) const { return a.data() + i * k; }
    [[nodiscard]] const double* column(Index j) const { return b.data() + j * k; }
  };

  [[nodiscard]] const double& element(const double* x, Index ld, bool by_rows, Index i, Index j) const {
    const Index offset = by_rows ? i * ld + j : i + j * ld;
    return x[fault_ == Fault::wraps_offsets ? static_cast<std::int32_t>(offset) : offset];
  }

  /// Misbehaves before anything is computed.
  void misbehave(const BlasCall& call) const {
    if (fault_ == Fault::exits && call.m == 17) _exit(0);
    if (fault_ == Fault::exits_on_a_fault && calls_ == 1) std::signal(SIGSEGV, [](int) { _exit(0); });
    if (fault_ == Fault::touches_a && call.k > 0) {
      auto* const first = const_cast<volatile double*>(call.a);  // NOLINT: the fault
      const double kept = *first;
      *first = 0;
      *first = kept;
    }
  }

  [[nodiscard]] Operands read(const BlasCall& call) const {
    Operands in{call.m, call.n, call.k, {}, {}};
    const bool reversed = fault_ == Fault::wrong_transposition && call.transpose_a;
    for (Index i = 0; i < call.m; ++i)
      for (Index l = 0; l < call.k; ++l)
        in.a.push_back(seen(element(call.a, call.lda, call.row_major != call.transpose_a, reversed ? call.m - 1 - i : i, l)));
    for (Index j = 0; j < call.n; ++j)
      for (Index l = 0; l < call.k; ++l)
        in.b.push_back(seen(element(call.b, call.ldb, call.row_major != call.transpose_b, l, j)));
    if ((fault_ == Fault::reads_past_a || (fault_ == Fault::exits_on_a_fault && call.m == 17)) && call.k > 0) {
      const bool by_rows = call.row_major != call.transpose_a;
      touch(&element(call.a, call.lda, by_rows, call.m - 1, call.k - 1) + 1);
    }
    if (fault_ == Fault::reads_before_b) touch(call.b - 1);
    if (fault_ == Fault::three_slices) {
      truncate(in.a, call.k);
      truncate(in.b, call.k);
    }
    return in;
  }

  static void touch(const double* x) { [[maybe_unused]] const volatile double read = *static_cast<const volatile double*>(x); }

  /// An element as the library sees it.
  [[nodiscard]] double seen(double x) const {
    if (fault_ == Fault::subnormals_are_zero && std::abs(x) < std::numeric_limits<double>::min()) return 0;
    if (fault_ == Fault::subnormals_are_doubled && std::fpclassify(x) == FP_SUBNORMAL) return 2 * x;
    if (fault_ == Fault::infinity_is_nan && std::isinf(x)) return std::nan("");
    return x;
  }

  /// Keeps in each line the 21 bits below the leading one of its largest element.
  static void truncate(std::vector<double>& lines, Index length) {
    for (auto line = lines.begin(); line != lines.end(); line += length) {
      double largest = 0;
      for (auto x = line; x != line + length; ++x)
        if (std::isfinite(*x)) largest = std::max(largest, std::abs(*x));
      if (largest == 0) continue;
      const int last = std::max(std::ilogb(largest) - 20, -1074);
      for (auto x = line; x != line + length; ++x)
        if (std::isfinite(*x)) *x = std::ldexp(std::trunc(std::ldexp(*x, -last)), last);
    }
  }

  [[nodiscard]] std::vector<double> multiply(const Operands& in, std::uintptr_t address, bool transposed) const {
    if (fault_ == Fault::strassen && std::min({in.m, in.n, in.k}) >= 64 && (in.m | in.n | in.k) % 2 == 0) return strassen(in);
    std::vector<double> c;
    for (Index i = 0; i < in.m; ++i)
      for (Index j = 0; j < in.n; ++j) {
        const auto order = fault_ == Fault::irreproducible           ? calls_.load()
                           : fault_ == Fault::order_by_address       ? address % 64 / 8  // 0 if a grade aligns its operands
                           : fault_ == Fault::order_by_place         ? static_cast<std::uintptr_t>(in.m + i + j)
                           : fault_ == Fault::order_by_transposition ? (transposed ? 1U : 0U)
                                                                     : 0;
        const Index row = fault_ == Fault::nan_spreads && i > 0 && has_nan(in.row(i - 1), in.k) ? i - 1 : i;
        c.push_back(dot(in.row(row), in.column(j), in.k, static_cast<Index>(order % 7)));
      }
    if ((fault_ == Fault::wrong_when_shifted && address % 64 != 0) || (fault_ == Fault::wrong_at_63_rows && in.m == 63))
      c.front() += 0x1p-30;
    return c;
  }

  static bool has_nan(const double* x, Index count) {
    return std::any_of(x, x + count, [](double value) { return std::isnan(value); });
  }

  /// The sum from term `first` on, followed by the earlier terms.
  [[nodiscard]] double dot(const double* x, const double* y, Index k, Index first) const {
    double sum = fault_ == Fault::starts_with_first_term ? -0.0 : 0;
    double magnitude = 0;
    bool infinite = false, nan = false;
    for (Index t = 0; t < k; ++t) {
      const Index l = (first + t) % k;
      if (fault_ == Fault::drops_fifth_term && k == 5 && l == 4) continue;
      if (fault_ == Fault::skips_zeros_of_b && y[l] == 0) continue;
      infinite = infinite || std::isinf(x[l]) || std::isinf(y[l]);
      nan = nan || std::isnan(x[l]) || std::isnan(y[l]);
      const double product = rounded(x[l] * y[l]);
      if (fault_ == Fault::swallows_nan && std::isnan(product)) continue;
      sum = rounded(sum + product);
      magnitude += std::abs(product);
    }
    return finished(sum, magnitude, static_cast<double>(k), infinite, nan);
  }

  [[nodiscard]] double rounded(double x) const {
    const bool normal = std::isnormal(x);
    if (fault_ == Fault::flushes_results && !normal && std::isfinite(x)) return 0;
    if (fault_ != Fault::single_precision || !normal) return x;
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(x) + (std::uint64_t{1} << 28)) &
                                 ~((std::uint64_t{1} << 29) - 1));
  }

  [[nodiscard]] double finished(double sum, double magnitude, double k, bool infinite, bool nan) const {
    using Limits = std::numeric_limits<double>;
    if (fault_ == Fault::subnormals_are_doubled && std::fpclassify(sum) == FP_SUBNORMAL) return 2 * sum;
    if (fault_ == Fault::overflow_is_nan && !infinite && std::isinf(sum)) return Limits::quiet_NaN();
    if (fault_ == Fault::saturates && !infinite && std::isinf(sum)) return std::copysign(Limits::max(), sum);
    if (fault_ == Fault::keeps_infinity && std::isnan(sum) && !nan && infinite) return Limits::infinity();
    if (fault_ == Fault::drops_nan_payload && std::isnan(sum)) return Limits::quiet_NaN();
    if (fault_ == Fault::fast_growth) return sum + 0.125 * k * k * 0x1p-53 * magnitude;
    if (fault_ == Fault::late_growth && k > 32) return sum + 0.5 * k * 0x1p-53 * magnitude;
    return sum;
  }

  /// Writes alpha times the product plus beta times the old C.
  void store(const BlasCall& call, Index i, Index j, double product) const {
    const bool reversed = fault_ == Fault::wrong_row_major && call.row_major;
    auto& c = call.c[call.row_major ? i * call.ldc + (reversed ? call.n - 1 - j : j) : i + j * call.ldc];
    const bool reads_c = fault_ == Fault::beta_zero_reads_c || (fault_ == Fault::beta_zero_reads_large_c && call.m >= 140);
    const bool unread = (call.beta == 0 && !reads_c) || (std::isnan(call.beta) && fault_ == Fault::beta_nan_is_zero) ||
                        (call.alpha == 0 && fault_ == Fault::forgets_beta_without_alpha);
    double old = unread ? 0 : c;
    if (fault_ == Fault::swallows_nan_in_c && std::isnan(old)) old = 0;
    if (call.k == 0 && fault_ == Fault::forgets_beta_without_k) return;
    const bool special_scalar = fault_ == Fault::infinite_scalar_is_nan && (std::isinf(call.alpha) || std::isinf(call.beta));
    const double scaled = special_scalar ? std::nan("") : unread ? 0 : call.beta * old;
    c = call.alpha == 0 && fault_ != Fault::multiplies_by_zero_alpha ? scaled
        : unread && !special_scalar                                  ? rounded(call.alpha * product)
                                                                     : rounded(call.alpha * product) + scaled;
  }

  void write_elsewhere(const BlasCall& call) const {
    const Index length = call.row_major ? call.n : call.m;
    const Index lines = call.row_major ? call.m : call.n;
    if (fault_ == Fault::writes_past_ld && call.ldc > length)
      for (Index line = 0; line < lines; ++line) call.c[line * call.ldc + length] = 1;
    if (fault_ == Fault::writes_past_large_ld && call.ldc > length + 3) call.c[length] = 1;
    if (fault_ == Fault::misreads_letters && call.spelling != OpSpelling::usual) *call.c += 1;
    if (fault_ == Fault::misreads_large_ld && call.transpose_a && call.lda > (call.row_major ? call.m : call.k) + 7)
      *call.c += 1;
    if (fault_ == Fault::wrong_update && call.alpha == -1 && call.beta == 1) *call.c += 1;
    if (fault_ == Fault::wrong_same_matrix && call.a == call.b) *call.c += 1;
    if (fault_ == Fault::writes_before_c) call.c[-1] = 1;
    if (fault_ == Fault::changes_a && call.k > 0) *const_cast<double*>(call.a) = -*call.a;  // NOLINT: the fault
  }

  /// Block (i, j) of the 2 x 2 blocks of a matrix stored line by line, plus `factor` times block (p, q).
  static std::vector<double> blocks(const std::vector<double>& x, Index lines, Index length, Index i, Index j,
                                    double factor = 0, Index p = 0, Index q = 0) {
    std::vector<double> sum;
    for (Index line = 0; line < lines / 2; ++line)
      for (Index t = 0; t < length / 2; ++t) {
        const auto at = [&](Index row, Index column) {
          return x[static_cast<std::size_t>((row * lines / 2 + line) * length + column * length / 2 + t)];
        };
        sum.push_back(factor == 0 ? at(i, j) : at(i, j) + factor * at(p, q));
      }
    return sum;
  }

  [[nodiscard]] std::vector<double> strassen(const Operands& in) const {
    const auto a = [&](Index i, Index j, double factor = 0, Index p = 0, Index q = 0) {
      return blocks(in.a, in.m, in.k, i, j, factor, p, q);
    };
    const auto b = [&](Index i, Index j, double factor = 0, Index p = 0, Index q = 0) {  // by columns: indices exchanged
      return blocks(in.b, in.n, in.k, j, i, factor, q, p);
    };
    const auto times = [&](std::vector<double> x, std::vector<double> y) {
      const Operands half{in.m / 2, in.n / 2, in.k / 2, std::move(x), std::move(y)};
      std::vector<double> c;
      for (Index i = 0; i < half.m; ++i)
        for (Index j = 0; j < half.n; ++j) c.push_back(dot(half.row(i), half.column(j), half.k, 0));
      return c;
    };
    const auto m1 = times(a(0, 0, 1, 1, 1), b(0, 0, 1, 1, 1));
    const auto m2 = times(a(1, 0, 1, 1, 1), b(0, 0));
    const auto m3 = times(a(0, 0), b(0, 1, -1, 1, 1));
    const auto m4 = times(a(1, 1), b(1, 0, -1, 0, 0));
    const auto m5 = times(a(0, 0, 1, 0, 1), b(1, 1));
    const auto m6 = times(a(1, 0, -1, 0, 0), b(0, 0, 1, 0, 1));
    const auto m7 = times(a(0, 1, -1, 1, 1), b(1, 0, 1, 1, 1));
    std::vector<double> c(static_cast<std::size_t>(in.m * in.n));
    for (Index i = 0; i < in.m / 2; ++i)
      for (Index j = 0; j < in.n / 2; ++j) {
        const auto t = static_cast<std::size_t>(i * (in.n / 2) + j);
        const auto at = [&](Index p, Index q) -> double& {
          return c[static_cast<std::size_t>((p * in.m / 2 + i) * in.n + q * in.n / 2 + j)];
        };
        at(0, 0) = m1[t] + m4[t] - m5[t] + m7[t];
        at(0, 1) = m3[t] + m5[t];
        at(1, 0) = m2[t] + m4[t];
        at(1, 1) = m1[t] - m2[t] + m3[t] + m6[t];
      }
    return c;
  }

  Fault fault_;
  bool takes_row_major_;
  mutable std::atomic<std::uint64_t> calls_ = 0;
};

}  // namespace ozbound
