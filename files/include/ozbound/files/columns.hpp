// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace ozbound::files {

using Cells = std::vector<std::string>;

/// The width for lines that are not cut.
inline constexpr std::size_t unlimited_width = std::numeric_limits<std::size_t>::max();

/// Number of characters of a UTF-8 text; each counts as one column.
std::size_t width_of(std::string_view text);

/// For people: a text cut at spaces into lines of at most `width` characters. All lines except the first begin with `indent`
/// spaces, so that the text may follow a label of that width. A longer word, such as a path or a number, is not cut.
std::string hanging(std::string_view text, std::size_t indent, std::size_t width);

/// For people: rows of cells; the first row is a heading. Columns are as wide as their widest cell. A column is right-aligned
/// if all cells below the heading are numbers (or empty, or `-`). No line ends in a space.
///
/// If the table is wider than `width`, cells are cut into lines, at spaces and after `:`, `/`, `,`, `=` and `_`: headings
/// first, then the widest columns. If it still does not fit, each row becomes lines of a heading and a cell.
std::string format_columns(const std::vector<Cells>& rows, std::size_t width = unlimited_width);

}  // namespace ozbound::files
