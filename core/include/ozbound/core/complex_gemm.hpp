// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "ozbound/core/gemm.hpp"

namespace ozbound {

/// Computes each component with the exact superaccumulator and rounds it correctly.
void multiply_exactly(const ComplexProduct& product, int threads);

/// Like multiply_unproven, for scalars of any kind. Writes an entry if `error` decides both of its components; returns the
/// other entries. `error` bounds the stacked parts of A B (2m x n, relative to rho_i sigma_j as usual) before alpha. Special
/// entries are written. @pre A plan by residues holds the parts (check_held).
std::vector<Entry> multiply_with_complex_scalars(const ComplexProduct& product, const Plan& plan, const Engine& engine,
                                                 const EntryBound* error = nullptr, double workspace = unlimited_workspace);

/// Bytes of workspace for multiply_with_complex_scalars: the smallest cap that it accepts (slices and integer sums of one
/// entry), and the bytes for all entries at once.
double least_complex_scalar_workspace(const Engine& engine, const Plan& plan, Index k);
double full_complex_scalar_workspace(const Engine& engine, const Plan& plan, Index m, Index n, Index k);

/// Rounds both components of the given entries correctly, special or not.
void finish_exactly(const ComplexProduct& product, const std::vector<Entry>& entries, int threads);

}  // namespace ozbound
