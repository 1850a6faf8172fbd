#include "parts.hpp"

#include <array>

namespace ozbound {

std::span<const GradePart> grade_parts() {
  static const std::array parts{
      GradePart{"demmel", "Demmel et al.'s tests", grading::grade_demmel},
      GradePart{"accuracy", "Accuracy over the problem families", grading::grade_accuracy},
      GradePart{"special", "Special values", grading::grade_special},
      GradePart{"shapes", "Small and awkward shapes", grading::grade_shapes},
      GradePart{"layouts", "Transposition and layout", grading::grade_layouts},
      GradePart{"memory", "Canaries around the operands", grading::grade_memory},
      GradePart{"bounds-of-memory", "Guard pages around the operands", grading::grade_bounds_of_memory},
      GradePart{"reproducibility", "Reproducibility", grading::grade_reproducibility},
  };
  return parts;
}

}  // namespace ozbound
