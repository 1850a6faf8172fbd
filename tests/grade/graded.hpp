#pragma once

#include <set>
#include <string>

#include "ozbound/verify/grade_library.hpp"

namespace ozbound::test {

inline std::string bad_blas(const std::string& name) { return OZBOUND_BAD_BLAS "/" + name + ".so"; }

inline Grade graded(const std::string& library, bool quick, const std::string& symbol = "") {
  return grade_library(
      {.library = library, .symbol = symbol, .options = {.seed = 0, .quick = quick}, .worker = OZBOUND_GRADE_WORKER});
}

/// The names of all faults, with how they ended where that is more than failing: `demmel.completes: crashed`.
inline std::set<std::string> faults(const Grade& grade) {
  std::set<std::string> names;
  for (const auto& part : grade.parts)
    for (const auto& finding : part.findings.findings)
      if (is_fault(finding.outcome))
        names.insert(finding.test + (finding.outcome == Outcome::fail ? "" : ": " + std::string(to_string(finding.outcome))));
  return names;
}

inline const Finding& find(const Grade& grade, const std::string& test) {
  for (const auto& part : grade.parts)
    for (const auto& finding : part.findings.findings)
      if (finding.test == test) return finding;
  throw std::out_of_range("no finding " + test);
}

/// Every part was run to its end.
inline bool is_complete(const Grade& grade) {
  if (grade.parts.size() != gradable_parts().size()) return false;
  for (const auto& part : grade.parts)
    for (const auto& finding : part.findings.findings)
      if (finding.outcome == Outcome::crashed || finding.outcome == Outcome::hung) return false;
  return true;
}

}  // namespace ozbound::test
