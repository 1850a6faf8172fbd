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
Encoding Encoding::nearest(int beta) { return checked(Kind::nearest, beta); }

std::string to_string(const Encoding& encoding) {
  switch (encoding.kind) {
    case Encoding::Kind::truncated: return "truncated" + std::to_string(encoding.beta);
    case Encoding::Kind::nearest: return "nearest" + std::to_string(encoding.beta);
    case Encoding::Kind::balanced: return "balanced";
  }
  throw std::invalid_argument("encoding kind is out of range");
}

Encoding parse_encoding(std::string_view text) {
  if (text == "balanced") return Encoding::balanced();
  for (int beta = 1; beta <= 7; ++beta)
    for (const auto& encoding : {Encoding::truncated(beta), Encoding::nearest(beta)})
      if (text == to_string(encoding)) return encoding;
  throw std::invalid_argument("encoding must be balanced, truncatedN or nearestN with N = 1 … 7: '" + std::string(text) + "'");
}

}  // namespace ozbound
