// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/verify/property.hpp"

namespace ozbound {

struct CheckOptions {
  double seconds = 10;  ///< for drawn cases; shrinking a counterexample may take as long again
  std::int64_t cases = std::numeric_limits<std::int64_t>::max();  ///< the most cases to draw
  std::uint64_t seed = 0;                                         ///< of the cases
  std::vector<std::filesystem::path> replayed =
      {};                                     ///< folders of case files to replay first; a missing folder counts as empty
  std::filesystem::path store = {};           ///< a folder to replay, and to store a counterexample in; empty: no folder
  std::function<void(double)> progress = {};  ///< called now and then with the share of the time that has passed
};

/// The case as read from file, or shrunk as far as possible. A shrunk case names its property and has the explanation as its
/// note.
struct Counterexample : StoredCase {
  std::string explanation;
  std::filesystem::path file;   ///< the file that it is stored in; empty if it is not stored
  std::string not_stored = {};  ///< why it could not be stored, if it should have been
};

struct CheckResult {
  std::string property;
  std::int64_t replayed = 0;  ///< number of replayed files
  std::int64_t drawn = 0;     ///< number of drawn cases
  std::optional<Counterexample> counterexample;

  [[nodiscard]] bool holds() const { return !counterexample; }
};

/// Replays the case files of a property, then draws cases until one fails, enough are drawn, or the time is over. A
/// counterexample is first stored as found, then shrunk, and the shrunk case replaces the stored one. So a case is on file even
/// if shrinking is cut short.
/// @throws std::invalid_argument before any case is judged, naming a folder that cannot be written, or an invalid case file.
CheckResult check(const Property& property, const Engine& engine, const CheckOptions& options = {});

}  // namespace ozbound
