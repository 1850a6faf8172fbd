// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/verify/grade/grade_library.hpp"

namespace ozbound::cli {

/// A grade for people in lines of a width: the library and where it was graded, its faults with what explains them, every
/// part's findings with their notes, and how many of each outcome. Programs that show the faults are left to the page and the
/// JSON.
std::string grade_text(const Grade& grade, const GradeOrigin& origin, std::size_t width);

}  // namespace ozbound::cli
