// SPDX-License-Identifier: BSD-3-Clause
#include "recorded_norms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base64.hpp"
#include "json_members.hpp"
#include "json_numbers.hpp"

namespace ozbound {
namespace {

constexpr std::size_t alternatives = 3;

template <class Number>
using BitsOf = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;

/// Appends numbers, least significant byte first.
template <class Numbers>
void append(std::string& bytes, const Numbers& numbers) {
  for (const auto number : numbers) {
    const auto bits = std::bit_cast<BitsOf<decltype(number)>>(number);
    for (std::size_t b = 0; b < sizeof(bits); ++b) bytes.push_back(static_cast<char>(bits >> 8 * b & 255));
  }
}

template <class Numbers>
std::string text_of(const Numbers& numbers) {
  std::string bytes;
  append(bytes, numbers);
  return to_base64(bytes);
}

/// The rows, or the columns, of all terms. A term with fewer than three alternatives repeats its last one, which does not
/// change the minimum.
std::string text_of(const EntryBound& product, Norms OuterProduct::* side) {
  std::string bytes;
  for (const auto& term : product.terms) {
    if (term.alternatives.empty() || term.alternatives.size() > alternatives)
      throw std::logic_error("a term of a certificate has one to three alternatives");
    for (std::size_t t = 0; t < alternatives; ++t)
      append(bytes, term.alternatives[std::min(t, term.alternatives.size() - 1)].*side);
  }
  return to_base64(bytes);
}

template <class Number>
std::vector<Number> numbers_of(const nlohmann::json& norms, const char* name) {
  using Bits = BitsOf<Number>;
  const auto bytes = from_base64(string_member(norms, "bound.norms", name));
  if (!bytes || bytes->size() % sizeof(Bits) != 0) refuse_member("bound.norms", name, "is not the base64 of numbers");
  std::vector<Number> numbers(bytes->size() / sizeof(Bits));
  for (std::size_t t = 0; t < bytes->size(); ++t)
    numbers[t / sizeof(Bits)] =
        std::bit_cast<Number>(std::bit_cast<Bits>(numbers[t / sizeof(Bits)]) |
                              static_cast<Bits>(static_cast<unsigned char>((*bytes)[t])) << 8 * (t % sizeof(Bits)));
  return numbers;
}

/// The vectors of all terms, `length` numbers each.
Norms vectors_of(const nlohmann::json& norms, const char* name, std::size_t terms, std::size_t length) {
  auto numbers = numbers_of<double>(norms, name);
  if (numbers.size() != alternatives * terms * length)
    refuse_member("bound.norms", name, "does not have three vectors for each term");
  for (const double x : numbers)
    if (!(x >= 0) || !std::isfinite(x)) refuse_member("bound.norms", name, "holds what is no norm");
  return numbers;
}

}  // namespace

nlohmann::json norms_json(const ErrorBound& bound) {
  return {{"uniform", json_number(bound.product.uniform)},
          {"row_exponents", text_of(bound.row_exponents)},
          {"column_exponents", text_of(bound.column_exponents)},
          {"rows", text_of(bound.product, &OuterProduct::rows)},
          {"columns", text_of(bound.product, &OuterProduct::columns)}};
}

void read_norms(ErrorBound& bound, const nlohmann::json& norms, const std::vector<std::string>& terms) {
  bound.row_exponents = numbers_of<std::int32_t>(norms, "row_exponents");
  bound.column_exponents = numbers_of<std::int32_t>(norms, "column_exponents");
  bound.product.uniform = bound_member(norms, "bound.norms", "uniform");
  const auto m = static_cast<Index>(bound.row_exponents.size()), n = static_cast<Index>(bound.column_exponents.size());
  const auto rows = vectors_of(norms, "rows", terms.size(), bound.row_exponents.size());
  const auto columns = vectors_of(norms, "columns", terms.size(), bound.column_exponents.size());
  for (std::size_t t = 0; t < terms.size(); ++t) {
    BoundTerm term{terms[t], {}};
    for (std::size_t s = 0; s < alternatives; ++s) {
      const auto vector = static_cast<Index>(alternatives * t + s);
      term.alternatives.push_back({rows.part(vector * m, m), columns.part(vector * n, n)});
    }
    bound.product.terms.push_back(std::move(term));
  }
}

}  // namespace ozbound
