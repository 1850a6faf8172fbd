// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/grade/grade.hpp"

namespace ozbound::grading {

// The parts of a grade, each in the file of its name.

Findings grade_demmel(const ForeignGemm& gemm, const GradeOptions& options);
Findings grade_accuracy(const ForeignGemm& gemm, const GradeOptions& options);
Findings grade_special(const ForeignGemm& gemm, const GradeOptions& options);
Findings grade_shapes(const ForeignGemm& gemm, const GradeOptions& options);
Findings grade_layouts(const ForeignGemm& gemm, const GradeOptions& options);
Findings grade_memory(const ForeignGemm& gemm, const GradeOptions& options);
Findings grade_bounds_of_memory(const ForeignGemm& gemm, const GradeOptions& options);
Findings grade_callers(const ForeignGemm& gemm, const GradeOptions& options);
Findings grade_reproducibility(const ForeignGemm& gemm, const GradeOptions& options);

/// A finding of the part `layouts`.
Finding far_columns(const ForeignGemm& gemm);

}  // namespace ozbound::grading
