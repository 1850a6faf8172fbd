// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace ozbound::cli {

/// What every target says of C.
std::string target_help();

/// What the exit codes mean.
std::string exit_code_help();

}  // namespace ozbound::cli
