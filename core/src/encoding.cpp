// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/core/encoding.hpp"

#include <stdexcept>

namespace ozbound {
namespace {

Encoding checked(Encoding::Kind kind, int beta) {
  if (beta < 1 || beta > 7) throw std::invalid_argument("beta must be 1 … 7: " + std::to_string(beta));
  return {kind, beta};
}

}  // namespace

Encoding Encoding::truncated(int beta) { return checked(Kind::truncated, beta); }
Encoding Encoding::ozimmu(int beta) { return checked(Kind::ozimmu, beta); }
Encoding Encoding::nearest(int beta) { return checked(Kind::nearest, beta); }
Encoding Encoding::nearest_adaptive(int beta) { return checked(Kind::nearest_adaptive, beta); }

std::vector<Encoding> common_ratio_encodings() {
  std::vector<Encoding> encodings{Encoding::balanced(), Encoding::unsigned8()};
  for (const auto& of_bits : {Encoding::truncated, Encoding::ozimmu, Encoding::nearest})
    for (int beta = 1; beta <= 7; ++beta) encodings.push_back(of_bits(beta));
  return encodings;
}

std::vector<Encoding> all_encodings() {
  auto encodings = common_ratio_encodings();
  for (int beta = 1; beta <= 7; ++beta) encodings.push_back(Encoding::nearest_adaptive(beta));
  return encodings;
}

std::string to_string(const Encoding& encoding) {
  switch (encoding.kind) {
    case Encoding::Kind::truncated: return "truncated" + std::to_string(encoding.beta);
    case Encoding::Kind::ozimmu: return "ozimmu" + std::to_string(encoding.beta);
    case Encoding::Kind::nearest: return "nearest" + std::to_string(encoding.beta);
    case Encoding::Kind::nearest_adaptive: return "nearest_adaptive" + std::to_string(encoding.beta);
    case Encoding::Kind::balanced: return "balanced";
    case Encoding::Kind::unsigned8: return "unsigned8";
  }
  throw std::invalid_argument("encoding kind is out of range");
}

Encoding parse_encoding(std::string_view text) {
  for (const auto& encoding : all_encodings())
    if (text == to_string(encoding)) return encoding;
  throw std::invalid_argument(
      "encoding must be balanced, unsigned8, truncatedN, ozimmuN, nearestN or nearest_adaptiveN with N = 1 … 7: '" +
      std::string(text) + "'");
}

}  // namespace ozbound
