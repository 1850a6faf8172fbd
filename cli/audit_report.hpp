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

/// A summary of logs of the drop-in BLAS (docs/records.md, `ozbound-drop-in-1`).
class AuditReport {
 public:
  /// @throws InputError naming the file and the line for an invalid log. Ignores a truncated last line, which a killed process
  /// leaves.
  void add(const std::filesystem::path& file);

  void print_for_people() const;
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  /// Calls of one caller and kind, with similar sizes.
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
    std::map<std::pair<Kind, std::string>, Count> counts;  ///< by the finding about the calls; the last record counts
    long calls = 0, small = 0, empty = 0, bad_arguments = 0, unknown_width = 0, other_mode = 0;
    bool ended = false;
  };
  /// The calls of a kind, of all processes.
  struct Total {
    Count all, examined;

    /// Predicted time of all calls if each takes the faster way.
    [[nodiscard]] double predicted_seconds() const;
  };

  void add_record(const nlohmann::json& record);
  Process& process_of(const nlohmann::json& record);
  [[nodiscard]] std::map<Kind, Total> kinds() const;
  [[nodiscard]] std::map<std::string, Count> ways() const;
  [[nodiscard]] std::vector<std::pair<Kind, Total>> by_time() const;

  std::vector<Process> processes_;
  std::map<std::string, std::optional<std::string>> libraries_;  ///< by file; without a name if native is unproven
  std::map<long, std::size_t> current_;                          ///< from a process number to its index in processes_
  std::optional<nlohmann::json> worst_;                          ///< the call whose sampled error was largest
};

}  // namespace ozbound::cli
