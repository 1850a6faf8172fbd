// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/verify/random_stream.hpp"

#include <algorithm>
#include <cmath>
#include "plain_environment.hpp"

namespace ozbound {
namespace {

constexpr double ln2 = 0x1.62e42fefa39efp-1;

}  // namespace

std::uint64_t RandomStream::below(std::uint64_t bound) {
  const auto excess = (std::uint64_t{0} - bound) % bound;  // 2^64 mod bound: so many outputs are rejected, which would favour
                                                           // small values
  auto drawn = bits();
  while (drawn < excess) drawn = bits();
  return drawn % bound;
}

std::int64_t RandomStream::integer(std::int64_t low, std::int64_t high) {
  const auto count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const auto offset = count == 0 ? bits() : below(count);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double RandomStream::positive_unit() {
  const auto drawn = bits() >> 11;
  return static_cast<double>(drawn == 0 ? 1 : drawn) * 0x1p-53;
}

double RandomStream::signed_unit() {
  const auto drawn = bits();
  const double magnitude = static_cast<double>(drawn >> 11) * 0x1p-53;
  return (drawn & 1) != 0 ? -magnitude : magnitude;
}

double RandomStream::normal() {
  const checking::PlainEnvironment environment;
  for (;;) {
    const double x = signed_unit();
    const double y = signed_unit();
    const double s = x * x + y * y;
    if (s < 1 && s > 0x1p-1000) return x * std::sqrt(-2 * portable_log(s) / s);
  }
}

double portable_exp(double x) {
  const checking::PlainEnvironment environment;
  const double clamped = std::clamp(x, -700.0, 700.0);
  const double power = std::floor(clamped / ln2 + 0.5);
  const double rest = clamped - power * ln2;
  double sum = 1;
  for (int i = 20; i >= 1; --i) sum = 1 + sum * rest / i;  // Taylor, |rest| <= 0.35
  return std::ldexp(sum, static_cast<int>(power));
}

double portable_log(double x) {
  const checking::PlainEnvironment environment;
  int exponent = 0;
  const double significand = std::frexp(x, &exponent);           // in [1/2, 1)
  const double z = (significand - 0.75) / (significand + 0.75);  // log(s / 0.75) = 2 atanh(z), |z| <= 1/5
  double sum = 0;
  for (int i = 25; i >= 1; i -= 2) sum = 1.0 / i + z * z * sum;
  return exponent * ln2 + (2 * z * sum - 0x1.269621134db92p-2);  // log(0.75) = -0.2876820724517809
}

}  // namespace ozbound
