// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "literature.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound::cli {

/// C against a formula's bits, and against the bound that the formula implies.
struct FormulaVerdict {
  std::string formula;  ///< as it was claimed
  Verdict bound;
  FormulaBits bits;
};

/// What `ozbound verify --claims --json` prints: schema ozbound-verification-1 with `formula` (docs/records.md).
nlohmann::ordered_json to_json(const FormulaVerdict& verdict);

/// The same for people.
std::string explain(const FormulaVerdict& verdict);

}  // namespace ozbound::cli
