// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/verify/grade/grade_library.hpp"

namespace ozbound::cli {

/// A grade for people: the library, its faults with what explains them, every part's findings, and how many of each outcome.
std::string grade_text(const Grade& grade);

}  // namespace ozbound::cli
