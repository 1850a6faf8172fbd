// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "ozbound/core/gemm.hpp"

namespace ozbound {

/// Each component correctly rounded by the exact superaccumulator.
void multiply_exactly(const ComplexProduct& call, int threads);

/// As multiply_unproven, for scalars of any kind: writes an entry where both of its components are decided under `error`, a
/// bound of the stacked parts of A B (2m x n, relative to rho_i sigma_j as ever) before alpha; returns the others. Special
/// entries are written. @pre A plan by residues holds the parts (check_held).
std::vector<Entry> multiply_scaled(const ComplexProduct& call, const Plan& plan, const Engine& engine,
                                   const EntryBound* error = nullptr, double workspace = unlimited_workspace);

/// The least cap that multiply_scaled takes: bytes of slices and integer sums of one entry; and of all at a time.
double least_scaled_workspace(const Engine& engine, const Plan& plan, Index k);
double full_scaled_workspace(const Engine& engine, const Plan& plan, Index m, Index n, Index k);

/// The given entries, both components correctly rounded, special or not.
void finish_exactly(const ComplexProduct& call, const std::vector<Entry>& entries, int threads);

}  // namespace ozbound
