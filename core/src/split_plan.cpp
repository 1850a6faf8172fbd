// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/split_plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "ozbound/core/matrix_unit.hpp"
#include "split_plan_spelling.hpp"

namespace ozbound {
namespace {

constexpr std::array<std::pair<Accumulation, std::string_view>, 3> accumulations{{
    {Accumulation::exact, "exact"},
    {Accumulation::per_product, "per_product"},
    {Accumulation::per_diagonal, "per_diagonal"},
}};

[[noreturn]] void refuse(const std::string& what, std::string_view got) {
  throw std::invalid_argument("plan: " + what + ": '" + std::string(got) + "'");
}

int parse_int(std::string_view text, const std::string& part) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool padded = text.size() > 1 && text.front() == '0';
  if (error != std::errc{} || end != text.data() + text.size() || padded) refuse(part + " must be an integer", text);
  if (value < 0 || value > 1000) refuse(part + " is out of range", text);
  return value;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Accumulation parse_accumulation(std::string_view text) {
  for (const auto& [accumulation, name] : accumulations)
    if (text == name) return accumulation;
  refuse("accumulation must be exact, per_product or per_diagonal", text);
}

}  // namespace

SplitPlan SplitPlan::balanced(int slices_a, int slices_b, int cut) {
  return {{Encoding::balanced(), slices_a}, {Encoding::balanced(), slices_b}, cut, Accumulation::exact};
}

int SplitPlan::last_b(int p) const { return std::clamp(cut - p, 0, b.slices); }

int SplitPlan::products() const {
  int count = 0;
  for (int p = 1; p <= a.slices; ++p) count += std::clamp(cut - p, 0, b.slices);  // last_b inlined: called for many plans
  return count;
}

Index SplitPlan::error_free_pairs(Index k) const {
  return k == 0 ? max_slices : std::clamp<Index>(int32_terms() / k, 1, max_slices);
}

std::vector<ProductGroup> SplitPlan::groups(Index k) const {
  std::vector<ProductGroup> result;
  if (accumulation == Accumulation::per_product) {
    for (int p = 1; p <= a.slices; ++p)
      for (int q = 1; q <= last_b(p); ++q) result.push_back({p + q, p, p});
    return result;
  }
  const int together = accumulation == Accumulation::exact ? max_slices : static_cast<int>(error_free_pairs(k));
  for (int g = 2; g <= cut; ++g) {
    const int last = std::min(a.slices, g - 1);
    for (int p = std::max(1, g - b.slices); p <= last; p += together)
      result.push_back({g, p, std::min(p + together - 1, last)});
  }
  return result;
}

Index SplitPlan::int32_terms() const {
  return int8_int32.exact_terms(a.encoding.digit_magnitude(), b.encoding.digit_magnitude());
}

void SplitPlan::validate() const {
  for (const auto& encoding : {a.encoding, b.encoding})
    if (const auto name = to_string(encoding); parse_encoding(name) != encoding)
      refuse("beta of " + name + " must be 8", std::to_string(encoding.beta));
  if (a.encoding.radix_bits() != b.encoding.radix_bits())
    refuse("both encodings must have one radix", to_string(a.encoding) + "," + to_string(b.encoding));
  if (!common_ratio() && accumulation != Accumulation::per_product)
    refuse("accumulation must be per_product for digits whose scale is found anew, which share no diagonals",
           to_string(accumulation));
  for (const int slices : {a.slices, b.slices})
    if (slices < 1 || slices > max_slices)
      refuse("slice counts must be 1 … " + std::to_string(max_slices), std::to_string(slices));
  if (cut < 2 || cut > a.slices + b.slices)
    refuse("cut must be 2 … s_A + s_B = " + std::to_string(a.slices + b.slices), std::to_string(cut));
}

std::string to_string(Accumulation accumulation) {
  for (const auto& [value, name] : accumulations)
    if (value == accumulation) return std::string(name);
  throw std::invalid_argument("accumulation is out of range");
}

std::string spelling_of(const SplitPlan& plan) {
  auto text = to_string(plan.a.encoding);
  if (plan.a.encoding != plan.b.encoding) text += "," + to_string(plan.b.encoding);
  text += ":" + std::to_string(plan.a.slices) + "x" + std::to_string(plan.b.slices);
  text += plan.cut == plan.a.slices + plan.b.slices ? ":full:" : ":cut=" + std::to_string(plan.cut) + ":";
  return text + to_string(plan.accumulation);
}

SplitPlan spelled_split_plan(std::string_view text) {
  const auto parts = split_at(text, ':');
  if (parts.size() != 4) refuse("must read ENCODING[,ENCODING_B]:SAxSB:cut=G|full:ACCUMULATION", text);
  const auto encodings = split_at(parts[0], ',');
  const auto counts = split_at(parts[1], 'x');
  if (encodings.size() > 2) refuse("at most two encodings", parts[0]);
  if (counts.size() != 2) refuse("slice counts must read SAxSB", parts[1]);
  SplitPlan plan;
  plan.a = {parse_encoding(encodings.front()), parse_int(counts[0], "s_A")};
  plan.b = {parse_encoding(encodings.back()), parse_int(counts[1], "s_B")};
  if (parts[2] != "full" && !parts[2].starts_with("cut=")) refuse("cut must read cut=G or full", parts[2]);
  plan.cut = parts[2] == "full" ? plan.a.slices + plan.b.slices : parse_int(parts[2].substr(4), "cut");
  plan.accumulation = parse_accumulation(parts[3]);
  plan.validate();
  return plan;
}

}  // namespace ozbound
