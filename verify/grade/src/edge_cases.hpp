// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "ozbound/verify/grade/grade.hpp"
#include "ozbound/verify/oracle.hpp"
#include "stored_call.hpp"

namespace ozbound::grading {

/// The most elements from the first to the last of an operand of an edge case.
inline constexpr std::size_t edge_case_extent = std::size_t{129 + 97} * 129;

/// Visits calls of all sizes around those of kernels (m, n: 1 to 17, 31 to 33, 63 to 65, 129) with every transposition, and in
/// both layouts if `row_major_too`. Leading dimensions exceed the minimum by 0, 1, 3, 13 and 97; k, alpha and beta take turns.
void each_edge_case(const GradeOptions& options, bool row_major_too,
                    const std::function<void(const Operands&, const Storage&)>& visit);

}  // namespace ozbound::grading
