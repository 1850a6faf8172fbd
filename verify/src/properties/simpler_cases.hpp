// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "ozbound/verify/gemm_case.hpp"

namespace ozbound {

/// Makes the case that it was made for simpler, or leaves it as it is.
using SimplifyingStep = std::function<void(GemmCase&)>;

/// What leads to each of simpler_cases: small, where a case for every bit of every element is not.
std::vector<SimplifyingStep> simplifying_steps(const GemmCase& gemm_case);

}  // namespace ozbound
