#include "ozbound/bounds/target.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

struct Spelling {
  Target::Kind kind;
  std::string_view name;
  bool has_tau;
};

constexpr std::array<Spelling, 6> spellings{{
    {Target::Kind::correctly_rounded, "cr", false},
    {Target::Kind::dgemm, "dgemm", false},
    {Target::Kind::componentwise, "componentwise", true},
    {Target::Kind::rowcol, "rowcol", true},
    {Target::Kind::normwise, "normwise", true},
    {Target::Kind::relative, "relative", true},
}};

Target checked(Target::Kind kind, double tau) {
  const FloatEnvironment environment;  // a subnormal tau is positive
  if (!(tau > 0) || !std::isfinite(tau)) throw std::invalid_argument("tau must be positive and finite");
  return {kind, tau};
}

double parse_number(std::string_view text) {
  const FloatEnvironment environment;  // from_chars rounds as the caller does
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

Target parse_target(std::string_view text) {
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  for (const auto& s : spellings) {
    if (name != s.name || s.has_tau != (colon != std::string_view::npos)) continue;
    return s.has_tau ? checked(s.kind, parse_number(text.substr(colon + 1))) : Target{s.kind, 0};
  }
  throw std::invalid_argument("target must be cr, dgemm, componentwise:TAU, rowcol:TAU, normwise:TAU or relative:TAU: '" +
                              std::string(text) + "'");
}

std::string to_string(const Target& target) {
  const FloatEnvironment environment;
  for (const auto& s : spellings) {
    if (target.kind != s.kind) continue;
    if (!s.has_tau) return std::string(s.name);
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), target.tau).ptr;
    return std::string(s.name) + ":" + std::string(buffer.data(), end);
  }
  throw std::invalid_argument("target kind is out of range");
}

}  // namespace ozbound
