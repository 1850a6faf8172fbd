// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ozbound/verify/literature/models/cublas_emulation.hpp"
#include "ozbound/verify/oracle.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound::cli {

/// The claim that a library computed C by a formula that is known: `cublas:55`.
/// @throws std::invalid_argument for anything but `cublas:M`, M from 8 to 64.
models::CublasEmulation parse_formula(const std::string& text);

/// C against a formula's bits, and against the bound that the formula implies.
struct FormulaVerdict {
  std::string formula;  ///< as it was claimed
  Verdict bound;
  models::CublasComparison bits;
};

/// What `ozbound verify --claims --json` prints: schema ozbound-verification-1 with `formula` (docs/records.md).
nlohmann::ordered_json to_json(const FormulaVerdict& verdict);

/// The same for people.
std::string explain(const FormulaVerdict& verdict);

}  // namespace ozbound::cli
