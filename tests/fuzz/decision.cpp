// SPDX-License-Identifier: BSD-3-Clause
// A decision's JSON is read or refused; a decision that was read is written and reads back the same.

#include "ozbound/bounds/decision.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ozbound;
  using nlohmann::json;
  const auto parsed = json::parse(data, data + size, nullptr, false);
  if (parsed.is_discarded()) return 0;
  Decision decision;
  try {
    decision = decision_from_json(parsed);
  } catch (const std::invalid_argument&) {
    return 0;
  }
  const auto written = to_json(decision).dump();
  const auto again = decision_from_json(json::parse(written));
  fuzz::require(to_json(again).dump() == written, "another decision reads back");
  fuzz::require(again.target == decision.target && again.method == decision.method && again.plan == decision.plan,
                "another way reads back");
  fuzz::require(again.m == decision.m && again.n == decision.n && again.k == decision.k && again.complex == decision.complex,
                "other sizes read back");
  fuzz::require(again.real_m() >= again.m && again.real_k() >= again.k, "the real product that is multiplied has no size");
  fuzz::require(again.m >= 0 && again.n >= 0 && again.k >= 0, "a negative size was read");
  return 0;
}
