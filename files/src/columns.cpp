// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ozbound::cli {
namespace {

bool is_number(const std::string& cell) {
  if (cell.empty() || cell == "-" || cell == "inf") return true;
  double value = 0;
  const char* const last = cell.data() + cell.size();
  return std::from_chars(cell.data(), last, value).ptr == last;
}

struct Column {
  std::size_t width = 0;
  bool numbers = true;
};

std::vector<Column> measure(const std::vector<Cells>& rows) {
  std::vector<Column> columns;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      if (i == columns.size()) columns.emplace_back();
      columns[i].width = std::max(columns[i].width, rows[row][i].size());
      columns[i].numbers = columns[i].numbers && (row == 0 || is_number(rows[row][i]));
    }
  return columns;
}

}  // namespace

std::string format_columns(const std::vector<Cells>& rows) {
  const auto columns = measure(rows);
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto [width, numbers] = columns[i];
      line += i == 0 ? "" : "  ";
      line += numbers ? fmt::format("{:>{}}", row[i], width) : fmt::format("{:<{}}", row[i], width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace ozbound::cli
