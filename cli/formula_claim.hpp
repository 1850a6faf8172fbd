// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "literature.hpp"
#include "ozbound/verify/verdict.hpp"

namespace ozbound::cli {

/// The comparison of C with a formula's bits, and with the bound that the formula implies.
struct FormulaVerdict {
  std::string formula;  ///< as the user claimed it
  Verdict bound;
  FormulaBits bits;
};

/// The output of `ozbound verify --claims --json`: schema ozbound-verification-1 with `formula` (docs/records.md).
nlohmann::ordered_json to_json(const FormulaVerdict& verdict);

/// The verdict in words.
std::string explain(const FormulaVerdict& verdict);

}  // namespace ozbound::cli
