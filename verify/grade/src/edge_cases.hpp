// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "ozbound/verify/grade/grade.hpp"
#include "ozbound/verify/oracle.hpp"
#include "stored_call.hpp"

namespace ozbound::grading {

/// Elements from the first to the last of an operand of an edge case, at most.
inline constexpr std::size_t edge_case_extent = std::size_t{129 + 97} * 129;

/// Visits calls of every size around those of kernels (m, n: 1 to 17, 31 to 33, 63 to 65, 129), every transposition, in both
/// layouts if `row_major_too`, with leading dimensions 0, 1, 3, 13 and 97 beyond the minimum; k, alpha and beta take turns.
void each_edge_case(const GradeOptions& options, bool row_major_too,
                    const std::function<void(const Operands&, const Storage&)>& visit);

}  // namespace ozbound::grading
