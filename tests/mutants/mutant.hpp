// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>

// Included before all other code in every file of the mutated build, for any language standard. Chooses the one mutant that is
// active.

namespace ozbound_mutants {

constexpr std::uint64_t number_of(const char* name) {  // FNV-1a; the registry's check detects collisions
  std::uint64_t number = 0xcbf29ce484222325;
  for (; *name != 0; ++name) number = (number ^ static_cast<unsigned char>(*name)) * 0x100000001b3;
  return number;
}

inline const std::uint64_t alive = [] {
  const char* name = std::getenv("OZBOUND_MUTANT");
  return name == nullptr ? 0 : number_of(name);
}();

template <std::uint64_t Number>
constexpr bool is_alive() {
  return !__builtin_is_constant_evaluated() && alive == Number;
}

}  // namespace ozbound_mutants

/// False in constant expressions, so values that a compiler checks stay unchanged.
#define OZB_MUTANT(name) (::ozbound_mutants::is_alive<::ozbound_mutants::number_of(name)>())
