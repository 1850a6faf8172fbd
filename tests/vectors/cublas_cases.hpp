// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "vectors/cases.hpp"

/// Products as cuBLAS's FP64 emulation computes them: their `plan` is `cublas:M`.
namespace ozbound::vectors {

/// Cases written in full.
std::vector<Case> cublas_cases();

/// Cases of which only checksums of C are written: inner dimensions that are cut, in C of one tile and of several.
std::vector<FamilyCase> cublas_family_cases();

}  // namespace ozbound::vectors
