// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ozbound::cli {

/// What logs of the drop-in BLAS say together (docs/records.md, `ozbound-drop-in-1`).
class AuditReport {
 public:
  /// @throws InputError naming the file and the line of what is no such log. A last line that was cut short is left out: its
  /// process was killed.
  void add(const std::filesystem::path& file);

  void print_for_people() const;
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  /// Calls of one caller and kind, of about the same sizes.
  struct Kind {
    std::string routine, object, ops;
    int log2_m = 0, log2_n = 0, log2_k = 0;

    auto operator<=>(const Kind&) const = default;
    [[nodiscard]] std::string sizes() const;
  };
  struct Count {
    long calls = 0;
    double work = 0, native_seconds = 0, own_seconds = 0, other_seconds = 0;
    std::optional<double> worst;

    void add(const Count& other);
  };
  struct Process {
    nlohmann::ordered_json facts;
    std::map<std::pair<Kind, std::string>, Count> counts;  ///< by what the calls were found to be; the last one counts
    long calls = 0, small = 0, empty = 0, bad_arguments = 0;
    bool ended = false;
  };
  /// All processes' calls of a kind.
  struct Total {
    Count all, examined;

    /// What all of them are predicted to take where each goes the way that is expected to be faster.
    [[nodiscard]] double predicted_seconds() const;
  };

  void add_record(const nlohmann::json& record);
  Process& process_of(const nlohmann::json& record);
  [[nodiscard]] std::map<Kind, Total> kinds() const;
  [[nodiscard]] std::map<std::string, Count> ways() const;
  [[nodiscard]] std::vector<std::pair<Kind, Total>> by_time() const;

  std::vector<Process> processes_;
  std::map<std::string, std::optional<std::string>> libraries_;  ///< by file; without a name where native is unproven
  std::map<long, std::size_t> current_;                          ///< of a process' number, its place
  std::optional<nlohmann::json> worst_;                          ///< the call whose sampled error was largest
};

}  // namespace ozbound::cli
