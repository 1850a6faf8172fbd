// SPDX-License-Identifier: BSD-3-Clause
#include "ozbound/files/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace ozbound::files {
namespace {

constexpr std::size_t gap = 2;  // spaces between columns

bool is_number(const std::string& cell) {
  if (cell.empty() || cell == "-" || cell == "inf") return true;
  double value = 0;
  const char* const last = cell.data() + cell.size();
  return std::from_chars(cell.data(), last, value).ptr == last;
}

/// The pieces between which a line may be cut, each with the space that follows it.
std::vector<std::string_view> pieces_of(std::string_view text, std::string_view breaks) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const auto end = text.find_first_of(breaks);
    const auto length = end == std::string_view::npos ? text.size() : end + 1;
    pieces.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return pieces;
}

std::string_view without_end_spaces(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

/// Lines of at most `width` characters, except for longer pieces; at least one line.
std::vector<std::string> lines_of(std::string_view text, std::size_t width, std::string_view breaks) {
  std::vector<std::string> lines(1);
  for (const auto piece : pieces_of(text, breaks)) {
    if (!lines.back().empty() && width_of(lines.back()) + width_of(without_end_spaces(piece)) > width) lines.emplace_back();
    lines.back() += piece;
  }
  for (auto& line : lines) line.resize(without_end_spaces(line).size());
  return lines;
}

constexpr std::string_view cell_breaks = " :/,=_";

/// The smallest possible width of a cell.
std::size_t narrowest(const std::string& cell) {
  std::size_t width = 0;
  for (const auto piece : pieces_of(cell, cell_breaks)) width = std::max(width, width_of(without_end_spaces(piece)));
  return width;
}

struct Column {
  std::size_t width = 0;   ///< width of the widest cell, later the assigned width
  std::size_t below = 0;   ///< width at which only the heading is cut
  std::size_t narrow = 0;  ///< smallest width, with all cells cut
  bool numbers = true;
};

std::vector<Column> measure(const std::vector<Cells>& rows) {
  std::vector<Column> columns;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      if (i == columns.size()) columns.emplace_back();
      auto& column = columns[i];
      const auto width = width_of(rows[row][i]), narrow = narrowest(rows[row][i]);
      column.width = std::max(column.width, width);
      column.below = std::max(column.below, row == 0 ? narrow : width);
      column.narrow = std::max(column.narrow, narrow);
      column.numbers = column.numbers && (row == 0 || is_number(rows[row][i]));
    }
  return columns;
}

std::size_t total(const std::vector<Column>& columns) {
  std::size_t width = columns.empty() ? 0 : gap * (columns.size() - 1);
  for (const auto& column : columns) width += column.width;
  return width;
}

/// Narrows the widest column above its limit, step by step, until all columns fit. False if they do not fit.
bool narrow_to(std::size_t width, std::vector<Column>& columns, std::size_t Column::* limit) {
  for (auto now = total(columns); now > width; --now) {
    Column* widest = nullptr;
    for (auto& column : columns)
      if (column.width > column.*limit && (widest == nullptr || column.width > widest->width)) widest = &column;
    if (widest == nullptr) return false;
    --widest->width;
  }
  return true;
}

std::string format_row(const Cells& row, const std::vector<Column>& columns) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    cells.push_back(lines_of(row[i], columns[i].width, cell_breaks));
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t t = 0; t < height; ++t) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = t < cells[i].size() ? cells[i][t] : "";
      const std::string padding(columns[i].width - std::min(columns[i].width, width_of(cell)), ' ');
      if (i > 0) line.append(gap, ' ');
      line += columns[i].numbers ? padding + cell : cell + padding;
    }
    text += std::string(without_end_spaces(line)) + "\n";
  }
  return text;
}

/// Formats every row as lines of a heading and a cell, with an empty line between rows.
std::string format_records(const std::vector<Cells>& rows, std::size_t width) {
  std::size_t widest = 0;
  for (const auto& heading : rows.front()) widest = std::max(widest, width_of(heading));
  std::string text;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    if (row > 1) text += "\n";
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      const std::string heading = i < rows.front().size() ? rows.front()[i] : "";
      const std::string padding(widest - width_of(heading) + gap, ' ');
      text += std::string(without_end_spaces(heading + padding + hanging(rows[row][i], widest + gap, width))) + "\n";
    }
  }
  return text;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string hanging(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  for (const auto& line : lines_of(text, width - std::min(indent, width), " "))
    out += (out.empty() ? "" : "\n" + std::string(indent, ' ')) + line;
  return out;
}

std::string format_columns(const std::vector<Cells>& rows, std::size_t width) {
  auto columns = measure(rows);
  if (!narrow_to(width, columns, &Column::below) && !narrow_to(width, columns, &Column::narrow))
    return format_records(rows, width);
  std::string text;
  for (const auto& row : rows) text += format_row(row, columns);
  return text;
}

}  // namespace ozbound::files
