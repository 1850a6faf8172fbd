// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ozbound/verify/grade/grade.hpp"

namespace ozbound::grading {

/// Calls the library from several threads at once. The library also has the threads of its own that it has in this process.
Finding callers_at_once(const ForeignGemm& gemm, const GradeOptions& options, std::string test);

}  // namespace ozbound::grading
