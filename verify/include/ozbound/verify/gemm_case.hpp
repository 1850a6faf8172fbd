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

/// A matrix of a case: its values, each a number of the element type, and where they lie.
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
  std::optional<Target> target;                 ///< for the properties that need one; `dgemm` where there is none
  CpuEngine::Options working = {.threads = 1};  ///< of the portable engine that others are compared with
  std::uint64_t seed = 0;                       ///< of what a property draws for itself: a permutation, scalings, a partition
  Index inner_repeat = 1;  ///< A and B are so many copies side by side: a long inner dimension in a small file

  [[nodiscard]] Index m() const { return a.values.rows(); }
  [[nodiscard]] Index n() const { return b.values.cols(); }
  [[nodiscard]] Index k() const { return a.values.cols() * inner_repeat; }

  /// A and B in full, m x k and k x n.
  [[nodiscard]] Matrix<double> full_a() const;
  [[nodiscard]] Matrix<double> full_b() const;

  /// @throws std::invalid_argument naming the member: shapes that do not fit, a value that its element type does not hold, a
  /// plan or target that is none, negative options, or more than 2^28 elements in one matrix, padding included.
  void validate() const;

  /// The same bits in every member.
  bool operator==(const GemmCase& other) const;
};

/// A case on file: which properties it is for (all, if none is named), and why it is there.
struct StoredCase {
  std::vector<std::string> properties;
  std::string note;
  GemmCase gemm_case;

  [[nodiscard]] bool is_for(const std::string& property) const;
};

/// One object, schema `ozbound-case-1` (docs/records.md), lossless: numbers are hexadecimal, NaNs keep their payload.
nlohmann::ordered_json to_json(const StoredCase& stored);

/// The text of its file: to_json with one member a line.
std::string to_text(const StoredCase& stored);

/// @throws std::invalid_argument naming the member that is missing, unknown or wrong.
StoredCase case_from_json(const nlohmann::json& json);

/// @throws std::invalid_argument `FILE: what is wrong`: also for a member that is there twice.
StoredCase read_case(const std::filesystem::path& file);

/// Writes DIRECTORY/PROPERTY-HASH.json, whole or not at all, and returns its path; the hash is that of the content. Makes the
/// directory. @throws std::runtime_error naming the file that cannot be written.
std::filesystem::path store_case(const StoredCase& stored, const std::filesystem::path& directory);

/// Whether store_case can do that. Neither makes nor writes anything.
/// @throws std::invalid_argument naming the directory, if it is none, or it, or what it would be made in, cannot be written.
void require_storable(const std::filesystem::path& directory);

/// The case files of a directory, *.json, by name; none where there is no such directory.
std::vector<std::filesystem::path> case_files(const std::filesystem::path& directory);

}  // namespace ozbound
