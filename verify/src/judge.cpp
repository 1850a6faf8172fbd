// SPDX-License-Identifier: BSD-3-Clause
#include "judge.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace ozbound::judging {

void check_shape(const ResultView& c, const Oracle& oracle) {
  if (c.rows() != oracle.rows() || c.cols() != oracle.cols()) throw std::invalid_argument("c must be m x n");
}

bool special_mismatch(const OracleEntry& entry, double computed) {
  using Kind = OracleEntry::Kind;
  if (entry.kind == Kind::finite) return std::isnan(computed);
  if (entry.kind == Kind::nan) return !std::isnan(computed);
  return computed != entry.rounded;
}

bool correctly_rounded(const OracleEntry& entry, double computed) {
  if (std::isnan(entry.rounded)) return std::isnan(computed);
  return std::bit_cast<std::uint64_t>(entry.rounded) == std::bit_cast<std::uint64_t>(computed);
}

}  // namespace ozbound::judging
