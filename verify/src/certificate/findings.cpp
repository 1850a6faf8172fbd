// SPDX-License-Identifier: BSD-3-Clause
#include "findings.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "ozbound/verify/hex_text.hpp"

namespace ozbound::checking {

bool same(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

std::string text(double x) { return fmt::format("{} ({})", hex_text(x), x); }
std::string text(bool x) { return x ? "true" : "false"; }
std::string text(Index x) { return fmt::format("{}", x); }
std::string text(int x) { return fmt::format("{}", x); }
std::string text(const std::string& x) { return "'" + x + "'"; }
std::string text(const std::optional<std::string>& x) { return x ? text(*x) : "null"; }
std::string text(const std::vector<std::string>& x) {
  std::string all;
  for (const auto& one : x) all += (all.empty() ? "" : ", ") + text(one);
  return "[" + all + "]";
}
std::string text(const Entry& x) { return fmt::format("[{}, {}{}]", x.i, x.j, x.part.empty() ? "" : ", \"" + x.part + "\""); }

bool Findings::say(const char* claim, bool holds, const std::string& finding) {
  result_.claims.push_back({claim, holds, holds ? "" : finding});
  return holds;
}

}  // namespace ozbound::checking
