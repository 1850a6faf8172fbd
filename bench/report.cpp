// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ozbound/files/columns.hpp"

namespace ozbound::bench {
namespace {

std::string ratio_text(double ratio) { return ratio < 1000 ? fmt::format("{:.3g}", ratio) : fmt::format("{:.0f}", ratio); }

std::string seconds_text(double seconds) { return fmt::format("{:.3g}", seconds * 1e3); }

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string shape_text(const Shape& shape) { return shape == Shape{} ? "-" : to_string(shape); }

files::Cells cells(const Measurement& x) {
  files::Cells row{x.name, x.library.empty() ? x.baseline : x.library, shape_text(x.shape), fmt::format("{}", x.threads),
                   or_dash(x.kernel)};
  if (x.repetitions == 0)
    row.insert(row.end(), 6, "-");
  else
    row.insert(row.end(), {ratio_text(x.ratio.median), ratio_text(x.ratio.lower), ratio_text(x.ratio.upper),
                           fmt::format("{}", x.repetitions), seconds_text(x.seconds),
                           x.operations_per_second > 0 ? fmt::format("{:.1f}", x.operations_per_second / 1e9) : "-"});
  row.push_back(x.note);
  return row;
}

/// A line whose columns have fixed widths, since later lines are not known yet.
std::string line_of(const files::Cells& row) {
  constexpr std::size_t widths[] = {52, 24, 14, 7, 12, 6, 6, 6, 7, 8, 7, 0};
  std::string line;
  for (std::size_t t = 0; t < row.size(); ++t) line += fmt::format("{:<{}}  ", row[t], widths[t]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

bool measured(const Measurement& x) { return x.repetitions > 0; }

const Measurement* counterpart(const Measurement& x, const Record& run) {
  const auto found = std::ranges::find_if(run.measurements, [&](const auto& y) { return measured(y) && y.same_place(x); });
  return found == run.measurements.end() ? nullptr : &*found;
}

files::Cells compared(const Measurement& now, const Measurement& before) {
  return {now.name,
          now.baseline,
          shape_text(now.shape),
          fmt::format("{}", now.threads),
          or_dash(now.kernel),
          ratio_text(now.ratio.median),
          ratio_text(before.ratio.median),
          ratio_text(now.ratio.median / before.ratio.median),
          change(now, before)};
}

/// Remarks on how far a comparison can be trusted.
std::string remarks(const Record& now, const Record& before, std::size_t both) {
  const auto count = [](const Record& run) {
    return static_cast<std::size_t>(std::ranges::count_if(run.measurements, measured));
  };
  std::string text;
  if (now.processor != before.processor) text += fmt::format("The saved run is of another processor: {}.\n", before.processor);
  if (count(now) > both) text += fmt::format("{} measurements are only in this run.\n", count(now) - both);
  if (count(before) > both) text += fmt::format("{} measurements are only in the saved run.\n", count(before) - both);
  return text;
}

}  // namespace

std::string measurement_heading() {
  return line_of(
      {"name", "over", "m x n x k", "threads", "kernel", "ratio", "lower", "upper", "samples", "ms", "Gop/s", "note"});
}

std::string measurement_line(const Measurement& measurement) { return line_of(cells(measurement)); }

std::string goal_table(std::span<const Goal> goals) {
  std::vector<files::Cells> rows{{"goal", "", "limit", "measured", "status"}};
  for (const auto& goal : goals)
    rows.push_back({goal.name, goal.at_most ? "at most" : "at least", ratio_text(goal.goal),
                    goal.measured ? ratio_text(*goal.measured) : "-", status(goal)});
  return files::format_columns(rows);
}

std::string change(const Measurement& now, const Measurement& before) {
  const bool speed = now.kind == Kind::speed;
  if (now.ratio.lower > before.ratio.upper) return speed ? "faster" : "more";
  if (now.ratio.upper < before.ratio.lower) return speed ? "slower" : "less";
  return "";
}

std::string comparison_table(const Record& now, const Record& before) {
  std::vector<files::Cells> rows{
      {"name", "over", "m x n x k", "threads", "kernel", "now", "saved", "now/saved", "beyond the spread"}};
  for (const auto& measurement : now.measurements)
    if (const auto* const saved = counterpart(measurement, before); saved != nullptr && measured(measurement))
      rows.push_back(compared(measurement, *saved));
  return files::format_columns(rows) + remarks(now, before, rows.size() - 1);
}

}  // namespace ozbound::bench
