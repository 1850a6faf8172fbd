// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ozbound/bounds/target.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/verify/storage.hpp"

namespace ozbound {

/// A matrix of a case: its values, each representable in the element type, and its memory layout.
struct CaseMatrix {
  Matrix<double> values;
  Storage storage;
};

/// One input of a property: everything that C = alpha A B + beta C0 depends on, and everything that it must not depend on.
struct GemmCase {
  CaseMatrix a;   ///< m x (k / inner_repeat)
  CaseMatrix b;   ///< (k / inner_repeat) x n
  CaseMatrix c0;  ///< m x n
  Storage c;
  double alpha = 1;
  double beta = 0;
  Plan plan = SplitPlan::balanced(7, 7, 8);
  std::optional<Target> target;                 ///< for properties that need a target; `dgemm` if none is given
  CpuEngine::Options working = {.threads = 1};  ///< options of the portable engine that others are compared with
  std::uint64_t seed = 0;                       ///< of the random numbers that a property draws: a permutation, scalings, a
                                                ///< partition
  Index inner_repeat = 1;  ///< A and B consist of this many copies side by side: a long inner dimension in a small file

  [[nodiscard]] Index m() const { return a.values.rows(); }
  [[nodiscard]] Index n() const { return b.values.cols(); }
  [[nodiscard]] Index k() const { return a.values.cols() * inner_repeat; }

  /// A and B in full, m x k and k x n.
  [[nodiscard]] Matrix<double> full_a() const;
  [[nodiscard]] Matrix<double> full_b() const;

  /// @throws std::invalid_argument naming the member: shapes that do not fit, a value that its element type cannot hold, an
  /// invalid plan or target, negative options, or more than 2^28 elements in one matrix, padding included.
  void validate() const;

  /// True if every member has the same bits.
  bool operator==(const GemmCase& other) const;
};

/// A case on file: the properties it is for (all, if none is named), and the reason why it is stored.
struct StoredCase {
  std::vector<std::string> properties;
  std::string note;
  GemmCase gemm_case;

  [[nodiscard]] bool is_for(const std::string& property) const;
};

/// One object, schema `ozbound-case-1` (docs/records.md), lossless: numbers are hexadecimal, NaNs keep their payload.
nlohmann::ordered_json to_json(const StoredCase& stored);

/// The text of a case file: to_json with one member a line.
std::string to_text(const StoredCase& stored);

/// @throws std::invalid_argument naming the member that is missing, unknown or wrong.
StoredCase case_from_json(const nlohmann::json& json);

/// @throws std::invalid_argument `FILE: what is wrong`, also for a duplicated member.
StoredCase read_case(const std::filesystem::path& file);

/// Writes DIRECTORY/PROPERTY-HASH.json, whole or not at all, and returns its path. HASH is a hash of the content. Creates the
/// directory if needed. @throws std::runtime_error naming the file that cannot be written.
std::filesystem::path store_case(const StoredCase& stored, const std::filesystem::path& directory);

/// Checks that store_case could write there. Creates and writes nothing.
/// @throws std::invalid_argument naming the directory, if it, or the nearest existing path above it, is no directory or cannot
/// be written.
void require_storable(const std::filesystem::path& directory);

/// The case files of a directory, *.json, by name; empty if the directory does not exist.
std::vector<std::filesystem::path> case_files(const std::filesystem::path& directory);

}  // namespace ozbound
