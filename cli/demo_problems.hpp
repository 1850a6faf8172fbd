// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound::cli {

/// A product of the demo: matrices and where they come from.
struct DemoProblem {
  std::string name;
  std::string source;  ///< the files, or the command that writes them
  Matrix<double> a, b;
};

/// Where the matrices that come with Ozbound lie: beside the installed command, or in the source tree.
std::filesystem::path data_directory();

/// A finite-element system and its inverse (twice, one of them from files), an integer-valued one (twice, likewise), a graded
/// one, and one with wide exponents.
/// @throws InputError where a file is missing.
std::vector<DemoProblem> demo_problems(const std::filesystem::path& data);

}  // namespace ozbound::cli
