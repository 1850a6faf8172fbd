// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "ozbound/files/input_file.hpp"

namespace ozbound::cli {

/// The JSON value that is all of `file`.
/// @throws InputError naming the line where it is none, for a number beyond a double, for a member that is there twice, or if
/// the file is larger than 1 GiB.
nlohmann::json read_json(const InputFile& file);

/// Whether this is a report of `gemm`: by its schema, and by nothing else that is in it.
bool is_report(const nlohmann::json& json);

/// The decision or the certificate of a report, or what is no report as it is.
/// @throws InputError if the report has no such member.
const nlohmann::json& member_of_report(const InputFile& file, const nlohmann::json& json, const char* name);

}  // namespace ozbound::cli
