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
  std::int64_t cases = std::numeric_limits<std::int64_t>::max();  ///< at most so many drawn
  std::uint64_t seed = 0;                                         ///< of the cases
  std::vector<std::filesystem::path> replayed =
      {};                                     ///< folders of case files that come first; those that are missing hold none
  std::filesystem::path store = {};           ///< a folder to replay, and to store a counterexample in; none if empty
  std::function<void(double)> progress = {};  ///< called now and then with the share of the time that has passed
};

/// The case as it is on file, or as simple as shrinking made it; then it is for its property, the explanation as its note.
struct Counterexample : StoredCase {
  std::string explanation;
  std::filesystem::path file;   ///< where it is stored; empty if it is not
  std::string not_stored = {};  ///< why it could not be, where it should have been
};

struct CheckResult {
  std::string property;
  std::int64_t replayed = 0;  ///< files
  std::int64_t drawn = 0;     ///< cases
  std::optional<Counterexample> counterexample;

  [[nodiscard]] bool holds() const { return !counterexample; }
};

/// Replays what is on file for a property, then draws cases for as long as they hold. A counterexample is stored as it was
/// found, then shrunk, then stored in place of that: whatever ends the shrinking, a case is on file.
/// @throws std::invalid_argument before any case is judged, naming a folder to store in that cannot be written, and naming a
/// case file that is none.
CheckResult check(const Property& property, const Engine& engine, const CheckOptions& options = {});

}  // namespace ozbound
