// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ozbound/verify/grade/foreign_library.hpp"
#include "ozbound/verify/grade/grade.hpp"

namespace ozbound {

/// What is to be graded, and how.
struct GradeRequest {
  std::string library;                  ///< as ForeignLibrary takes it
  std::string symbol = {};              ///< empty: found, as ForeignLibrary does
  std::vector<std::string> parts = {};  ///< names of gradable_parts(); empty: all
  GradeOptions options = {};
  std::chrono::milliseconds time_limit = std::chrono::seconds(300);  ///< of each process
  std::filesystem::path worker = {};                                 ///< empty: grade_worker()
};

/// What one part found.
struct GradedPart {
  std::string name, title;
  Findings findings;
  std::string printed;  ///< the last that the library printed, where it crashed or hung
};

/// A graded library.
struct Grade {
  std::string library;       ///< as it was asked for
  LibraryIdentity identity;  ///< empty where loading did not end well
  GradeOptions options;
  std::string processor;          ///< of this machine
  std::vector<unsigned> threads;  ///< that the last part tried; the others have one
  std::vector<GradedPart> parts;

  [[nodiscard]] std::map<Outcome, int> counts() const;

  /// Nothing failed, crashed or hung.
  [[nodiscard]] bool holds() const;
};

/// The outcome is a fault of the library.
[[nodiscard]] bool is_fault(Outcome outcome);

/// Names and titles of everything that is graded, in the order of a report: loading, grade_parts(), threads.
const std::vector<std::pair<std::string, std::string>>& gradable_parts();

/// The program that loads the library in a process of its own, `ozbound-grade-worker`: beside this program, in
/// ../libexec/ozbound from there, or where it was installed. CMake knows it as the target ozbound::grade_worker.
/// @throws std::invalid_argument if it is in none of these places.
std::filesystem::path grade_worker();

/// Grades a library: each part in a process of its own with one thread, so that a crash or a hang of the library is a finding
/// and costs no other part; then a few products with several counts of threads, and their bits across these and processes. A
/// library that cannot even be loaded without a crash or a hang is asked nothing more.
///
/// @param progress told before each part how much is done, in [0, 1]
/// @throws std::invalid_argument where the library cannot be loaded, has no such symbol, or a part is unknown;
/// std::runtime_error or std::system_error where the grading itself fails.
Grade grade_library(const GradeRequest& request, const std::function<void(double)>& progress = {});

/// All but version and command of the record `ozbound-grade-1`, docs/records.md. The same for the same library, options and
/// machine, unless the library itself changes from run to run.
nlohmann::ordered_json to_json(const Grade& grade);

/// Where a report comes from.
struct GradeOrigin {
  std::string version;  ///< of Ozbound
  std::string command;  ///< how to get it again
  std::string date;
};

/// The grade as one page, XHTML in UTF-8, that needs nothing else: styles and plots are within, scripts there are none.
std::string to_html(const Grade& grade, const GradeOrigin& origin);

}  // namespace ozbound
