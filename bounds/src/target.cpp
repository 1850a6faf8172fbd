// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/bounds/target.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "allowance.hpp"
#include "ozbound/core/detail/outward.hpp"
#include "ozbound/core/detail/wide_integer.hpp"
#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

struct Spelling {
  Target::Kind kind;
  std::string_view name;
  bool has_tau;
};

constexpr std::array<Spelling, 7> spellings{{
    {Target::Kind::correctly_rounded, "cr", false},
    {Target::Kind::dgemm, "dgemm", false},
    {Target::Kind::dgemm_typical, "dgemm-typical", false},
    {Target::Kind::componentwise, "componentwise", true},
    {Target::Kind::rowcol, "rowcol", true},
    {Target::Kind::normwise, "normwise", true},
    {Target::Kind::relative, "relative", true},
}};

/// @throws std::invalid_argument for an invalid kind.
const Spelling& spelling_of(Target::Kind kind) {
  const auto* const found = std::find_if(spellings.begin(), spellings.end(), [=](const auto& s) { return s.kind == kind; });
  if (found == spellings.end()) throw std::invalid_argument("target kind is out of range");
  return *found;
}

/// The largest double that is at most sqrt(x). @pre x >= 1.
double square_root_lower(std::uint64_t x) {
  const int shift = (106 - static_cast<int>(std::bit_width(x))) / 2;
  const auto scaled = uint128{x} << (2 * shift);  // in [2^104, 2^106): its root has 53 bits
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(scaled)));
  while (uint128{root} * root > scaled) --root;
  while (uint128{root + 1} * (root + 1) <= scaled) ++root;
  return std::ldexp(static_cast<double>(root), -shift);
}

Target checked(Target::Kind kind, double tau) {
  const FloatEnvironment environment;  // so that a subnormal tau counts as positive
  if (!(tau > 0) || !std::isfinite(tau)) throw std::invalid_argument("tau must be positive and finite");
  return {kind, tau};
}

double parse_number(std::string_view text) {
  const FloatEnvironment environment;  // from_chars uses the caller's rounding mode
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto digits = hex ? text.substr(2) : text;
  double value = 0;
  const auto format = hex ? std::chars_format::hex : std::chars_format::general;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, format);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
    throw std::invalid_argument("tau is not a number: '" + std::string(text) + "'");
  return value;
}

}  // namespace

bool Target::operator==(const Target& other) const {
  const FloatEnvironment environment;
  return kind == other.kind && tau == other.tau;
}

Target Target::componentwise(double tau) { return checked(Kind::componentwise, tau); }
Target Target::rowcol(double tau) { return checked(Kind::rowcol, tau); }
Target Target::normwise(double tau) { return checked(Kind::normwise, tau); }
Target Target::relative(double tau) { return checked(Kind::relative, tau); }

bool Target::has_tau() const { return spelling_of(kind).has_tau; }

bool has_scalars(double alpha, double beta) { return (alpha != 1 && alpha != -1) || !is_zero(beta); }

double target_tau(const Target& target, Index k, const Format& format, bool with_scalars) {
  const FloatEnvironment environment;
  const auto terms = static_cast<std::uint64_t>(std::max<Index>(k, 1));
  const auto roundings = with_scalars ? static_cast<std::uint64_t>(k) + 3 : terms;
  const double u = unit_roundoff(format);  // a power of two
  const double all = to_double_lower(roundings) * u;
  switch (target.kind) {
    case Target::Kind::correctly_rounded: return 0;
    case Target::Kind::dgemm: return !with_scalars ? all : all > 0.5 ? 2 * all : divide_lower(all, 1 - all);
    case Target::Kind::dgemm_typical: return square_root_lower(roundings) * u;
    default: return target.tau;
  }
}

Target parse_target(std::string_view text) {
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  for (const auto& s : spellings) {
    if (name != s.name || s.has_tau != (colon != std::string_view::npos)) continue;
    return s.has_tau ? checked(s.kind, parse_number(text.substr(colon + 1))) : Target{s.kind, 0};
  }
  throw std::invalid_argument("target must be " + target_spellings() + ": '" + std::string(text) + "'");
}

std::string to_string(const Target& target) {
  const FloatEnvironment environment;
  const auto& s = spelling_of(target.kind);
  if (!s.has_tau) return std::string(s.name);
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), target.tau).ptr;
  return std::string(s.name) + ":" + std::string(buffer.data(), end);
}

std::string target_spellings() {
  std::string text;
  for (const auto& s : spellings) {
    if (!text.empty()) text += &s == &spellings.back() ? " or " : ", ";
    text += std::string(s.name) + (s.has_tau ? ":TAU" : "");
  }
  return text;
}

}  // namespace ozbound
