// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace ozbound::cli {

using Cells = std::vector<std::string>;

/// Of lines that are not cut.
inline constexpr std::size_t unlimited_width = std::numeric_limits<std::size_t>::max();

/// Characters of a text in UTF-8, each of which takes one place here.
std::size_t width_of(std::string_view text);

/// For people: a text cut at spaces into lines of at most `width` characters, of which all but the first begin with `indent`
/// spaces, so that it may stand behind as many characters. A word longer than that stays whole: a path, a number.
std::string hanging(std::string_view text, std::size_t indent, std::size_t width);

/// For people: rows of cells, the first row a heading. Columns are as wide as their widest cell; those whose cells below the
/// heading are all numbers (or empty, or `-`) stand to the right. No line ends in a space.
///
/// Where that is wider than `width`, cells are cut into lines, at spaces and behind `:`, `/`, `,`, `=` and `_`: headings first,
/// then the widest columns. Where it does not fit even so, each row becomes lines of a heading and a cell.
std::string format_columns(const std::vector<Cells>& rows, std::size_t width = unlimited_width);

}  // namespace ozbound::cli
