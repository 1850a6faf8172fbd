// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ozbound/verify/reference_product.hpp"

namespace ozbound::reference {
namespace {

constexpr int most_slices = 20;
constexpr int most_bits = 120;

[[noreturn]] void refuse(std::string_view text) { throw std::invalid_argument("not a plan: '" + std::string(text) + "'"); }

/// Removes the text before `separator`, and the separator, from the front of `rest`, and returns the text.
std::string_view take(std::string_view& rest, char separator, std::string_view whole) {
  const auto end = rest.find(separator);
  if (end == std::string_view::npos) refuse(whole);
  const auto part = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return part;
}

int number(std::string_view digits, int least, int most, std::string_view whole) {
  int value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool canonical = error == std::errc{} && end == digits.data() + digits.size() && digits == std::to_string(value);
  if (!canonical || value < least || value > most) refuse(whole);
  return value;
}

Slicing encoding(std::string_view name, std::string_view whole) {
  if (name == "balanced") return {Digits::balanced, 8, 1};
  if (name == "unsigned8") return {Digits::unsigned8, 8, 1};
  for (const auto& [prefix, digits] : {std::pair<std::string_view, Digits>{"truncated", Digits::truncated},
                                       {"ozimmu", Digits::ozimmu},
                                       {"nearest_adaptive", Digits::nearest_adaptive},
                                       {"nearest", Digits::nearest}})
    if (name.starts_with(prefix)) return {digits, number(name.substr(prefix.size()), 1, 7, whole), 1};
  refuse(whole);
}

Accumulation accumulation(std::string_view name, std::string_view whole) {
  if (name == "exact") return Accumulation::exact;
  if (name == "per_product") return Accumulation::per_product;
  if (name == "per_diagonal") return Accumulation::per_diagonal;
  refuse(whole);
}

std::string encoding_text(const Slicing& slicing) {
  switch (slicing.digits) {
    case Digits::truncated: return "truncated" + std::to_string(slicing.radix_bits);
    case Digits::ozimmu: return "ozimmu" + std::to_string(slicing.radix_bits);
    case Digits::nearest: return "nearest" + std::to_string(slicing.radix_bits);
    case Digits::nearest_adaptive: return "nearest_adaptive" + std::to_string(slicing.radix_bits);
    case Digits::balanced: return "balanced";
    case Digits::unsigned8: return "unsigned8";
  }
  throw std::invalid_argument("digits are of no known kind");
}

ResiduePlan parse_residues(std::string_view text) {
  auto rest = text;
  take(rest, ':', text);
  ResiduePlan plan;
  plan.moduli = number(take(rest, ':', text), 2, most_moduli, text);
  plan.bits_a = number(take(rest, 'x', text), 1, most_bits, text);
  plan.bits_b = number(rest, 1, most_bits, text);
  return plan;
}

std::string text_of(const ResiduePlan& plan) {
  return "residues:" + std::to_string(plan.moduli) + ":" + std::to_string(plan.bits_a) + "x" + std::to_string(plan.bits_b);
}

SlicePlan parse_slices(std::string_view text) {
  auto rest = text;
  const auto encodings = take(rest, ':', text);
  const auto comma = encodings.find(',');
  SlicePlan plan{encoding(encodings.substr(0, comma), text), {}, 2, Accumulation::exact};
  plan.b = comma == std::string_view::npos ? plan.a : encoding(encodings.substr(comma + 1), text);
  if (plan.a.radix_bits != plan.b.radix_bits) refuse(text);
  plan.a.slices = number(take(rest, 'x', text), 1, most_slices, text);
  plan.b.slices = number(take(rest, ':', text), 1, most_slices, text);
  const auto cut = take(rest, ':', text);
  const int all = plan.a.slices + plan.b.slices;
  if (cut != "full" && !cut.starts_with("cut=")) refuse(text);
  plan.cut = cut == "full" ? all : number(cut.substr(4), 2, all, text);
  plan.accumulation = accumulation(rest, text);
  if (!plan.common_ratio() && plan.accumulation != Accumulation::per_product) refuse(text);
  return plan;
}

std::string text_of(const SlicePlan& plan) {
  auto text = encoding_text(plan.a);
  if (encoding_text(plan.b) != text) text += "," + encoding_text(plan.b);
  text += ":" + std::to_string(plan.a.slices) + "x" + std::to_string(plan.b.slices);
  text += plan.cut == plan.a.slices + plan.b.slices ? ":full" : ":cut=" + std::to_string(plan.cut);
  switch (plan.accumulation) {
    case Accumulation::exact: return text + ":exact";
    case Accumulation::per_product: return text + ":per_product";
    case Accumulation::per_diagonal: return text + ":per_diagonal";
  }
  throw std::invalid_argument("accumulation is out of range");
}

}  // namespace

Plan parse_plan(std::string_view text) {
  if (text.starts_with("residues:")) return parse_residues(text);
  return parse_slices(text);
}

std::string to_string(const Plan& plan) {
  return std::visit([](const auto& kind) { return text_of(kind); }, plan);
}

int Slicing::largest_digit() const {
  const bool all_bits = digits == Digits::truncated || digits == Digits::ozimmu || digits == Digits::unsigned8;
  return all_bits ? (1 << radix_bits) - 1 : (1 << radix_bits) / 2;
}

std::vector<Pairs> SlicePlan::groups(Index k) const {
  std::vector<Pairs> result;
  if (accumulation == Accumulation::per_product) {
    for (int p = 1; p <= a.slices; ++p)
      for (int q = 1; q <= b.slices && p + q <= cut; ++q) result.push_back({{p, q}});
    return result;
  }
  for (int diagonal = 2; diagonal <= cut; ++diagonal) {
    Pairs pairs;
    const auto fits = [&](std::size_t count) {
      const auto largest = std::int64_t{a.largest_digit()} * b.largest_digit() * static_cast<std::int64_t>(count);
      return accumulation == Accumulation::exact || k <= std::numeric_limits<std::int32_t>::max() / largest;
    };
    for (int p = 1; p <= a.slices; ++p) {
      if (diagonal - p < 1 || diagonal - p > b.slices) continue;
      if (!pairs.empty() && !fits(pairs.size() + 1)) result.push_back(std::exchange(pairs, {}));
      pairs.emplace_back(p, diagonal - p);
    }
    result.push_back(pairs);
  }
  return result;
}

}  // namespace ozbound::reference
