// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound::mirror {

/// The inputs of one product, and the text that reproduces them.
struct Inputs {
  std::string origin;
  std::string plan;
  Matrix<double> a, b, c0;
  double alpha = 1;
  double beta = 0;
};

/// The inputs of data/vectors, under plans by slices or by residues.
std::vector<Inputs> conformance_inputs(bool by_residues = false);

/// The number of plans for every problem family. They come one after the other, in shapes that no tile divides.
inline constexpr std::size_t family_plans = 7;
std::vector<Inputs> family_inputs();

/// Inputs with the largest digits of one sign, which exceed the 32-bit sums of one group and of several.
std::vector<Inputs> long_inputs();

}  // namespace ozbound::mirror
