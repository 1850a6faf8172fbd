// SPDX-License-Identifier: BSD-3-Clause
// A report or certificate read as by `verify --report`: its claims are read and can be judged, or it is refused.

#include "ozbound/files/claims.hpp"

#include "fuzz/fuzz.hpp"
#include "ozbound/files/input_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  try {
    const auto claims = files::read_claims(file.path());
    fuzz::require(claims.m >= 0 && claims.n >= 0 && claims.k >= 0, "a negative size was read");
    fuzz::require(claims.targets.size() <= 1 && claims.largest_bounds.size() == 1, "a claim is missing");
    fuzz::require(claims.largest_bounds[0] >= 0, "what is no bound was read as one");
    for (const auto& target : claims.targets) fuzz::require(parse_target(to_string(target)) == target, "not a target");
    fuzz::require(claims.source == file.path(), "the claims do not name their file");
  } catch (const files::InputError& refusal) {
    fuzz::require_refusal(refusal.what(), file.path());
  }
  return 0;
}
