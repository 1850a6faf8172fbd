// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace ozbound::cli {

using Cells = std::vector<std::string>;

/// For people: rows of cells, the first row a heading. Columns are as wide as their widest cell; those whose cells below the
/// heading are all numbers (or empty, or `-`) stand to the right. No line ends in a space.
std::string format_columns(const std::vector<Cells>& rows);

}  // namespace ozbound::cli
