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

/// The library to grade, and the options.
struct GradeRequest {
  std::string library;                  ///< as ForeignLibrary takes it
  std::string symbol = {};              ///< empty: found as ForeignLibrary finds it
  std::vector<std::string> parts = {};  ///< names of gradable_parts(); empty: all
  GradeOptions options = {};
  std::chrono::milliseconds time_limit = std::chrono::seconds(300);  ///< of each process
  std::filesystem::path worker = {};                                 ///< empty: grade_worker()
};

/// The findings of one part.
struct GradedPart {
  std::string name, title;
  Findings findings;
  std::string printed;  ///< the library's last output, if it crashed or hung
};

/// A graded library.
struct Grade {
  std::string library;       ///< as the request named it
  LibraryIdentity identity;  ///< empty if loading failed
  GradeOptions options;
  std::string processor;          ///< of this machine
  std::vector<unsigned> threads;  ///< thread counts that the last part tried; the other parts use one
  std::vector<GradedPart> parts;

  [[nodiscard]] std::map<Outcome, int> counts() const;

  /// True if nothing failed, crashed or hung.
  [[nodiscard]] bool holds() const;
};

/// True if the outcome is a fault of the library.
[[nodiscard]] bool is_fault(Outcome outcome);

/// Names and titles of all parts, in the order of a report: loading, grade_parts(), threads.
const std::vector<std::pair<std::string, std::string>>& gradable_parts();

/// The program `ozbound-grade-worker`, which loads the library in a process of its own. It is searched beside this program, in
/// ../libexec/ozbound relative to it, and in the install directory. Its CMake target is ozbound::grade_worker.
/// @throws std::invalid_argument if it is in none of these places.
std::filesystem::path grade_worker();

/// Grades a library. Each part runs in a process of its own with one thread: a crash or a hang of the library is a finding and
/// affects no other part. The last part makes a few products with several thread counts and compares their bits across thread
/// counts and processes. If loading the library crashes or hangs, no other part runs.
///
/// @param progress called before each part with the share done, in [0, 1]
/// @throws std::invalid_argument if the library cannot be loaded, has no such symbol, or a part is unknown; std::runtime_error
/// or std::system_error if the grading itself fails.
Grade grade_library(const GradeRequest& request, const std::function<void(double)>& progress = {});

/// The record `ozbound-grade-1`, docs/records.md, without version and command. Equal for equal library, options and machine,
/// unless the library itself changes from run to run.
nlohmann::ordered_json to_json(const Grade& grade);

/// The origin of a report.
struct GradeOrigin {
  std::string version;  ///< of Ozbound
  std::string command;  ///< the command that reproduces it
  std::string date;
};

/// The grade as one self-contained page, XHTML in UTF-8: it includes styles and plots, and has no scripts.
std::string to_html(const Grade& grade, const GradeOrigin& origin);

}  // namespace ozbound
