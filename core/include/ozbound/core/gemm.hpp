// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "ozbound/core/engine.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/product.hpp"

namespace ozbound {

inline constexpr double unlimited_workspace = std::numeric_limits<double>::infinity();

/// Bytes that a product under this plan takes beyond operands and result: the least (one row by one column at a time) and the
/// most (unblocked). C has the same bits for every cap.
double least_workspace(const Engine& engine, const Plan& plan, Index k);
double full_workspace(const Engine& engine, const Plan& plan, Index m, Index n, Index k);

/// Multiplies under a plan. Blocks m and n to keep the workspace cap (bytes), and blocks further if an engine is out of memory.
/// Entries with specials are not written. With `error`, returns the entries that Ziv's test leaves open, row by row; they are
/// not written.
/// @pre A plan by residues holds the operands (check_held); this is not checked again.
/// @throws std::invalid_argument if the cap is below least_workspace.
std::vector<Entry> multiply_finite(const RealProduct& product, const Plan& plan, const Engine& engine, ZivBound error = {},
                                   double workspace = unlimited_workspace);

/// Multiplies with kept slices or residues of the whole operand, in the plan's form. They are neither blocked nor made again,
/// and count towards the workspace.
std::vector<Entry> multiply_finite(const RealProduct& product, const Plan& plan, const Engine& engine, KeptOperands kept,
                                   ZivBound error = {}, double workspace = unlimited_workspace);

/// An entry that a plan by residues may not hold. The search uses the norms of the operands (residue_plan.hpp) and then their
/// first digits (one INT8 product, and 8 m n + 5 k (m + n) bytes). Returns nothing if the plan holds all entries, as any plan
/// by slices does. @throws std::invalid_argument if k is too long for the plan.
std::optional<NotHeld> find_not_held(const RealProduct& product, const Plan& plan, const Engine& engine);

/// Refuses a plan because of such an entry. @param parts rows of the product per row of the caller's C: 2 for a complex one's
/// real representation
/// @throws std::invalid_argument naming the plan, the entry (i, j) and the number of moduli that would suffice.
[[noreturn]] void refuse_not_held(const Plan& plan, const NotHeld& entry, Index parts);

/// Refuses operands that a plan by residues may not hold: find_not_held returns an entry, or k is too long. Any plan by slices
/// holds any operands. Call it before anything is written.
/// @param parts rows of the product per row of the caller's C: 2 for a complex one's real representation
/// @throws std::invalid_argument naming the plan, the entry (i, j) and the number of moduli that would suffice.
void check_held(const RealProduct& product, const Plan& plan, const Engine& engine, Index parts = 1);

/// Writes only the entries that NaN and infinities decide. Call it first: an entry it writes over C0 stays special, but a
/// finite product may overflow and overwrite a C0 that was not special.
void apply_specials(const RealProduct& product, int threads);

/// Rounds the given entries correctly with the exact superaccumulator. @pre no given entry is special.
void finish_exactly(const RealProduct& product, const std::vector<Entry>& entries, int threads);

/// Rounds all entries that are not special correctly with the exact superaccumulator.
void multiply_exactly(const RealProduct& product, int threads);

/// Like multiply_finite without Ziv's test. May return before C is written; later calls of this thread on this engine wait for
/// it.
void start_finite(const RealProduct& product, const Plan& plan, const Engine& engine, KeptOperands kept, double workspace);

/// Computes the whole product under a plan, without an error bound. For callers that know their bounds, and for tests. Each
/// component of a complex product is rounded once.
/// @param workspace cap in bytes for slices, and for integer sums if a scalar is complex; the real representation of complex
/// operands comes on top
/// @throws std::invalid_argument as Product::check, if the engine does not reach the matrices, for an invalid plan, or if the
/// cap is too small. Nothing is written then, unless an engine is out of memory for a single entry.
void multiply_unproven(const Product& product, const Plan& plan, const Engine& engine, double workspace = unlimited_workspace);

}  // namespace ozbound
