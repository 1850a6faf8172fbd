// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

namespace ozbound::cli {

/// Whether a path is `-`: standard input of who reads, standard output of who writes.
inline bool is_standard_stream(const std::filesystem::path& path) { return path == "-"; }

/// Takes standard input, which can be read once. False where somebody else took it.
bool claim_standard_input();

/// Takes standard output for one file or one report, so that nothing else is printed there. False where somebody else took it.
bool claim_standard_output();
bool standard_output_is_claimed();

}  // namespace ozbound::cli
