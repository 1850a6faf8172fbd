// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "ozbound/verify/grade/grade_library.hpp"

namespace ozbound::test {

using Names = std::set<std::string>;

inline std::string bad_blas(const std::string& name) { return OZBOUND_BAD_BLAS "/" + name + ".so"; }

inline Grade graded(const std::string& library, bool quick, const std::string& symbol = "") {
  return grade_library(
      {.library = library, .symbol = symbol, .options = {.seed = 0, .quick = quick}, .worker = OZBOUND_GRADE_WORKER});
}

/// The names of all faults, with the kind of end if a test did more than fail: `demmel.completes: crashed`.
inline Names faults(const Grade& grade) {
  Names names;
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

/// True if every part was run to its end.
inline bool is_complete(const Grade& grade) {
  if (grade.parts.size() != gradable_parts().size()) return false;
  for (const auto& part : grade.parts)
    for (const auto& finding : part.findings.findings)
      if (finding.outcome == Outcome::crashed || finding.outcome == Outcome::hung) return false;
  return true;
}

/// A BLAS library that Debian offers.
struct KnownLibrary {
  std::string name, file;
  Names faults;  ///< faults that its maintainers could not deny, on some processors

  [[nodiscard]] bool installed() const { return !file.empty() && !file.ends_with("NOTFOUND"); }
  friend void PrintTo(const KnownLibrary& library, std::ostream* out) { *out << library.name; }
};

/// BLIS 0.9.0 treats beta = NaN as 0 in its x86 kernels, except at their edges.
inline std::vector<KnownLibrary> known_libraries() {
  return {{"OpenBLAS", OZBOUND_OPENBLAS, {}},
          {"BLIS", OZBOUND_BLIS, {"special.nan-scalar"}},
          {"reference", OZBOUND_REFERENCE_BLAS, {}}};
}

}  // namespace ozbound::test
