#include "parts.hpp"

#include <array>

namespace ozbound {

std::span<const GradePart> grade_parts() {
  static const std::array parts{
      GradePart{"demmel", "Demmel et al.'s tests", grading::grade_demmel},
  };
  return parts;
}

}  // namespace ozbound
