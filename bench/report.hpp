// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "goals.hpp"
#include "measurement.hpp"
#include "record.hpp"

namespace ozbound::bench {

/// Measurements as a table, for people.
std::string measurement_table(std::span<const Measurement> measurements);

std::string goal_table(std::span<const Goal> goals);

/// `faster`, `slower`, `more`, `less`, or nothing where the quartiles of both, their ranges, overlap.
std::string change(const Measurement& now, const Measurement& before);

/// The ratios of both runs' ratios, those beyond the spread flagged, and how many measurements only one of the runs has.
std::string comparison_table(const Record& now, const Record& before);

}  // namespace ozbound::bench
