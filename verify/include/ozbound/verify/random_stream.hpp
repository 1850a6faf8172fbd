// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>

namespace ozbound {

/// Random numbers with the same bits on every platform. The raw outputs of std::mt19937_64 (fixed by the C++ standard) become
/// numbers by integer operations, +, -, *, / and sqrt only. No libm function is used, because their last bits differ between
/// platforms. Needs rounding to nearest and no contraction.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }

  /// Uniform in [0, bound). @pre bound > 0.
  std::uint64_t below(std::uint64_t bound);

  /// Uniform among the integers of [low, high]. @pre low <= high.
  std::int64_t integer(std::int64_t low, std::int64_t high);

  /// A multiple of 2^-53 in (0, 1).
  double positive_unit();

  /// A multiple of 2^-53 in (-1, 1); all 53 bits of a significand occur.
  double signed_unit();

  /// Normal with mean 0 and variance 1 (polar method).
  double normal();

 private:
  std::mt19937_64 engine_;
};

/// e^x by arithmetic operations only, within a few units in the last place, with the same bits on every platform.
/// x is clamped to [-700, 700].
double portable_exp(double x);

/// log(x) by arithmetic operations only. @pre x is positive, finite and normal.
double portable_log(double x);

}  // namespace ozbound
