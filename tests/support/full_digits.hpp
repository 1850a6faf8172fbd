// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/encoding.hpp"
#include "ozbound/core/split_plan.hpp"

namespace ozbound::test {

/// A number with digits as large as the encoding allows and signs such that nothing cancels on a diagonal of two of them.
/// Digits are all ones for truncated and (except the first digit) ozimmu, 2^(beta-1) with alternating signs for nearest, -128
/// after the first digit for balanced, and 255 there for unsigned8.
struct FullDigits {
  Encoding encoding;
  int slices;
  double value;
  std::vector<int> digits;
};

inline FullDigits full_digits(const Encoding& encoding) {
  const int beta = encoding.beta;
  FullDigits full{encoding, std::min(max_slices, 52 / beta - 1), 0, {}};
  if (encoding.beta == 8) full.slices = 6;
  for (int p = 1; p <= full.slices; ++p) switch (encoding.kind) {
      case Encoding::Kind::truncated: full.digits.push_back((1 << beta) - 1); break;
      case Encoding::Kind::ozimmu: full.digits.push_back((1 << (p == 1 ? beta - 1 : beta)) - 1); break;
      case Encoding::Kind::nearest:
      case Encoding::Kind::nearest_adaptive: full.digits.push_back(p % 2 == 1 ? 1 << (beta - 1) : -(1 << (beta - 1))); break;
      case Encoding::Kind::balanced: full.digits.push_back(p == 1 ? -126 : -128); break;
      case Encoding::Kind::unsigned8: full.digits.push_back(p == 1 ? 127 : 255); break;
    }
  const int lead = encoding.kind == Encoding::Kind::truncated ? 0 : 1;
  for (int p = full.slices; p >= 1; --p)
    full.value += std::ldexp(full.digits[static_cast<std::size_t>(p - 1)], lead - beta * p);
  // A last digit of nearest that nothing follows would make a tie of the digit before.
  if (encoding.kind == Encoding::Kind::nearest || encoding.kind == Encoding::Kind::nearest_adaptive)
    full.value += std::ldexp(full.slices % 2 == 0 ? 1.0 : -1.0, -beta * full.slices - 1);
  return full;
}

/// The diagonal with the most products equal to D^2.
struct FullestDiagonal {
  int diagonal;
  int pairs;
};

inline FullestDiagonal fullest_diagonal(const Encoding& encoding) {
  const int slices = full_digits(encoding).slices;
  const bool small_first = encoding.beta == 8 || encoding.kind == Encoding::Kind::ozimmu;
  if (small_first) return {slices + 2, slices - 1};
  return {slices + 1, slices};
}

/// Slices two long vectors of full digits and their negatives, and compares every sum of the plan with its exact value, for
/// every inner block up to the longest that the plan allows.
inline testing::AssertionResult full_sums_are_exact(const SplitPlan& plan, Index k, const Kernel* kernel = nullptr) {
  const auto x = full_digits(plan.a.encoding);
  const auto y = full_digits(plan.b.encoding);
  Matrix<double> a(2, k), b(k, 1);
  std::fill_n(&a(0, 0), k, x.value);
  std::fill_n(&a(1, 0), k, -x.value);
  std::fill_n(b.data(), k, y.value);
  const auto groups = plan.groups(k);
  for (const Index inner_block : {Index{0}, Index{1} << 40}) {
    const CpuEngine engine({.threads = 1, .inner_block = inner_block, .kernel = kernel});
    const auto sliced_a = engine.slice(a, Side::rows_of_a, plan.a);
    const auto sliced_b = engine.slice(b, Side::columns_of_b, plan.b);
    for (Index l : {Index{0}, k - 1})
      for (std::size_t p = 1; p <= x.digits.size(); ++p)
        if (sliced_a.digit(0, static_cast<int>(p), l) != x.digits[p - 1])
          return testing::AssertionFailure() << "digit " << p << " is not full";
    const auto sums = engine.group_sums(sliced_a, sliced_b, plan);
    for (std::size_t t = 0; t < groups.size(); ++t)
      for (Index i = 0; i < 2; ++i) {
        std::int64_t expected = 0;
        for (int p = groups[t].first_a; p <= groups[t].last_a; ++p)
          expected += k * sliced_a.digit(i, p, 0) * y.digits[static_cast<std::size_t>(groups[t].diagonal - p - 1)];
        if (sums[t](i, 0) != expected)
          return testing::AssertionFailure()
                 << "group " << t << ", diagonal " << groups[t].diagonal << " is " << sums[t](i, 0) << ", not " << expected
                 << ": k " << k << ", " << to_string(plan) << ", inner_block " << inner_block;
      }
  }
  return testing::AssertionSuccess();
}

}  // namespace ozbound::test
