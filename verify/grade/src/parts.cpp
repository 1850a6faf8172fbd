// SPDX-License-Identifier: BSD-3-Clause
#include "parts.hpp"

#include <array>

#include "ozbound/core/float_environment.hpp"

namespace ozbound {
namespace {

/// Runs a part in a floating-point environment of its own. Only the graded library runs in the caller's environment, or in the
/// one that loading left.
template <Findings (*part)(const ForeignGemm&, const GradeOptions&)>
Findings graded(const ForeignGemm& gemm, const GradeOptions& options) {
  const FloatEnvironment environment;
  return part(gemm, options);
}

}  // namespace

std::span<const GradePart> grade_parts() {
  static const std::array parts{
      GradePart{"demmel", "Demmel et al.'s tests", graded<grading::grade_demmel>},
      GradePart{"accuracy", "Accuracy over the problem families", graded<grading::grade_accuracy>},
      GradePart{"special", "Special values", graded<grading::grade_special>},
      GradePart{"shapes", "Small and awkward shapes", graded<grading::grade_shapes>},
      GradePart{"layouts", "Transposition and layout", graded<grading::grade_layouts>},
      GradePart{"memory", "Canaries around the operands", graded<grading::grade_memory>},
      GradePart{"bounds-of-memory", "Guard pages around the operands", graded<grading::grade_bounds_of_memory>},
      GradePart{"callers", "Several callers at once", graded<grading::grade_callers>},
      GradePart{"reproducibility", "Reproducibility", graded<grading::grade_reproducibility>},
  };
  return parts;
}

}  // namespace ozbound
