// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace ozbound::files {

/// True if a path is `-`: standard input for a reader, standard output for a writer.
inline bool is_standard_stream(const std::filesystem::path& path) { return path == "-"; }

/// Claims standard input, which can be read only once. False if it is already claimed.
bool claim_standard_input();

/// Claims standard output for one file or one report, so that nothing else is printed there. False if it is already claimed.
bool claim_standard_output();
bool standard_output_is_claimed();

}  // namespace ozbound::files
