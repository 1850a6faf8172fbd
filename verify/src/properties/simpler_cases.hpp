// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "ozbound/verify/gemm_case.hpp"

namespace ozbound {

/// Simplifies the case for which it was made, or leaves it unchanged.
using SimplifyingStep = std::function<void(GemmCase&)>;

/// The steps that lead to each of simpler_cases. They take little memory; a case for every bit of every element would not.
std::vector<SimplifyingStep> simplifying_steps(const GemmCase& gemm_case);

}  // namespace ozbound
