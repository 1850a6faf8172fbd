// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "goals.hpp"
#include "measurement.hpp"
#include "record.hpp"

namespace ozbound::bench {

/// The heading of measurements, and one of them, as lines of a table for people.
std::string measurement_heading();
std::string measurement_line(const Measurement& measurement);

std::string goal_table(std::span<const Goal> goals);

/// `faster`, `slower`, `more` or `less`; empty if the quartile ranges of both overlap.
std::string change(const Measurement& now, const Measurement& before);

/// For each measurement of both runs, the quotient of its ratios, flagged if it exceeds the spread, and the number of
/// measurements in only one run.
std::string comparison_table(const Record& now, const Record& before);

}  // namespace ozbound::bench
