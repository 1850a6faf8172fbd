// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ozbound/files/operands.hpp"

namespace ozbound::cli {

/// Files, sizes and types of the operands, and the scalars (docs/records.md).
nlohmann::ordered_json operand_record(const files::OperandArguments& arguments, const files::OperandFiles& files);

}  // namespace ozbound::cli
