// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace ozbound::cli {

/// The meaning of every target.
std::string target_help();

/// The meaning of the exit codes.
std::string exit_code_help();

}  // namespace ozbound::cli
