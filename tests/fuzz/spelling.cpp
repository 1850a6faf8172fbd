// SPDX-License-Identifier: BSD-3-Clause
// Plans, targets and encodings: a text that is accepted has one canonical spelling with the same meaning; any other is refused.

#include <stdexcept>
#include <string>
#include <string_view>

#include "fuzz/fuzz.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/plan.hpp"

namespace ozbound::fuzz {
namespace {

/// Requires that std::invalid_argument is the only refusal; anything else ends the process.
template <class Parse>
void require_canonical(std::string_view text, const Parse& parse) {
  try {
    const auto value = parse(text);
    const auto canonical = to_string(value);
    const auto again = parse(canonical);
    require(again == value, "the canonical spelling means something else: " + canonical);
    require(to_string(again) == canonical, "two canonical spellings: " + canonical);
  } catch (const std::invalid_argument& refusal) {
    require(std::string_view(refusal.what()).size() > 10, "a refusal that says nothing");
  }
}

}  // namespace
}  // namespace ozbound::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound;
  const auto text = fuzz::text_of(data, size);
  fuzz::require_canonical(text, parse_plan);
  fuzz::require_canonical(text, parse_target);
  fuzz::require_canonical(text, parse_encoding);
  return 0;
}
