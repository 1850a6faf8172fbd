#pragma once

#include <nlohmann/json.hpp>

#include "input_file.hpp"

namespace ozbound::cli {

/// The JSON value that is all of `file`.
/// @throws InputError naming the line where it is none, for a number beyond a double, or if the file is larger than 1 GiB.
nlohmann::json read_json(const InputFile& file);

}  // namespace ozbound::cli
