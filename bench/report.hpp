#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "goals.hpp"
#include "measurement.hpp"

namespace ozbound::bench {

/// What the ratios were measured on.
nlohmann::ordered_json machine(const std::string& kernel);

/// All of one run.
struct Record {
  nlohmann::ordered_json machine;
  std::vector<Measurement> measurements;
};

/// `ozbound-bench-1`, docs/benchmarks.md.
nlohmann::ordered_json to_json(const Record& run, std::span<const Goal> goals, bool quick);

/// @throws std::invalid_argument naming what is missing or wrong.
Record run_from_json(const nlohmann::json& json);

/// Measurements as a table, for people.
std::string measurement_table(std::span<const Measurement> measurements);

std::string goal_table(std::span<const Goal> goals);

/// `faster`, `slower`, `more`, `less`, or nothing where the quartiles of both, their ranges, overlap.
std::string change(const Measurement& now, const Measurement& before);

/// The ratios of both runs' ratios, those beyond the spread flagged, and how many measurements only one of the runs has.
std::string comparison_table(const Record& now, const Record& before);

}  // namespace ozbound::bench
