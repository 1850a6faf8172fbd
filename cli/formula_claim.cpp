// SPDX-License-Identifier: BSD-3-Clause
#include "formula_claim.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ozbound/verify/hex_text.hpp"
#include "verification.hpp"

namespace ozbound::cli {
namespace {

constexpr const char* rests_on =
    "  The bound rests on the formula of cuBLAS's emulation, found by probing cuBLAS 13.1.0 (docs/models.md says where it is "
    "open);\n  the error is exact.\n";

}  // namespace

nlohmann::ordered_json to_json(const FormulaVerdict& verdict) {
  auto all = to_json(Verification{{verdict.bound}});
  auto& formula = all["formula"];
  formula = {{"name", verdict.formula}, {"entries", verdict.bits.entries}, {"differing", verdict.bits.differing}};
  if (verdict.bits.differing == 0) return all;
  formula["row"] = verdict.bits.row;
  formula["col"] = verdict.bits.col;
  formula["computed"] = hex_text(verdict.bits.computed);
  formula["expected"] = hex_text(verdict.bits.expected);
  return all;
}

std::string explain(const FormulaVerdict& verdict) {
  const auto& bits = verdict.bits;
  const auto text = bits.differing == 0
                        ? fmt::format("C has the bits of {} in all {} entries compared.\n", verdict.formula, bits.entries)
                        : fmt::format("C is NOT what {} computes: {} of {} entries differ, first ({}, {}), {} instead of {}.\n",
                                      verdict.formula, bits.differing, bits.entries, bits.row, bits.col,
                                      hex_text(bits.computed), hex_text(bits.expected));
  return text + explain(verdict.bound) + rests_on;
}

}  // namespace ozbound::cli
