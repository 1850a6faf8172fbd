// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "goals.hpp"
#include "measurement.hpp"
#include "ozbound/files/measuring.hpp"

namespace ozbound::bench {

/// The record of one run, for comparison with later runs.
struct Record {
  std::string processor;
  std::vector<Measurement> measurements;
};

nlohmann::ordered_json to_json(const Measurement& x);

/// @throws std::invalid_argument naming the member that is missing or wrong.
Measurement measurement_from_json(const nlohmann::json& json);

/// `met` is null if nothing was judged.
nlohmann::ordered_json to_json(const Goal& goal);

/// The settings and the environment of a run.
struct Surroundings {
  std::string kernel;  ///< the engine's
  bool quick = false;
  bool complete = true;                    ///< false: more was to be measured
  std::vector<files::Variable> unset;      ///< of the environment, which the measuring programs did not get
  std::vector<files::OpenBlasCore> cores;  ///< OpenBLAS's kernels, the fastest first
};

/// The record `ozbound-bench-1` of docs/benchmarks.md, for this machine and build.
nlohmann::ordered_json to_json(std::span<const Measurement> measurements, std::span<const Goal> goals,
                               const Surroundings& surroundings);

/// The record as text.
std::string record_text(std::span<const Measurement> measurements, std::span<const Goal> goals,
                        const Surroundings& surroundings);

/// @throws std::invalid_argument naming what is missing or wrong.
Record record_from_json(const nlohmann::json& json);

/// @throws files::InputError naming the file.
Record read_record(const std::string& path);

}  // namespace ozbound::bench
