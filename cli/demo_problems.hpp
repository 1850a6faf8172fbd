// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound::cli {

/// A product of the demo: matrices and their source.
struct DemoProblem {
  std::string name;
  std::string source;  ///< the files, or the command that writes them
  Matrix<double> a, b;
};

/// The directory of the matrices that come with Ozbound: beside the installed command, or in the source tree.
std::filesystem::path data_directory();

/// The problems: a finite-element system and its inverse (twice, once from files), an integer-valued product (also twice, once
/// from files), a graded product, and one with wide exponents.
/// @throws InputError if a file is missing.
std::vector<DemoProblem> demo_problems(const std::filesystem::path& data);

}  // namespace ozbound::cli
