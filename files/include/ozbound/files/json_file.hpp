// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "ozbound/files/input_file.hpp"

namespace ozbound::files {

/// Reads the JSON value that makes up the whole `file`.
/// @throws InputError naming the line if the file is not JSON, for a number beyond a double, for a repeated member, or if the
/// file is larger than 1 GiB.
nlohmann::json read_json(const InputFile& file);

/// True if this is a report of `gemm`, judged only by its schema.
bool is_report(const nlohmann::json& json);

/// The decision or the certificate of a report; other JSON is returned as it is.
/// @throws InputError if the report has no such member.
const nlohmann::json& member_of_report(const InputFile& file, const nlohmann::json& json, const char* name);

}  // namespace ozbound::files
