#include "parts.hpp"

#include <array>

namespace ozbound {

std::span<const GradePart> grade_parts() {
  static const std::array parts{
      GradePart{"demmel", "Demmel et al.'s tests", grading::grade_demmel},
      GradePart{"accuracy", "Accuracy over the problem families", grading::grade_accuracy},
      GradePart{"special", "Special values", grading::grade_special},
  };
  return parts;
}

}  // namespace ozbound
