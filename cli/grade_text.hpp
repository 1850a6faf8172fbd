// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/verify/grade/grade_library.hpp"

namespace ozbound::cli {

/// A grade in words, in lines of a width: the library and the machine of the grading, its faults with their explanations, the
/// findings of every part with notes, and the number of each outcome. Programs that show the faults appear only in the page and
/// the JSON.
std::string grade_text(const Grade& grade, const GradeOrigin& origin, std::size_t width);

}  // namespace ozbound::cli
