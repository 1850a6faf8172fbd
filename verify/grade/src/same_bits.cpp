// SPDX-License-Identifier: BSD-3-Clause
#include "same_bits.hpp"
#include "ozbound/verify/hex_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

namespace ozbound::grading {

std::optional<std::string> first_difference(const Matrix<double>& expected, const Matrix<double>& x) {
  Index count = 0;
  Index first = -1;
  for (Index t = 0; t < x.rows() * x.cols(); ++t) {
    if (std::bit_cast<std::uint64_t>(expected.data()[t]) == std::bit_cast<std::uint64_t>(x.data()[t])) continue;
    if (count++ == 0) first = t;
  }
  if (count == 0) return std::nullopt;
  return fmt::format("{} of {} entries differ, first ({}, {}): {}, but {}", count, x.rows() * x.cols(), first / x.cols(),
                     first % x.cols(), hex_text(x.data()[first]), hex_text(expected.data()[first]));
}

}  // namespace ozbound::grading
