// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ozbound/core/matrix.hpp"

namespace ozbound::mirror {

/// The inputs of one product, and how to get them again.
struct Inputs {
  std::string origin;
  std::string plan;
  Matrix<double> a, b, c0;
  double alpha = 1;
  double beta = 0;
};

/// The inputs of data/vectors, under plans by slices or by residues.
std::vector<Inputs> conformance_inputs(bool by_residues = false);

/// Every problem family under several plans, one after the other, in shapes that no tile divides.
inline constexpr std::size_t family_plans = 7;
std::vector<Inputs> family_inputs();

/// Largest digits of one sign, beyond what 32 bits sum in one group and in several.
std::vector<Inputs> long_inputs();

}  // namespace ozbound::mirror
